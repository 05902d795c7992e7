"""Charts by their data: what is where, how high, in which series, what they say and leave out."""

import math
import re
from dataclasses import replace

import pytest

from kernels.core.cpu_load import Load
from kernels.core.timing import Timing
from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Record, Session
from tests.made_sessions import H200, LAPTOP, PLANS, STARTED, a_session, measured, wrong
from workbench.base import numbers, theme
from workbench.charts.data.figure import Bars, Choices, Grid, Plot
from workbench.charts.data.points import Data, sources_of
from workbench.charts.drawing.marks import color_of, marker_of, pen_of
from workbench.charts.kinds import chart_kinds, kinds_for

KINDS = {kind.key: kind for kind in chart_kinds()}


def figure(key, *sessions, **choices):
    data = Data(sessions, Choices(**choices))
    assert not KINDS[key].why_not(data)
    return KINDS[key].figure(data)


def series(chart, label):
    """Those with this label in the legend; of a publication there is one for each implementation"""
    found = [each for each in chart.body.series if each.entry.label == label]
    assert found, [each.entry.label for each in chart.body.series]
    return found


def took(ms_of):
    """The outcome of cells of which each sample takes `ms_of(cell)`, exactly."""

    def outcome(cell, found):
        return replace(found, kernel=Timing((ms_of(cell),) * 12, cell.cache))

    return outcome


def record_of(session, **facts):
    """The record of the one cell with these values."""
    (found,) = [
        record
        for record in session.records
        if all(getattr(record.cell, name) == value for name, value in facts.items())
    ]
    return found


# -- every kind, every plan


@pytest.mark.parametrize("plan", PLANS)
def test_a_kind_shows_a_plan_or_says_why_not(plan):
    data = Data([a_session(plan)])
    for key, kind in KINDS.items():
        if reason := kind.why_not(data):
            assert reason.endswith(".")
            continue
        chart = kind.figure(data)
        assert chart.kind == key
        assert not chart.is_empty
        assert chart.title in chart.summary
        assert "NVIDIA H200" in chart.subtitle
        assert all(note.endswith((".", ")")) for note in chart.notes)
        assert all(mark.text for mark in marks(chart.body))


def marks(body):
    match body:
        case Plot():
            return [dot for each in body.series for dot in each.dots]
        case Bars():
            return body.bars
        case Grid():
            return list(body.tiles)


@pytest.mark.parametrize(
    ("plan", "key"),
    [
        ("sizes", "time_by_size"),
        ("ksizes", "time_by_kernel"),
        ("blocks", "block_shapes"),
        ("block_grid", "block_map"),
        ("correctness", "correctness"),
        ("five_steps", "time_by_size"),
        ("transfers", "ladder"),
        ("sizes_and_kernels", "time_by_size"),
        ("counts", "time_by_count"),
        ("devices", "by_devices"),
    ],
)
def test_what_is_varied_decides_what_is_looked_at_first(plan, key):
    assert kinds_for(Data([a_session(plan)]))[0].key == key


def test_without_sessions_every_kind_says_that_nothing_is_measured():
    assert {kind.why_not(Data([])) for kind in chart_kinds()} == {"Nothing is measured yet."}
    assert kinds_for(Data([])) == []


# -- lines


def test_a_dot_is_a_median_with_its_quartiles():
    session = a_session("sizes")
    (line,) = series(figure("time_by_size", session), "Shared-memory tile")
    record = record_of(session, implementation="shared", width=512)
    (dot,) = [dot for dot in line.dots if dot.cell == record.cell]
    kernel = record.outcome.kernel
    assert (dot.x, dot.y) == (512 * 512, pytest.approx(kernel.median_ms))
    assert (dot.low, dot.high) == pytest.approx(kernel.quartiles_ms)
    assert [d.x for d in line.dots] == sorted(side * side for side in (256, 512, 1024, 2048, 4096))


