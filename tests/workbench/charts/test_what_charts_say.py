"""What a chart says in words and tiles, whatever order its measurements came in."""

from dataclasses import replace

import pytest

from kernels.core.timing import Timing
from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Session
from tests.made_sessions import H200, PLANS, STARTED, a_session, wrong
from workbench.base import numbers
from workbench.charts.data.figure import Choices
from workbench.charts.data.points import sources_of
from workbench.charts.kinds import chart_kinds

KINDS = {kind.key: kind for kind in chart_kinds()}
SQUARES = ((256, 256), (512, 512))


def figure(key, *sessions, **choices):
    return KINDS[key].figure(sessions, Choices(**choices))


def taking(ms_of):
    """The outcome of cells that take `ms_of(cell)`."""

    def outcome(cell, found):
        return replace(found, kernel=Timing((ms_of(cell),) * 12, cell.cache))

    return outcome


def backwards(name):
    session = a_session(name)
    return Session(session.plan, H200, STARTED, session.records[::-1])


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"filters": ("gaussian",), "sigma": 1.5}, "Gaussian blur 3×3, σ 1.5"),
        ({"filters": ("unsharp",), "amount": 2.5}, "amount 2.5"),
    ],
)
def test_the_filters_parameters_stand_below_the_title(facts, says):
    plan = Plan("Sizes", ("opencv", "shared"), SQUARES, **facts)
    assert says in figure("time_by_size", a_session(plan)).subtitle


def test_kernel_sizes_go_from_small_to_large_however_they_were_listed():
    plan = replace(PLANS["ksizes"], ksizes=(7, 3, 5), source="", table="")
    session = a_session(plan)
    dots = [dot for each in figure("time_by_kernel", session).body.series for dot in each.dots]
    assert sorted({dot.x for dot in dots}) == list(dict.fromkeys(dot.x for dot in dots))[:3]
    everything = replace(PLANS["everything"], ksizes=(7, 3, 5), source="", table="")
    options = {o.name: o for o in figure("time_by_size", a_session(everything)).options}
    assert [value for value, *_ in options["ksizes"].values] == [3, 5, 7]


@pytest.mark.parametrize("key", ["block_shapes", "ladder"])
def test_a_series_has_its_bars_in_one_place_whatever_came_first(key):
    name = {"block_shapes": "blocks", "ladder": "transfers"}[key]
    slots = [
        {bar.entry.label: bar.slot for group in figure(key, each).body.groups for bar in group.bars}
        for each in (a_session(name), backwards(name))
    ]
    assert slots[0] == slots[1]


@pytest.mark.parametrize(("ratio", "is_log"), [(2.0, False), (1000.0, True)])
def test_recorded_times_that_are_far_apart_have_a_logarithmic_axis_and_no_boxes(ratio, is_log):
    outcome = taking(lambda cell: ratio if cell.block_xy == (8, 8) else 1.0)
    session = a_session("blocks", outcome=outcome, is_recorded=True)
    body = figure("block_shapes", session).body
    assert body.axis.is_log == is_log
    assert {body.has_box(bar) for group in body.groups for bar in group.bars} == {not is_log}


@pytest.mark.parametrize("names", [("opencv", "shared"), ("global", "shared")])
@pytest.mark.parametrize("key", ["by_filters", "ladder"])
def test_the_scale_stays_the_same_from_the_first_measurement_to_the_last(names, key):
    plan = Plan("Two", names, ((1024, 1024),), (5,), ((16, 16),), ("gaussian", "box"))
    session = a_session(plan)
    parts = [
        replace(session, records=session.records[: n + 1]) for n in range(len(session.records))
    ]
    scales = {figure(key, part).body.axis.is_log for part in parts}
    assert scales == {"opencv" in names}


def test_a_tile_of_the_block_map_says_its_time_and_its_occupancy():
    session = a_session("block_grid", outcome=taking(lambda cell: float(cell.block_xy[0])))
    chart = figure("block_map", session)
    tiles = {tile.cell.block_xy: tile for tile in chart.body.tiles}
    assert tiles[32, 8].words == (numbers.duration(32.0), "100\u202f%")
    assert tiles[8, 1].words == (numbers.duration(8.0), "50\u202f%")  # 32 blocks of a warp, of 64
    assert tiles[8, 8].value == 8.0
    for told in ("Shared-memory tile", "8×1, 8×2, 8×4, 8×8 and 2 more", "1 %", "128×1", "16.0×"):
        assert told in chart.summary


@pytest.mark.parametrize(
    ("error", "says"), [(35.0, "✗ 35"), (0.25, "✗ 0.25"), (1234.4, "✗ 1234"), (2.4e-7, "✗ 2.4e-7")]
)
def test_a_tile_of_the_correctness_table_says_the_largest_error(error, says):
    def outcome(cell, found):
        bad = wrong(cell)
        return replace(bad, check=replace(bad.check, max_error=error))

    chart = figure("correctness", a_session("correctness", outcome=outcome))
    assert {tile.words[0] for tile in chart.body.tiles} == {says}
    assert all(tile.verdict == "bad" for tile in chart.body.tiles)


def test_only_what_came_with_the_program_is_called_recorded():
    shipped = a_session("sizes", is_recorded=True)
    for session, origin in (
        (shipped, "recorded"),
        (replace(shipped, is_shipped=False), "from a file"),
    ):
        (source,) = sources_of([session])
        assert source.name == f"NVIDIA H200 ({origin})"
    (live,) = sources_of([a_session("sizes")])
    assert live.name == "NVIDIA H200"
