"""Two sessions side by side: only equal cells, only right answers, and noise is no difference."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.core.cpu_load import Load
from kernels.core.health import Health
from kernels.core.timing import Timing
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.record import Record, Session, compare_sessions, summary_of
from tests.made_sessions import H200, LAPTOP, measured, wrong

CELL = Cell("shared", (32, 8), cache="cold")
OTHER = replace(CELL, ksize=5)
THIRD = replace(CELL, block_xy=(16, 16))


def session(*records, machine=H200):
    return Session(Plan("A", ("shared",)), machine, 0.0, records)


def record(ms, cell=CELL, spread=0.002, seed=1):
    """Twenty samples around `ms`."""
    noise = np.random.default_rng(seed).normal(1, spread, 20)
    timing = Timing(tuple(float(ms * each) for each in noise), "cold")
    return Record(cell, replace(measured(cell), kernel=timing))


def the_pair(a, b):
    (pair,) = compare_sessions(session(a), session(b))
    return pair


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (wrong(CELL), "Its output is WRONG"),
        (replace(measured(CELL), check=None), "Its output was not checked."),
        ("It ran out of memory.", "It ran out of memory."),
    ],
)
def test_what_is_not_verified_is_no_speed(outcome, reason, swapped):
    records = (record(1.0), Record(CELL, outcome))
    pair = the_pair(*(reversed(records) if swapped else records))
    assert pair.comparison is None
    assert pair.objection.startswith(f"{'A' if swapped else 'B'}: {reason}")


BUSY = Load(seconds=1.0, cores=2, others_s=1.0, stolen_s=0.0)
HOT = Health(throttled=("heat, by the driver",))


FIRST_RUN = Timing((9000.0,), None, "single")  # as sweeps once kept it


@pytest.mark.parametrize("disturbed", [{"load": BUSY}, {"health": HOT}, {"kernel": FIRST_RUN}])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_disturbed_time_gets_no_verdict(swapped, disturbed):
    starred = record(1.0)
    starred = replace(starred, outcome=replace(starred.outcome, **disturbed))
    records = (record(5.0), starred)
    pair = the_pair(*(reversed(records) if swapped else records))
    assert pair.comparison is None
    assert pair.finding == "disturbed"
    assert "disturbed" in pair.objection
    found, ratio = summary_of([pair, the_pair(record(2.0), record(1.0))])
    assert found == {"disturbed": 1, "faster": 1}
    assert ratio == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("cell", "ms", "within"),
    [(CELL, 0.020, 0.03), (CELL, 0.0098, 0.05), (replace(CELL, cache=None), 0.0098, 0.15)],
)
def test_short_launches_have_to_differ_by_more(cell, ms, within):
    steady = {"spread": 1e-6}
    longer = 1 + within - 0.005, 1 + within + 0.005
    found = [
        the_pair(record(ms, cell, **steady), record(ms * each, cell, **steady)) for each in longer
    ]
    assert [pair.comparison.verdict for pair in found] == ["same", "slower"]
    assert found[0].comparison.in_words == f"equal within {100 * within:g} %"
    back = the_pair(record(ms * longer[1], cell, **steady), record(ms, cell, **steady))
    assert back.comparison.verdict == "faster"


def test_only_equal_cells_are_paired_and_their_geometric_mean_is_one_number():
    a = session(record(1.0), record(1.0, OTHER))
    b = session(record(1.0, THIRD), record(1.0, OTHER), machine=LAPTOP)
    pairs = compare_sessions(a, b)
    assert [pair.cell for pair in pairs] == [CELL, OTHER, THIRD]
    assert [pair.objection for pair in pairs] == ["Only in A.", None, "Only in B."]
    found, _ = summary_of(pairs)
    assert found == {"only_a": 1, "only_b": 1, "same": 1}
    cells = [replace(CELL, ksize=ksize) for ksize in (3, 5, 7, 9)]
    a = [record(1.0, cell) for cell in cells]
    b = [record(ms, cell, seed=1) for ms, cell in zip((0.5, 2.0, 0.25), cells, strict=False)]
    pairs = compare_sessions(session(*a), session(*b, Record(cells[3], wrong(CELL))))
    found, ratio = summary_of(pairs)
    assert ratio == pytest.approx((2 * 0.5 * 4) ** (1 / 3))
    assert found == {"faster": 2, "slower": 1, "incomparable": 1}