def test_the_cpu_is_named_and_dashed_and_cold_and_warm_caches_are_told_apart():
    chart = figure("time_by_size", a_session("sizes"))
    labels = [entry.label for entry in chart.entries[:6]]
    assert labels == [
        *("Sequential (1 thread)", "Parallel (12 threads)", "OpenCV (8 threads)"),
        *("Global memory", "Constant memory", "Shared-memory tile"),
    ]
    assert [entry.style.dash for entry in chart.entries[:6]] == ["dash"] * 3 + ["solid"] * 3
    chart = figure("time_by_size", a_session("caches"))
    assert [(entry.label, entry.style.dash) for entry in chart.entries] == [
        ("Global memory, cold L2", "solid"),
        ("Global memory, warm L2", "dot"),
        ("Shared-memory tile, cold L2", "solid"),
        ("Shared-memory tile, warm L2", "dot"),
    ]


def test_several_gpus_stand_beside_one_and_the_cpu_has_no_place_there():
    chart = figure("by_devices", a_session("devices"))
    assert [group.label for group in chart.body.groups] == ["1 GPU", "2 GPUs", "4 GPUs"]
    assert all(len(group.bars) == 2 for group in chart.body.groups)
    assert "4096², Gaussian blur 5×5, 32×8, 2 GPUs" in chart.body.groups[1].bars[0].text
    assert "2.1×" in chart.sentence
    (note,) = chart.notes
    assert "OpenCV" in note


def test_a_wrong_answer_has_a_place_and_a_cross_but_no_value():
    def outcome(cell, found):
        is_it = (cell.implementation, cell.width) == ("constant", 1024)
        return wrong(cell) if is_it else found

    for key in ("time_by_size", "throughput", "speedup_by_size"):
        chart = figure(key, a_session("sizes", outcome=outcome))
        (line,) = series(chart, "Constant memory")
        (cross,) = [dot for dot in line.dots if dot.is_wrong]
        assert (cross.x, cross.y) == (1024 * 1024, 0.0)
        assert "✗ Its output is WRONG" in cross.text
        (note,) = [each for each in chart.notes if each.startswith("✗")]
        assert note.startswith("✗ Constant memory at 1024²: Its output is WRONG in 12 samples")


def test_what_was_refused_is_told_once_for_each_reason_also_where_figures_differ():
    chart = figure("time_by_size", a_session("sizes", LAPTOP))
    assert chart.notes[0].startswith("Global memory, Constant memory and Shared-memory tile: ")
    own = [entry.label for entry in chart.entries if entry.style.standing == "live"]
    assert own == ["Sequential (1 thread)", "Parallel (12 threads)", "OpenCV (8 threads)"]
    partly = figure("time_by_size", a_session("sizes_and_kernels"))
    assert partly.notes[0].startswith("Untiled picture at 512², 1024², 2048² and 3 more: ")

    def outcome(cell, found):
        return f"It needs {cell.width} KiB." if cell.implementation == "shared" else found

    session = a_session("sizes_and_kernels", outcome=outcome)
    chart = figure("throughput_map", session, slices={"implementations": "shared"})
    assert chart.notes[0] == ("Shared-memory tile: It needs 32 KiB (the figures differ).")
    chart = figure("time_by_size", session)
    assert "Shared-memory tile: It needs 32 KiB (the figures differ)." in chart.notes


def test_a_sentence_speaks_of_what_is_in_sight():
    session = a_session("sizes")
    everything = figure("time_by_size", session)
    assert "Fastest: Shared-memory tile" in everything.sentence
    (shared,) = [each for each in everything.entries if each.label == "Shared-memory tile"]
    chart = figure("time_by_size", session, hidden=frozenset({shared.key}))
    assert "Shared-memory tile" not in chart.sentence
    assert "Fastest" in chart.sentence
    keys = frozenset(entry.key for entry in everything.entries)
    assert figure("time_by_size", session, hidden=keys).sentence == ""


def test_an_unchecked_answer_is_no_speed():
    def outcome(cell, found):
        return replace(found, check=None)

    chart = figure("time_by_size", a_session("sizes", outcome=outcome))
    assert all(dot.is_wrong for dot in marks(chart.body))
    assert "Its output was not checked." in chart.notes[0]


