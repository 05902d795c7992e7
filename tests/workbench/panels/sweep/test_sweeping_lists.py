"""Lists of steps in the sweep panel, in its charts, in reports and on the command line."""

import json
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLineEdit

from kernels.core.timing import in_a_row
from kernels.pictures.generated import noise
from kernels.sweeps.session_files import read_session
from kernels.sweeps.step_words import as_word, list_words
from tests.made_sessions import H200, LAPTOP, a_session
from tests.workbench.driving import child, click, ready, show_picture, until
from tests.workbench.engines import DEVICE
from tests.workbench.panels.sweep.test_sweeping import doing, ended, live, tick_only
from workbench.base.numbers import GAP
from workbench.charts.data.points import Data
from workbench.charts.drawing.chart_export import svg_of
from workbench.charts.kinds import chart_kinds, kinds_for
from workbench.cli import main
from workbench.imaging.pictures import Picture
from workbench.model import step_files
from workbench.model.cell_words import in_words
from workbench.model.plan_draft import BY_FIELD, Draft, UnclearError, texts_of
from workbench.model.state import State, Step
from workbench.report.session_tables import SessionTables

KINDS = {each.key: each for each in chart_kinds()}
STEPS = (Step("gaussian", 5), Step("sobel_x", 3))
STATE = State(picture=Picture("a.png", noise(30, 40, 3)), **step_files.select(STEPS, 1))


def write(window, field, text):
    line = child(window, f"values-{field}", QLineEdit)
    line.setText(text)
    line.textEdited.emit(text)


def draft(state=STATE, **texts):
    return Draft(texts=texts, implementations=("opencv", "shared")).plan(state, DEVICE)


def test_the_window_s_list_is_swept_and_a_point_brings_it_back(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    window.store.update(**step_files.select(STEPS, 1))
    write(window, "sizes", "")
    write(window, "lists", "this, sketch")
    write(window, "borders", "clamp, wrap")
    tick_only(window, ("opencv",))
    click(child(window, "sweep-start"))
    ended(qtbot, window)
    assert doing(window).startswith("Done: 4 of 4 in")
    cells = [record.cell for record in live(window).records if record.verified]
    assert {cell.list for cell in cells} == {"gaussian:5 + sobel_x", list_words("sketch")}
    assert {(cell.width, cell.height) for cell in cells} == {(30, 20)}
    window.store.update(before=(), filter="box", ksize=9)
    sketch = next(cell for cell in cells if cell.list == list_words("sketch"))
    window.sweep.get().chart.picked.emit(replace(sketch, border="mirror"))
    until(qtbot, lambda: window.store.state.border == "mirror")
    state = window.store.state
    assert [each.filter for each in state.steps] == ["gaussian", "gradient", "custom"]
    assert {each.implementation for each in state.steps} == {"opencv"}


def test_a_point_of_a_rung_is_shown_on_what_there_is(qtbot, window):
    ready(qtbot, window, noise(20, 30))
    cell = a_session("lists").records[1].cell
    assert cell.implementation == "shared"
    window.sweep.get().chart.picked.emit(cell)
    until(qtbot, lambda: window.store.state.before)
    assert as_word(window.store.state.steps[0]).startswith("gaussian:7")
    assert "Shown with OpenCV" in window.messages.sentence
    assert {each.implementation for each in window.store.state.steps} == {"opencv"}
    window.sweep.get().chart.picked.emit(replace(cell, list="swirl:5 + box:3"))
    until(qtbot, lambda: window.messages.kind == "error")


def test_lines_of_lists_are_read_and_written():
    values = BY_FIELD["lists"].values("this, sketch, gaussian:5,mix=0.5, sigma = 1 + sobel_x,off")
    assert values == ("this", list_words("sketch"), "gaussian:5,sigma=1.0,mix=0.5")
    plan = draft(lists="this, sketch", sizes="16, 32")
    assert plan.lists == ("gaussian:5 + sobel_x", list_words("sketch"))
    assert texts_of(plan)["lists"] == "gaussian:5 + sobel_x, sketch"
    assert (plan.filters, plan.ksizes) == (("gaussian",), (3,))
    assert plan.pixel_types == ("float32",), "Sobel swings around zero"
    blurs = replace(STATE, filter="box")
    assert draft(blurs, lists="this").pixel_types == ("uint8",)
    assert draft(blurs, sizes="16, 32").lists == draft(blurs, lists="this").lists
    alone = draft(blurs, ksizes="3, 5")
    assert alone.lists == ("",), "a line about one step is about the selected one"
    assert alone.pixel_types == ("float32",), "a step of a list alone is given that"
    assert plan.implementations == ("opencv", "shared", "auto")  # a rung for each step
    assert plan.title == "Image size × steps, Gaussian blur 5×5 ▸ Sobel X 3×3, sketch"


def test_lists_that_differ_in_a_parameter_alone_have_two_names():
    words = BY_FIELD["lists"].values("gaussian:5, gaussian:5,sigma=3,mix=0.5")
    names = [in_words("lists", each) for each in words]
    assert names == ["Gaussian blur 5×5", f"Gaussian blur 5×5 50{GAP}%, sigma=3.0"]
    assert in_words("lists", "swirl:5 + box:3") == "swirl:5 + box:3", "of another version"


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"lists": "this", "ksizes": "3, 5"}, "A list has kernel_size in its steps"),
        ({"lists": "skotch"}, "There is no list 'skotch'"),
        ({"lists": "mine.toml"}, "Open mine.toml as the window's steps, and write “this”."),
        ({"lists": "box:4"}, "size must be an odd number"),
    ],
)
def test_what_makes_no_list_is_said_below_its_line(texts, said):
    with pytest.raises(UnclearError, match=said) as refused:
        draft(**texts)
    assert refused.value.field == "lists"
    with pytest.raises(UnclearError, match="does not round between steps"):
        draft(replace(STATE, is_rounded=True), lists="this")
    with pytest.raises(UnclearError, match="filters whole pictures: Shift"):
        draft(replace(STATE, region=(1, 2, 9, 8, 0)), lists="this")


