"""`workbench bench repeat`: how often the same work is called different from itself."""

import json
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from kernels.core.cpu_load import Load
from kernels.core.job import Sampling
from kernels.core.timing import Timing
from kernels.sweeps.cell import Cell
from kernels.sweeps.record import Measurement
from workbench.cli import main
from workbench.cli.benches import repeat
from workbench.cli.benches.repeat import Tally, tally_of

CPU_CELL, GPU_CELL = Cell("opencv", (64, 64)), Cell("global", (64, 64), (32, 8), cache="cold")
BUSY = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)


def apart(medians_ms, load=None):
    """Sweeps of one cell, steady within each round, whose rounds lie apart."""
    samples = [float(m) for m in medians_ms for _ in range(10)]
    timing = Timing(tuple(samples), rounds=(10,) * len(medians_ms))
    return Measurement(timing, (), None, load=load)


def test_sweeps_that_agree_are_never_called_different():
    drawn = np.random.default_rng(1)
    found = tally_of(GPU_CELL, [apart(1 + 0.2 * drawn.random(10)) for _ in range(8)])
    assert (found.judged, found.disturbed) == (28, 0)
    assert found.different <= 2
    assert found.naive > found.different
    assert 0 < found.spread < 0.2


def test_sweeps_that_differ_are_called_different():
    found = tally_of(GPU_CELL, [apart([1.0] * 10), apart([1.1] * 10), apart([1.2] * 10)])
    assert (found.judged, found.different) == (3, 3)
    assert found.spread == pytest.approx(0.2)


def test_what_sessions_differ_by_anyway_is_no_difference():
    found = tally_of(CPU_CELL, [apart([1.0] * 10), apart([1.1] * 10), apart([1.2] * 10)])
    assert (found.judged, found.different) == (3, 1)
    short = tally_of(GPU_CELL, [apart([0.004] * 10), apart([0.00416] * 10)])
    assert (short.judged, short.different) == (1, 0)


def test_a_disturbed_sweep_is_counted_apart():
    sweeps = [apart([1.0] * 10), apart([1.2] * 10), apart([1.5] * 10, BUSY)]
    found = tally_of(CPU_CELL, sweeps)
    assert (found.judged, found.different) == (1, 1)
    assert (found.disturbed, found.would_differ) == (2, 2)


def test_the_rates_of_all_stand_below_the_table():
    said = "\n".join(
        repeat.lines(
            {"opencv": Tally(30, 1, 9, 0, 0, 0.02), "parallel": Tally(30, 2, 9, 40, 10, 0.1)}
        )
    )
    assert re.search(r"opencv +30 +1 +3.3\u202f% +0 +0 +2.0\u202f%", said)
    assert re.search(r"parallel +30 +2 +6.7\u202f% +40 +10 +10.0\u202f%", said)
    assert (
        "different from A in 3 of 60 comparisons, 5.0\u202f%; the aim is 5\u202f% at most." in said
    )
    assert "it would have been 30.0\u202f%" in said
    assert (
        "disturbed: 40 comparisons; 10 of them would have been called different, 25.0\u202f%."
        in said
    )


def test_where_everything_was_disturbed_there_is_no_rate():
    said = "\n".join(repeat.lines({"opencv": Tally(0, 0, 0, 15, 3, 0.02)}))
    assert "in 0 of 0 comparisons, —;" in said
    assert "15 comparisons; 3 of them would have been called different, 20.0\u202f%." in said


def test_the_bench_sweeps_and_compares(monkeypatch, tmp_path, capsys):
    quick = Sampling(max_samples=8, max_seconds=0.01, check_taps=1000)
    small = replace(repeat.PLAN, sizes=((16, 16),), ksizes=(3,), sampling=quick)
    monkeypatch.setattr(repeat, "PLAN", small)
    made = 0

    class Counted(ProcessPoolExecutor):
        """One process, counted: what it chose once must not serve the next sweep."""

        def __init__(self, *words, **options):
            nonlocal made
            made += 1
            super().__init__(*words, **options)

    monkeypatch.setattr(repeat, "ProcessPoolExecutor", Counted)
    path = tmp_path / "a.json"
    assert main.main(["bench", "repeat", "--runs", "3", "--no-gpu", "--json", str(path)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"A was called different from A in \d+ of \d+ comparisons, ([\d.]+%|—);", said)
    data = json.loads(path.read_text())
    assert {len(each["medians_ms"]) for each in data["cells"]} == {3}
    assert made == 3
    for cell in data["cells"]:
        for median_ms, rounds_ms in zip(cell["medians_ms"], cell["rounds_ms"], strict=True):
            assert min(rounds_ms) <= median_ms <= max(rounds_ms)
    tally = data["tallies"]["opencv"]
    assert tally["judged"] + tally["disturbed"] == 3


def test_one_sweep_cannot_be_compared(capsys):
    assert main.main(["bench", "repeat", "--runs", "1", "--no-gpu"]) == 1
    assert "--runs 2" in capsys.readouterr().err