# -- choices


def test_dimensions_without_room_become_choices():
    session = a_session("everything")
    chart = figure("time_by_size", session)
    chosen = {option.name: option.chosen for option in chart.options}
    assert chosen == {"filters": "gaussian", "ksizes": 3, "blocks": (8, 8)}
    cells = [dot.cell for dot in marks(chart.body) if dot.cell]
    assert {cell.filter for cell in cells} == {"gaussian"}
    other = figure("time_by_size", session, slices={"filters": "box", "blocks": (32, 8)})
    cells = [dot.cell for dot in marks(other.body) if dot.cell]
    assert {(cell.filter, cell.ksize) for cell in cells} == {("box", 3)}
    assert {cell.block_xy for cell in cells} == {None, (32, 8)}  # the CPU has none to choose
    assert "Box blur 3×3" in other.subtitle


def test_of_sizes_the_largest_measured_is_shown_first():
    chart = figure("time_by_kernel", a_session("sizes_and_kernels", first=100))
    (option,) = chart.options
    assert option.name == "sizes"
    measured_so_far = a_session("sizes_and_kernels", first=100).records
    assert option.chosen[0] == max(record.cell.width for record in measured_so_far)


def test_hidden_series_stay_in_the_legend_alone_and_a_pinned_one_comes_last():
    session = a_session("sizes")
    key = figure("time_by_size", session).entries[0].key
    chart = figure("time_by_size", session, hidden=frozenset({key}))
    assert chart.entries[0].is_hidden
    assert key not in [each.entry.key for each in chart.body.series]
    assert "Shown: Sequential" not in chart.summary
    chart = figure("time_by_size", session, pinned=frozenset({key}))
    assert chart.body.series[-1].entry.key == key
    assert [each.entry.style.is_pale for each in chart.body.series].count(False) == 1


SCHEMES = pytest.mark.parametrize("colors", [theme.LIGHT, theme.DARK], ids=["light", "dark"])


def looks(entries, colors):
    """The colour and the marker of each series that was measured."""
    styles = [each.style for each in entries]
    return [color_of(style, colors).name() for style in styles], [marker_of(s) for s in styles]


@SCHEMES
@pytest.mark.parametrize("others", [("register_tile", "tile_separable"), ("separable", "ring")])
def test_up_to_nine_series_share_neither_colour_nor_marker(qapp, colors, others):
    names = ("sequential", "parallel", "opencv", "global", "constant", "shared", *others, "fft")
    plan = replace(PLANS["ksizes"], implementations=names, source="")
    for found in looks(figure("time_by_kernel", a_session(plan)).entries, colors):
        assert len(set(found)) == len(found) == len(names)


def test_a_series_looks_the_same_in_every_chart_of_its_session_and_from_the_first_point_on():
    session = a_session("everything")
    begun = replace(session, records=session.records[:1])
    styles = {}
    for key, of in (("time_by_size", begun), ("time_by_size", session), ("by_filters", session)):
        for entry in figure(key, of).entries:
            assert styles.setdefault(entry.key, entry.style) == entry.style, key
    assert len(styles) == 4


@SCHEMES
def test_publications_differ_in_lines_and_over_bars(qapp, colors):
    for key, plan in (("time_by_size", "sizes"), ("block_shapes", "blocks")):
        entries = figure(key, a_session(plan), published=True).entries
        one, other = (each for each in entries if each.style.standing == "published")
        assert color_of(one.style, colors) != color_of(other.style, colors)
        assert marker_of(one.style) != marker_of(other.style)
        lines = [pen_of(each.style, colors).dashPattern() for each in (one, other)]
        assert lines[0] != lines[1]


def test_the_legend_draws_what_the_chart_has():
    def samples(key, plan, **choices):
        return {each.sample for each in figure(key, a_session(plan), **choices).entries}

    assert samples("time_by_size", "sizes") == {"line"}
    assert samples("block_shapes", "blocks") == {"marker"}
    assert samples("by_devices", "devices", is_log=False) == {"bar"}


# -- speed-ups


