"""Sessions and comparisons as CSV: a row a record, and a rate only beside a passed check."""

import csv
import io
import math
from dataclasses import replace

import pytest

from kernels.core.health import Health
from kernels.core.job import Ran
from kernels.core.timing import Timing
from kernels.cuda.device_pictures import Transfers
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.record import Measurement, Record, Session, compare_sessions
from kernels.sweeps.session_csv import COLUMNS, PAIR_COLUMNS, pairs_csv, sessions_csv
from tests.made_sessions import H200, wrong
from tests.made_up import PASSED

# What the first release wrote: spreadsheets made for it still find their columns.
FIRST = {
    *("implementation", "kind", "varied", "value", "height", "width", "channels", "pixel_type"),
    *("filter", "kernel_size", "sigma", "amount", "border", "block_x", "block_y"),
    *("median_ms", "lower_quartile_ms", "upper_quartile_ms", "samples", "cache", "compile_ms"),
    *("upload_ms", "download_ms", "megapixels_per_s", "effective_gb_s", "threads", "cpu"),
    *("device", "check", "max_error", "note"),
}


def rows_of(*sessions):
    return list(csv.DictReader(io.StringIO(sessions_csv(sessions))))


def one_row(record, machine=H200, **plan):
    made = Plan("A title", (record.cell.implementation,), **plan)
    (row,) = rows_of(Session(made, machine, 0.0, (record,)))
    return row


CELL = Cell(
    "shared",
    (32, 8),
    ksize=5,
    sigma=1.5,
    width=2000,
    height=1000,
    channels=3,
    count=2,
    cache="cold",
)
TIMING = Timing((1.0, 3.0, 2.0, 4.0, 10.0), "cold", "stable", 3)
MEASURED = Measurement(
    kernel=TIMING,
    ran=(
        Ran("convolve", None, (3, 2), (32, 8), 40, 1664),
        Ran("again", None, (1, 1), (1, 1), 1, 0),
    ),
    check=PASSED,
    compile_ms=180.0,
    transfers=Transfers(6, *(Timing((each,)) for each in (5.0, 6.0, 0.5, 0.6))),
    health=Health((1000, 1980), None, (40, 44), (100.0, 300.0), ("power limit", "board limit")),
    compulsory_bytes=48_000_000,
)


def test_the_columns_of_the_first_release_are_all_there():
    assert set(COLUMNS) >= FIRST
    assert len(set(COLUMNS)) == len(COLUMNS)


def test_a_row_holds_what_was_measured_and_of_what():
    row = one_row(
        Record(CELL, MEASURED, 1_763_700_000.4),
        sizes=((2000, 1000), (64, 64)),
        blocks=((32, 8), (8, 8)),
        source="A university",
        table="5.5",
    )
    expected = {
        "session": "A title", "source": "A university", "table": "5.5",
        "implementation": "shared", "kind": "cuda",
        "varied": "size, block", "value": "2000x1000, 32x8",
        "height": "1000", "width": "2000", "channels": "3", "pixel_type": "float32",
        "picture": "noise", "count": "2", "filter": "gaussian", "kernel_size": "5",
        "sigma": "1.5", "amount": "1.0", "weights": "", "border": "clamp",
        "block_x": "32", "block_y": "8", "cache": "cold", "devices": "1",
        "median_ms": "3.0", "lower_quartile_ms": "2.0", "upper_quartile_ms": "4.0",
        "min_ms": "1.0", "max_ms": "10.0", "samples": "5", "rounds": "1",
        "warmups": "3", "ended": "stable",
        "compile_ms": "180.0", "upload_ms": "5.0", "download_ms": "6.0",
        "pinned_upload_ms": "0.5", "pinned_download_ms": "0.6", "end_to_end_ms": "14.0",
        "megapixels_per_s": "1333.33", "effective_gb_s": "16.0", "occupancy": "",
        "sm_mhz_low": "1000", "sm_mhz_high": "1980", "memory_mhz_low": "", "memory_mhz_high": "",
        "temperature_c_high": "44", "power_w_high": "300.0",
        "throttled": "power limit, board limit", "threads": "",
        "others_busy_cores": "", "stolen_share": "", "quota_cores": "", "quota_held_back": "",
        "disturbed": "the GPU's clocks were held down: power limit; "
        "the GPU's clocks were held down: board limit",
        "cpu": H200.cpu, "device": "NVIDIA H200", "machine": "NVIDIA H200",
        "check": "passed", "checked_pixels": "20000", "max_error": "0.5", "note": "",
        "text_sha256": "", "list": "", "steps_ms": "",
        "at": "1763700000",
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row["ran"].startswith("convolve, grid 3×2")
    assert row["interval_low_ms"] == row["interval_high_ms"] == "", "none of five samples"
    assert set(row) - set(expected) == {"ran", "interval_low_ms", "interval_high_ms"}


@pytest.mark.parametrize(
    ("outcome", "check", "note"),
    [
        (wrong(CELL), "wrong", "Its output is WRONG"),
        (replace(MEASURED, check=None), "none", "Its output was not checked."),
        (
            replace(MEASURED, check=replace(PASSED, bound=math.inf)),
            "none",
            "Its output is not checked: with values this large",
        ),
        ("It needs a GPU.", "", "It needs a GPU."),
    ],
)
def test_what_is_not_verified_has_no_rate_and_says_why(outcome, check, note):
    row = one_row(Record(CELL, outcome))
    assert (row["megapixels_per_s"], row["effective_gb_s"]) == ("", "")
    assert row["check"] == check
    assert row["note"].startswith(note)
    assert (row["median_ms"] == "") == isinstance(outcome, str)


def test_a_comparison_has_a_row_a_pair():
    def session(ms, outcome=None):
        samples = tuple(ms * (1 + i / 1e4) for i in range(20))
        slow = replace(MEASURED, kernel=Timing(samples), health=None)
        return Session(Plan("A", ("shared",)), H200, 0.0, (Record(CELL, outcome or slow),))

    pairs = (
        *compare_sessions(session(4.0), session(2.0)),
        *compare_sessions(session(4.0), session(0, "No.")),
    )
    first, second = csv.DictReader(io.StringIO(pairs_csv(pairs)))
    assert tuple(first) == PAIR_COLUMNS
    assert (first["implementation"], first["width"], first["verdict"]) == (
        "shared",
        "2000",
        "faster",
    )
    assert float(first["ratio"]) == pytest.approx(2, rel=1e-3)
    assert float(first["a_median_ms"]) == pytest.approx(4, rel=1e-2)
    assert (second["verdict"], second["ratio"], second["b_median_ms"]) == ("", "", "")
    assert second["note"] == "B: No."
