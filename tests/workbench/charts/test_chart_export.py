"""Charts on a page: nothing covered or cut off, text as text, values, and round ticks."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.made_sessions import LAPTOP, PLANS, a_session
from tests.workbench.charts import svg_texts
from workbench.base import theme
from workbench.charts.data.points import Data
from workbench.charts.drawing.chart_export import SIZE_PX, svg_of
from workbench.charts.drawing.plotting import ValueAxis, apart, even_ticks, log_ticks, shortened
from workbench.charts.kinds import chart_kinds

KINDS = {kind.key: kind for kind in chart_kinds()}
SVG = "{http://www.w3.org/2000/svg}"
# Beside the plan that each kind is made for, what is hardest to find room for.
CROWDED = [
    ("block_grid", "block_shapes"),
    ("everything", "by_filters"),
    ("pictures", "time_by_size"),
    ("sizes_and_kernels", "throughput_map"),
    ("transfers", "correctness"),
]


def shown():
    """Every kind with a plan that suits it."""
    data = {plan: Data([a_session(plan, first=100)]) for plan in PLANS}
    for key, kind in KINDS.items():
        if key.startswith("by_"):  # drawn as the filters' are, which CROWDED has
            continue
        able = [plan for plan in PLANS if kind.why_not(data[plan]) is None]
        yield next(iter([plan for plan in able if kind.made_for(PLANS[plan])] or able)), key


def figure(plan, key, **facts):
    return KINDS[key].figure(Data([a_session(plan, **facts)]))


@pytest.mark.parametrize(
    ("plan", "key", "size"),
    [
        *((*each, (330, 300)) for each in (*shown(), *CROWDED)),
        *((*each, (1200, 750)) for each in CROWDED[:2]),
    ],
)
def test_no_text_covers_another_or_is_cut_off(qapp, plan, key, size):
    svg = svg_of(figure(plan, key), size_px=size)
    assert svg_texts.overlapping(svg) == []
    assert svg_texts.cut_off(svg) == []


def test_an_svg_has_words_and_shapes_and_no_bitmaps(qapp):
    chart = figure("sizes", "time_by_size")
    svg = svg_of(chart)
    root = ElementTree.fromstring(svg)
    assert root.get("viewBox").split()[:3] == ["0", "0", str(SIZE_PX[0])]
    assert root.find(f"{SVG}title").text == chart.title
    assert root.find(f"{SVG}desc").text == chart.summary
    assert root.find(f".//{SVG}image") is None
    assert "sans-serif" in root.get("font-family")
    written = " ".join(text for text, _ in svg_texts.texts(svg))
    for words in (chart.title, "Shared-memory tile", "1024²", "100\u202fµs"):
        assert words in written
    for word in chart.sentence.split():
        assert word in written


def test_marks_of_an_svg_tell_their_values_and_code_in_words_leaves_it_whole(qapp):
    chart = figure("block_grid", "block_map")
    svg = svg_of(chart)
    told = [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    assert told[1:] == [tile.text for tile in chart.body.tiles]
    assert "<script" not in svg
    name = '<b>A & "B"</b> ]]> \x01\x1f\ufffe'
    chart = figure("sizes", "time_by_size", machine=replace(LAPTOP, gpu=name, cpu=name))
    whole = ElementTree.fromstring(svg_of(replace(chart, title=name, sentence=name)))
    assert '<b>A & "B"</b> ]]>' in "".join(whole.itertext())


def test_a_mark_lies_where_it_is_drawn(qapp):
    svg = svg_of(figure("block_grid", "block_map"))
    root = ElementTree.fromstring(svg)
    words = {text: box for text, box in svg_texts.texts(svg) if text.startswith("78.")}
    (box,) = words.values()  # of the slowest shape, 8×1
    marks = {rect.findtext(f"{SVG}title"): rect for rect in root.iter(f"{SVG}rect")}
    (mark,) = [rect for text, rect in marks.items() if text and "5×5, 8×1\n" in text]
    x, y, wide, high = (float(mark.get(name)) for name in ("x", "y", "width", "height"))
    assert x < box.center().x() < x + wide
    assert y < box.center().y() < y + high


def test_paper_is_white_whatever_the_window_is(qapp):
    theme.apply(qapp, "dark")
    try:
        svg = svg_of(figure("sizes", "time_by_size"))
    finally:
        theme.apply(qapp, "light")
    assert theme.LIGHT.panel in svg
    assert theme.DARK.panel not in svg


def test_a_chart_can_be_made_from_the_command_line(tmp_path):
    code = (
        "from pathlib import Path\n"
        "from workbench.charts.data.figure import Axis, Figure, Plot\n"
        "from workbench.charts.drawing.chart_export import svg_of\n"
        "axis = Axis('', str)\n"
        "figure = Figure('', 'A title', '', '', (), Plot(axis, axis, ()))\n"
        f"Path({str(tmp_path / 'chart.svg')!r}).write_text(svg_of(figure), encoding='utf-8')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert ElementTree.parse(tmp_path / "chart.svg").getroot().tag == f"{SVG}svg"


@pytest.mark.parametrize(
    ("low", "high", "gap", "values"),
    [
        (0, 1, 0.01, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (0, 1, 0.2, [1, 2, 5, 10]),
        (0, 2, 0.4, [1, 3, 10, 30, 100]),
        (-1, 3, 0.9, [0.1, 1, 10, 100, 1000]),
        (-2, 2, 1.5, [0.01, 1, 100]),
        (-3, 6, 2.5, [1e-3, 1, 1e3, 1e6]),
        (0.15, 0.93, 0.5, [2, 8]),  # 1, 2 and 5 would be one tick or two that touch
        (0.32, 0.5, 0.4, [3]),
        (-0.4, 1.85, 1.2, [1, 10]),  # 400 µs to 70 ms, which are no round numbers
    ],
)
def test_log_ticks_are_round_and_apart(low, high, gap, values):
    assert [10**tick for tick in log_ticks(low, high, gap)] == pytest.approx(values)


@pytest.mark.parametrize(
    ("low", "high", "gap", "values"),
    [
        (0, 10, 1.5, [0, 2, 4, 6, 8, 10]),
        (0.3, 2.1, 0.5, [0.5, 1.0, 1.5, 2.0]),
        (0, 1, 0.11, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (3, 3, 0.0, [3]),
        (0, 55, 60, [0, 50]),
        (0, 2.4, 2.1, [0, 2]),
        (0, 45, 60, [0, 40]),
        (0.5, 1.6, 1.2, [0.5, 1.5]),
    ],
)
def test_even_ticks_are_round_and_apart(low, high, gap, values):
    assert even_ticks(low, high, gap) == pytest.approx(values)


@given(low=st.floats(-1e3, 1e3), span=st.floats(1e-3, 1e6), share=st.floats(0.02, 0.4))
def test_even_ticks_are_never_nearer_than_asked(low, span, share):
    ticks = even_ticks(low, low + span, share * span)
    assert len(ticks) > 1
    if len(ticks) > 2:  # two there have to be
        assert all(b - a >= share * span * (1 - 1e-6) for a, b in pairwise(ticks))
    assert all(low - 1e-6 * span <= tick <= low + span + 1e-6 * span for tick in ticks)


def test_a_plot_as_high_as_a_screen_has_no_more_ticks_than_can_be_read(qapp):
    assert len(ValueAxis("left").ticks(0, 510, 1000)) <= 13


def test_zeros_at_the_end_of_a_tick_say_nothing():
    long = ("1.00 ms", "2.50×", "10.0 s", "200 µs", "0.105 s")
    assert [shortened(text) for text in long] == ["1 ms", "2.5×", "10 s", "200 µs", "0.105 s"]


@pytest.mark.parametrize(
    ("middles", "wide", "kept"),
    [
        ((0, 10, 20, 30, 40), 9, [0, 1, 2, 3, 4]),
        ((0, 10, 20, 30, 40), 15, [0, 2, 4]),
        ((0, 30, 35, 40), 12, [0, 3]),
        ((0, 5), 9, [1]),
        ((0,), 9, [0]),
        ((), 9, []),
    ],
)
def test_the_first_and_the_last_tick_always_have_a_text(middles, wide, kept):
    assert apart([(each - wide / 2, each + wide / 2) for each in middles]) == kept