def test_a_speed_up_is_of_medians_on_the_same_work():
    session = a_session("sizes")
    chart = figure("speedup_by_size", session, baseline="opencv")
    assert chart.title == "Speed-up by image size, against OpenCV (8 threads)"
    (line,) = series(chart, "Shared-memory tile")
    medians = {
        key: record_of(session, implementation=key, width=2048).outcome.kernel.median_ms
        for key in ("opencv", "shared")
    }
    (dot,) = [dot for dot in line.dots if dot.x == 2048**2]
    assert dot.y == pytest.approx(medians["opencv"] / medians["shared"])
    assert dot.low <= dot.y <= dot.high
    (itself,) = series(chart, "OpenCV (8 threads)")
    assert {dot.y for dot in itself.dots} == {1.0}


def test_any_implementation_is_a_baseline_of_its_own_machine_or_it_is_said():
    (option, *_) = figure("speedup_by_size", a_session("sizes")).options
    assert option.name == "baseline"
    assert [key for key, _ in option.values] == [
        *("sequential", "parallel", "opencv", "global", "constant", "shared")
    ]
    assert option.chosen == "sequential"
    live = a_session("sizes", LAPTOP, outcome=took(lambda cell: 10.0))
    recorded = a_session("sizes", is_recorded=True, outcome=took(lambda cell: 1.0))
    chart = figure("speedup_by_size", live, recorded)
    assert {dot.y for dot in marks(chart.body)} == {1.0}
    chart = figure("speedup_by_size", a_session("sizes"), baseline="opencv", published=True)
    published = [each for each in chart.body.series if each.entry.style.standing == "published"]
    assert published == []
    assert [entry for entry in chart.entries if entry.style.standing == "published"] == []
    assert any("OpenCV (8 threads) was not measured on the same work" in n for n in chart.notes)


@pytest.mark.parametrize("once", ["opencv", "shared"])
@pytest.mark.parametrize(
    ("key", "plan"), [("speedup_by_size", "sizes"), ("speedup_map", "sizes_and_kernels")]
)
def test_a_single_run_has_no_speed_up_and_it_is_said(key, plan, once):
    def one_run(cell, found):
        if cell.implementation == once and cell.width == 2048:
            return replace(found, kernel=replace(found.kernel, samples_ms=(2.0,), ended="single"))
        return found

    def has_ratio(session):
        chart = figure(
            key, session, baseline="opencv", slices=dict.fromkeys(["implementations"], "shared")
        )
        if isinstance(chart.body, Grid):
            at = {t.cell.width for t in chart.body.tiles if t.value is not None}
        else:
            (line,) = series(chart, "Shared-memory tile")
            at = {math.isqrt(int(dot.x)) for dot in line.dots}
        return at, [note for note in chart.notes if "in a single run" in note]

    at, notes = has_ratio(a_session(plan))
    assert (2048 in at, notes) == (True, [])
    at, notes = has_ratio(a_session(plan, outcome=one_run))
    assert (2048 in at, len(notes)) == (False, 1)
    assert 512 in at


# -- published and recorded


def test_published_numbers_are_grey_and_named_with_their_source():
    chart = figure("time_by_size", a_session("sizes"), published=True)
    grey = [entry for entry in chart.entries if entry.style.standing == "published"]
    assert [entry.label for entry in grey] == [
        "Published: GeForce GTX 1050 Ti, Università di Camerino",
        "Published: Tesla T4, Università di Camerino",
    ]
    assert any("table 5.5" in note and "table 5.6" in note for note in chart.notes)
    assert len({entry.style for entry in grey}) == 2
    lines = series(chart, grey[0].label)
    assert {line.entry.style.session for line in lines} == {grey[0].style.session}
    assert len({line.entry.style.marker for line in lines}) == len(lines) == 4
    assert {dot.cell for line in lines for dot in line.dots} == {None}  # nothing to load
    without = figure("time_by_size", a_session("sizes"))
    assert len(without.entries) == 6
    assert without.has_published