# -- charts and reports


def test_a_bar_is_made_of_its_steps_and_names_the_difference(qapp):
    data = Data([a_session("lists")])
    assert kinds_for(data)[0].key == "steps_stacked"
    figure = KINDS["steps_stacked"].figure(data)
    assert [group.label for group in figure.body.groups][1] == "sketch"
    for bar in (each for each in figure.body.bars if each.value):
        session = next(e for e in a_session("lists").records if e.cell == bar.cell)
        assert [ms for _, ms in bar.pieces] == [e.median_ms for e in session.verified.steps]
        on_gpu = bar.cell.implementation != "opencv"
        assert ("less than its steps one by one" in bar.text) == on_gpu
    assert "as a whole" in figure.sentence
    # As in strips, or on several GPUs: no whole was run.
    sums = a_session("lists", outcome=lambda _, it: replace(it, kernel=in_a_row(it.steps)))
    figure = KINDS["steps_stacked"].figure(Data([sums]))
    assert "as a whole" not in figure.sentence + "".join(bar.text for bar in figure.body.bars)
    svg = svg_of(figure, (900, 500))
    assert "sobel_x" in svg
    assert "gaussian:7" in svg


def test_a_list_beside_filters_is_another_slice_and_bad_steps_are_drawn(qapp):
    both = Data([a_session("lists"), a_session("everything", first=60)])
    for kind in kinds_for(both):
        svg_of(kind.figure(both), (600, 400))
    shown = KINDS["by_filters"].figure(both)
    assert "own block" not in [group.label for group in shown.body.groups]
    odd = a_session("lists", outcome=lambda cell, found: replace(found, steps=found.steps[:1]))
    assert KINDS["steps_stacked"].figure(Data([odd])).body.bars[0].pieces
    plain = Data([a_session("sizes", LAPTOP)])
    assert KINDS["steps_stacked"].why_not(plain) == "No list of steps is measured."


def test_tables_have_the_words_and_the_times_of_steps():
    table = SessionTables(a_session("lists", H200)).times()
    titles = [column.title for column in table.columns]
    steps = [row.cells[titles.index("Steps")] for row in table.rows]
    assert {"Gaussian blur 7×7 ▸ Sobel X 3×3", "sketch"} <= set(steps)
    times = next(at for at, title in enumerate(titles) if title.startswith("Steps ("))
    sketch = next(row for row in table.rows if row.cells[0] == "sketch")
    assert sketch.cells[times].count("+") == 2
    plain = SessionTables(a_session("sizes")).times()
    assert not any(column.title.startswith("Steps") for column in plain.columns)


def test_a_list_from_the_command_line(tmp_path, capsys):
    plan = tmp_path / "small.toml"
    plan.write_text(
        'title = "Small"\nimplementation = "opencv"\nsize = 16\nkernel_size = 5\n'
        "[sampling]\nmax_samples = 2\nmin_samples = 1\nmax_seconds = 0.01\n"
    )
    words = ["sweep", str(plan), "--no-gpu", "--out", str(tmp_path / "out"), "--json"]
    assert main.run(main.parse([*words, "--list", "box:3 + sobel_x", "--list", "sketch"])) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    assert [each["cell"]["list"] for each in records] == ["box:3 + sobel_x", list_words("sketch")]
    assert [len(each["steps_ms"]) for each in records] == [2, 3]
    assert read_session(tmp_path / "out").plan.ksizes == (3,)
    assert main.main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "box:3 + sobel_x" in page
    assert "Steps, stacked" in page
    capsys.readouterr()
    assert main.main(["compare", str(tmp_path / "out"), str(tmp_path / "out")]) == 0
    assert "sketch" in capsys.readouterr().out