def test_what_is_published_of_another_program_has_the_name_of_who_did():
    medians = {"filters": ("median",), "ksizes": (3, 5), "pixel_types": ("uint8",)}
    plan = Plan("Medians", ("opencv",), sizes=((4096, 4096),), **medians)  # as without a GPU
    chart = figure("time_by_kernel", a_session(plan))
    assert chart.shows_published
    named = {each.name: each.dots for each in chart.body.series}
    assert {"Adams 2021, RTX 3090", "NPP of CUDA 11.6, RTX 3090"} <= set(named)
    (first, _) = named["Adams 2021, RTX 3090"]
    assert first.text.startswith(
        "Adams 2021: 121\u202fµs\nGeForce RTX 3090, Adams 2021 (published)"
    )


def test_a_published_time_of_a_cpu_is_not_called_a_gpus():
    plan = replace(PLANS["everything"], implementations=("sequential",))
    chart = figure("time_by_size", a_session(plan), published=True)
    texts = [line.dots[0].text for line in series(chart, chart.entries[-1].label)]
    is_of_cpu = ["\nCPU beside GeForce GTX 1080" in each for each in texts]
    assert is_of_cpu == [True, False, False, False]  # and what no GPU measured here is drawn, too


def test_recorded_sessions_are_named_beside_what_runs_here():
    chart = figure("time_by_size", a_session("sizes", LAPTOP), a_session("sizes", is_recorded=True))
    labels = {entry.label: entry.style for entry in chart.entries}
    here = labels["OpenCV (8 threads) · Intel Core i7-1260P"]
    there = labels["Shared-memory tile · NVIDIA H200 (recorded)"]
    assert (here.standing, here.is_faint) == ("live", False)
    assert (there.standing, there.is_faint) == ("recorded", True)
    assert "16 cores, recorded" in chart.subtitle
    opened = replace(a_session("sizes", is_recorded=True), is_shipped=False)
    for session, name in (
        (opened, "NVIDIA H200 (from a file)"),
        (a_session("sizes"), "NVIDIA H200"),
    ):
        assert [source.name for source in sources_of([session])] == [name]


def test_sessions_of_one_machine_are_told_apart():
    chart = figure("time_by_size", a_session("sizes"), a_session("ksizes"))
    groups = {entry.group for entry in chart.entries}
    assert groups == {"A: NVIDIA H200 (Image size)", "B: NVIDIA H200 (Kernel size)"}
    assert len({entry.label for entry in chart.entries}) == len(chart.entries)
    assert chart.subtitle.count("NVIDIA H200") == 2  # A and B
    before, after = a_session("sizes"), replace(a_session("sizes"), started=STARTED + 60.0)
    chart = figure("time_by_size", before, after)
    groups = {entry.group for entry in chart.entries}
    assert len({group.partition(": ")[2] for group in groups}) == 2  # by more than their letters


def test_given_pictures_have_their_size_and_unknown_rungs_their_keys():
    plan = replace(PLANS["sizes"], pictures=("noise", "cat.png"), source="")
    cells = plan.cells({"cat.png": (640, 480)})
    records = tuple(Record(cell, measured(cell)) for cell in cells)
    assert set(Data([Session(plan, H200, STARTED, records)]).cells) == set(cells)
    session = a_session("sizes", is_recorded=True)
    renamed = tuple(
        replace(r, cell=replace(r.cell, implementation="of_tomorrow"))
        for r in session.records
        if r.cell.implementation == "shared"
    )
    plan = replace(session.plan, implementations=("of_tomorrow",), source="")
    chart = figure("time_by_size", replace(session, plan=plan, records=renamed))
    assert [entry.label for entry in chart.entries] == ["of_tomorrow"]


# -- bars and maps


def block_times(times):
    return a_session("blocks", outcome=took(lambda cell: times.get(cell.block_xy, 9.0)))


def test_equal_block_shapes_are_outlined_together():
    chart = figure("block_shapes", block_times({(32, 8): 1.0, (32, 4): 1.001}))
    best = {
        (dot.cell.block_xy, dot.cell.implementation) for dot in marks(chart.body) if dot.is_best
    }
    names = ("global", "constant", "shared")
    assert best == {(shape, name) for shape in ((32, 4), (32, 8)) for name in names}
    assert "Shared-memory tile, fastest: 32×8 and 32×4 (equal within 1 %)" in chart.sentence
    assert "takes 9.0× as long" in chart.sentence


def test_what_is_slower_than_the_baseline_says_how_many_times_in_charts_and_sentences():
    opencv_is_fast = took(lambda cell: 1.0 if cell.implementation == "opencv" else 4.0)
    chosen = {"baseline": "opencv"}
    chart = figure("speedup_by_size", a_session("sizes", outcome=opencv_is_fast), **chosen)
    shared = series(chart, "Shared-memory tile")[0]
    assert all("4.0× slower than OpenCV" in dot.text for dot in shared.dots)
    assert {dot.y for dot in shared.dots} == {0.25}
    session = a_session("sizes_and_kernels", outcome=opencv_is_fast)
    chart = figure("speedup_map", session, **chosen)
    assert {tile.words[0] for tile in chart.body.tiles} == {"4.0× slower"}
    assert chart.sentence.startswith("From 4.0× slower at ")
    chart = figure("ladder", a_session("transfers", outcome=opencv_is_fast))
    assert "is 4.0× slower than OpenCV" in chart.sentence
    assert "from pinned memory" in chart.sentence
    assert "0." not in chart.sentence.partition("with transfers")[2]


def test_a_disturbed_time_has_a_star_wherever_it_is_written():
    busy = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)

    def disturbed(cell, found):
        return replace(found, load=busy) if cell.implementation == "shared" else found

    chart = figure("block_map", a_session("block_grid", outcome=disturbed))
    assert chart.body.tiles
    assert all(tile.words[0].endswith("*") for tile in chart.body.tiles)
    for key, plan in (("speedup_by_size", "sizes"), ("speedup_map", "sizes_and_kernels")):
        chart = figure(key, a_session(plan, outcome=lambda _, found: replace(found, load=busy)))
        assert re.search(r"\d×\* (as fast|at)", chart.sentence)
        assert any(note.startswith("* Disturbed") for note in chart.notes)


def test_a_published_time_stands_over_the_one_it_compares_with():
    chart = figure("block_shapes", a_session("blocks"), published=True)
    (column,) = (x for x, text in chart.body.x.ticks if text == "16×16")
    columns = {}
    for each in chart.body.series:
        for dot in each.dots:
            if abs(dot.x - column) < 0.5:
                columns.setdefault(round(dot.x, 3), []).append(each.entry.style)
    assert len(columns) == 3
    for styles in columns.values():
        assert [style.standing for style in styles] == ["live", "published", "published"]
        assert styles[1].marker != styles[2].marker


def test_refused_and_wrong_cells_of_a_map_have_no_colour():
    def outcome(cell, found):
        return wrong(cell) if cell.block_xy == (8, 1) else found

    chart = figure("block_map", a_session("block_grid", outcome=outcome))
    (tile,) = [tile for tile in chart.body.tiles if tile.cell.block_xy == (8, 1)]
    assert (tile.value, tile.words, tile.verdict) == (None, ("✗",), "bad")
    chart = figure(
        "throughput_map",
        a_session("sizes_and_kernels"),
        slices={"implementations": "shared_untiled"},
    )
    assert {t.verdict for t in chart.body.tiles if t.cell and t.cell.width > 500} == {"missing"}


def test_a_speed_up_map_is_of_one_implementation_against_the_baseline():
    session = a_session("sizes_and_kernels")
    chart = figure("speedup_map", session, baseline="opencv", slices={"implementations": "shared"})
    assert chart.title == "Speed-up of Shared-memory tile over OpenCV (8 threads)"
    (tile,) = [t for t in chart.body.tiles if (t.cell.width, t.cell.ksize) == (512, 7)]
    one, other = (
        record_of(session, implementation=key, width=512, ksize=7).outcome.kernel.median_ms
        for key in ("opencv", "shared")
    )
    assert tile.value == pytest.approx(one / other)


def test_the_honest_ladder_ends_with_the_transfers():
    session = a_session("transfers")
    chart = figure("ladder", session)
    assert chart.title == "Ladder including transfers"
    plan = replace(PLANS["transfers"], implementations=("sequential", "opencv"))
    cpu = figure("ladder", a_session(plan))
    assert cpu.title.startswith(KINDS["ladder"].title)  # one name in the list and over the chart
    labels = [group.label for group in chart.body.groups]
    assert labels[:4] == [
        *("Sequential (1 thread)", "Parallel (12 threads)", "OpenCV (8 threads)"),
        "Global memory",
    ]
    kernel, ordinary, pinned = chart.body.groups[3].bars
    found = record_of(session, implementation="global").outcome
    assert kernel.value == pytest.approx(found.kernel.median_ms)
    assert ordinary.value == pytest.approx(found.end_to_end_ms)
    assert kernel.value < pinned.value < ordinary.value
    assert "with transfers" in ordinary.words


def test_what_has_a_block_of_its_own_has_a_bar_and_what_has_none_is_said_to_be_hidden():
    plan = replace(PLANS["blocks"], implementations=("opencv", "shared", "tile_separable"))
    chart = figure("block_shapes", a_session(plan))
    assert [entry.label for entry in chart.entries] == ["Shared-memory tile", "Separable tile"]
    place, text = chart.body.x.ticks[-1]
    assert text == "own block"
    assert len([dot for dot in marks(chart.body) if abs(dot.x - place) < 0.5]) == 1
    assert "OpenCV" in chart.notes[0]


def test_the_correctness_table_holds_answers_against_the_tolerance():
    def outcome(cell, found):
        off = replace(found.check, max_error=2e-5)
        is_it = (cell.implementation, cell.filter, cell.ksize) == ("shared", "box", 5)
        return replace(found, check=off) if is_it else found

    chart = figure("correctness", a_session("correctness", outcome=outcome))
    assert chart.title == "Correctness: largest error, tolerance 1.0e-5"
    bad = [tile for tile in chart.body.tiles if tile.verdict == "bad"]
    assert [chart.body.rows[tile.row] for tile in bad] == ["Box blur 5×5"]
    assert [chart.body.columns[tile.column] for tile in bad] == ["Shared-memory tile"]
    assert bad[0].words == ("✗ 2.0e-5",)
    for told in ("1 of 72", "1.0e-5", "2.0e-5", "Shared-memory tile with Box blur 5×5"):
        assert told in chart.sentence


def test_of_no_error_the_table_names_no_output():
    def outcome(_cell, found):
        return replace(found, check=replace(found.check, max_error=0.0))

    chart = figure("correctness", a_session("correctness", outcome=outcome))
    assert chart.sentence.endswith("; all errors are 0.")


# -- roofline


def test_a_point_under_the_roof_tells_its_work_and_tensor_cores_may_stand_above():
    (line,) = series(figure("roofline", a_session("ksizes")), "Global memory")
    (dot,) = (each for each in line.dots if each.cell.ksize == 3)
    # Tap by tap: nine loads and nine multiply-adds a sample.
    for told in ("Model", "9.00 loads", "89\u202f%", "18.0 operations"):
        assert told in dot.text
    plan = replace(PLANS["ksizes"], implementations=("shared", "tensor"), source="")
    notes = figure("roofline", a_session(plan)).notes
    (told,) = [note for note in notes if note.startswith("Multiplies on tensor cores")]
    assert told.endswith(": Tensor cores.")


def test_a_roofline_is_marked_as_a_model_and_stays_under_the_roof():
    chart = figure("roofline", a_session("ksizes"))
    assert "model" in chart.title
    assert "Model: " in chart.sentence
    assert any("L2 cache" in note for note in chart.notes)  # what fits into it
    top = max(y for guide in chart.body.guides for _, y in guide.points)
    assert top == pytest.approx(65.6)
    assert all(0 < dot.y < top for dot in marks(chart.body))
    ran = {dot.cell.implementation for dot in marks(chart.body)}
    assert ran == {"global", "constant", "shared"}


# -- what the sentences say


def plan_of_sizes(**facts):
    return Plan("Sizes", ("opencv", "shared"), ((256, 256), (512, 512), (1024, 1024)), **facts)


def test_from_where_the_gpu_pays_off_is_computed():
    def ms(cell):
        return 1.0 if cell.implementation == "opencv" else 2e5 / cell.pixels

    chart = figure("time_by_size", a_session(plan_of_sizes(), outcome=took(ms)))
    for told in (
        "OpenCV (8 threads) at 256²; Shared-memory tile from 512² to 1024²",
        "pays off from 512² on, excluding transfers",
    ):
        assert told in chart.sentence


def test_a_sentence_counts_transfers_noise_and_only_what_all_have():
    def ms(cell):
        return 0.5 if cell.implementation == "opencv" else 0.01

    for transfers, words in ((True, "including transfers"), (False, "from 256² on, excluding")):
        session = a_session(plan_of_sizes(transfers=transfers), outcome=took(ms))
        assert words in figure("time_by_size", session).sentence
    session = a_session(plan_of_sizes(), outcome=took(lambda cell: 1.0))
    said = figure("time_by_size", session).sentence
    names = "OpenCV (8 threads) and Shared-memory tile"
    assert f"{names} (equal within 1 %) from 256² to 1024²" in said
    session = a_session(plan_of_sizes(), first=3, outcome=took(lambda cell: 1.0 + cell.width))
    said = figure("time_by_size", session).sentence
    assert "at 256²" in said
    assert "512²" not in said


def test_a_point_tells_its_spread_its_rate_and_its_check():
    (line,) = series(figure("time_by_size", a_session("sizes")), "Shared-memory tile")
    lines = line.dots[-1].text.replace("\u202f", " ").splitlines()
    assert lines[0].startswith("Shared-memory tile: ")
    assert "4096², Gaussian blur 3×3, 16×16" in lines[1]
    assert any(line.startswith("quartiles ") and "n = 20" in line for line in lines)
    assert any("GP/s" in line for line in lines)
    assert lines[-1].startswith("verified, checked all pixels")


def test_lines_of_two_sessions_have_letters_and_the_legend_says_whose():
    both = a_session("sizes", LAPTOP), a_session("sizes", is_recorded=True)
    chart = figure("time_by_size", *both, published=True)
    names = [each.name for each in chart.body.series if each.entry.style.standing != "published"]
    assert len(set(names)) == len(names)
    assert {name[:4] for name in names} == {"A · ", "B · "}
    assert {each.group for each in chart.entries} >= {
        *("A: Intel Core i7-1260P", "B: NVIDIA H200 (recorded)")
    }


# -- words and tiles, whatever order measurements came in


@pytest.mark.parametrize(("ratio", "is_log"), [(2.0, False), (1000.0, True)])
def test_recorded_times_that_are_far_apart_have_a_logarithmic_axis(ratio, is_log):
    outcome = took(lambda cell: ratio if cell.block_xy == (8, 8) else 1.0)
    session = a_session("blocks", outcome=outcome, is_recorded=True)
    assert figure("block_shapes", session).body.y.is_log == is_log


def test_a_tile_of_the_block_map_says_its_time_and_its_occupancy():
    session = a_session("block_grid", outcome=took(lambda cell: float(cell.block_xy[0])))
    chart = figure("block_map", session)
    tiles = {tile.cell.block_xy: tile for tile in chart.body.tiles}
    assert tiles[32, 8].words == (numbers.duration(32.0), "100\u202f%")
    assert tiles[8, 1].words == (numbers.duration(8.0), "50\u202f%")  # 32 blocks of a warp, of 64
    assert tiles[8, 8].value == 8.0
    assert {shape for shape, tile in tiles.items() if tile.is_best} >= {(8, 8), (8, 1)}
    assert (128, 16) not in tiles  # a block of so many threads there is not
    x, y = chart.body.columns.index("64"), chart.body.rows.index("4")
    assert (tiles[64, 4].column, tiles[64, 4].row) == (x, y)
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
