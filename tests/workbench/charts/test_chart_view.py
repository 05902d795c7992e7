"""The chart as a widget: it fills, is chosen from, pointed at, driven by keys, and exported."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel

from tests.made_sessions import LAPTOP, a_session
from tests.workbench.driving import answer_file_dialogs, child, pick, until
from tests.workbench.seeing import pixels_of
from workbench.charts.canvas import ALL_HIDDEN, Canvas
from workbench.charts.chart_view import EMPTY, ChartView, Legend
from workbench.charts.drawing.marks import cividis


@pytest.fixture
def view(put_up):
    return put_up(ChartView(), 480, 760)


def canvas_of(view) -> Canvas:
    return view.findChild(Canvas)


def show(qtbot, view, *sessions, kind=None):
    """Show them, and wait until they are drawn."""
    canvas = canvas_of(view)
    until(qtbot, lambda: canvas.plot is not None)
    view.show_sessions(sessions)
    if kind:
        view.show_kind(kind)
    until(qtbot, lambda: view.figure is not None and canvas.spots)
    QApplication.processEvents()
    return canvas


def place_of(canvas, spot):
    """Where a spot is, in the plot's pixels."""
    return canvas.plot.getViewBox().mapViewToScene(QPointF(spot.x, spot.y))


def words(view, name):
    return child(view, name, QLabel).text()


def spoken(view):
    """The legend's entries, by what a screen reader says of them."""
    return {each.accessibleName(): each for each in view.findChild(Legend).entries}


def test_it_says_so_while_there_is_nothing(view):
    texts = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    assert texts == [EMPTY]
    assert view.accessibleDescription() == "Nothing is measured yet."
    assert view.image().isNull()
    assert not child(view, "chart-kind").isEnabled()


def test_the_kind_follows_the_plan_until_somebody_chooses(qtbot, view):
    kinds = child(view, "chart-kind", QComboBox)
    show(qtbot, view, a_session("sizes"))
    assert kinds.currentData() == "time_by_size"
    pick(kinds, "throughput")
    assert words(view, "chart-title") == "Throughput by image size"
    show(qtbot, view, a_session("sizes", first=20))
    assert kinds.currentData() == "throughput"
    show(qtbot, view, a_session("blocks"))
    assert kinds.currentData() == "block_shapes"


def test_the_kind_follows_the_session_that_was_opened_last(qtbot, view):
    kinds = child(view, "chart-kind", QComboBox)
    blocks, sizes = (a_session(name, is_recorded=True) for name in ("blocks", "sizes"))
    show(qtbot, view, blocks)
    assert kinds.currentData() == "block_shapes"
    show(qtbot, view, blocks, sizes)
    assert kinds.currentData() == "time_by_size"
    drawn = [dot.cell for each in view.figure.body.series for dot in each.dots if dot.cell]
    assert {record.cell for record in sizes.records} <= set(drawn)
    hidden = len(blocks.records) + len(sizes.records) - len(drawn)
    assert any(note.startswith(f"Hidden: {hidden} of ") for note in view.figure.notes)


def test_kinds_that_show_nothing_are_greyed_out_with_the_reason(qtbot, view):
    show(qtbot, view, a_session("sizes"))
    kinds = child(view, "chart-kind", QComboBox)
    item = kinds.model().item(kinds.findData("block_shapes"))
    assert not item.isEnabled()
    assert "16×16" in item.toolTip()


def test_slices_and_the_baseline_are_chosen_from_lists(qtbot, view):
    view.prefer_baseline("shared")
    show(qtbot, view, a_session("everything"), kind="speedup_by_size")
    assert words(view, "chart-title").endswith("against Shared-memory tile")
    view.prefer_baseline("sequential")
    assert words(view, "chart-title").endswith("against Sequential (1 thread)")
    pick_text(child(view, "chart-filters", QComboBox), "Box blur")
    assert "Box blur 3×3" in words(view, "chart-subtitle")
    pick_text(child(view, "chart-baseline", QComboBox), "Global memory")
    view.prefer_baseline("shared")  # comes too late: somebody has chosen
    assert words(view, "chart-title").endswith("against Global memory")


def pick_text(combo, text):
    row = combo.findText(text)
    assert row >= 0, [combo.itemText(i) for i in range(combo.count())]
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def test_a_list_left_open_while_another_chart_came_chooses_nothing(qtbot, view):
    show(qtbot, view, a_session("everything"))
    left_open = child(view, "chart-filters", QComboBox)
    show(qtbot, view, a_session("sizes"))
    shown = view.figure
    left_open.activated.emit(1)
    QApplication.processEvents()
    assert view.figure == shown


# -- the legend


def test_a_click_in_the_legend_hides_a_series_and_another_shows_it(qtbot, view):
    canvas = show(qtbot, view, a_session("sizes"))
    count = len(canvas.spots)
    QTest.mouseClick(spoken(view)["Global memory"], Qt.MouseButton.LeftButton)
    assert len(canvas.spots) == count - 5
    QTest.mouseClick(spoken(view)["Global memory, hidden"], Qt.MouseButton.LeftButton)
    assert len(canvas.spots) == count


def test_the_legend_is_driven_by_keys(qtbot, view):
    show(qtbot, view, a_session("sizes"))
    view.activateWindow()
    first, second = list(spoken(view).values())[:2]
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Right)
    until(qtbot, second.hasFocus)
    QTest.keyClick(second, Qt.Key.Key_Space)
    assert "Parallel (12 threads), hidden" in spoken(view)
    QTest.keyClick(second, Qt.Key.Key_P)
    assert "Parallel (12 threads), pinned, hidden" in spoken(view)


def test_what_is_pinned_stays_pinned_in_another_sweep(qtbot, view):
    show(qtbot, view, a_session("sizes"))
    QTest.mouseClick(spoken(view)["Shared-memory tile"], Qt.MouseButton.RightButton)
    assert "Shared-memory tile, pinned" in spoken(view)
    show(qtbot, view, a_session("ksizes"))
    assert "Shared-memory tile, pinned" in spoken(view)
    assert view.figure.body.series[-1].entry.label == "Shared-memory tile"


def test_hiding_everything_is_said_and_can_be_undone(qtbot, view):
    show(qtbot, view, a_session("ksizes"))
    show_all = action(view, "Show all, unpin")
    assert not show_all.isEnabled()
    for entry in list(spoken(view).values()):
        QTest.mouseClick(entry, Qt.MouseButton.LeftButton)
    assert view.figure.is_empty
    texts = [label.text() for label in canvas_of(view).findChildren(QLabel) if label.isVisible()]
    assert texts == [ALL_HIDDEN]
    show_all.trigger()
    assert not any(entry.is_hidden for entry in view.figure.entries)
    assert not view.figure.is_empty
    assert not show_all.isEnabled()


def action(view, text):
    every = [*child(view, "chart-menu").menu().actions(), *view.actions_of_menu]
    return next(each for each in every if each.text().replace("&", "") == text)


def test_a_session_begun_or_opened_comes_into_sight_whatever_was_chosen(qtbot, view):
    view.resize(340, 760)
    old, new = a_session("sizes"), a_session("five_steps", is_recorded=True)
    show(qtbot, view, old)
    show(qtbot, view, old, new)
    channels = child(view, "chart-channels", QComboBox)
    assert channels.currentText() == "3 channels"
    assert words(view, "chart-notes").startswith("Hidden: 30 of 40 measurements")
    channels.setCurrentIndex(0)
    channels.activated.emit(0)
    view.show_sessions([old, new])  # more of the same changes nothing
    assert view.figure.options[0].chosen == 1
    view.show_sessions([replace(new, started=new.started + 60), old, new])
    assert view.figure.options[0].chosen == 3
    view.show_sessions([old, new])
    assert view.figure.options[0].chosen == 1


# -- pointing


def test_the_nearest_mark_is_pointed_at_and_a_click_asks_for_its_cell(qtbot, view):
    canvas = show(qtbot, view, a_session("ksizes"))
    asked = []
    view.picked.connect(asked.append)
    spot = next(spot for spot in canvas.spots if spot.cell)
    at = place_of(canvas, spot).toPoint()
    QTest.mouseClick(canvas.plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    until(qtbot, lambda: asked)
    assert asked == [spot.cell]
    spot = canvas.spots[0]
    assert canvas.spot_at(place_of(canvas, spot) + QPointF(1, 1)) == spot
    assert canvas.spot_at(QPointF(-200, -200)) is None


def test_a_tile_is_pointed_at_anywhere_on_it(qtbot, view):
    canvas = show(qtbot, view, a_session("block_grid"))
    spot = canvas.spots[0]
    box = canvas.plot.getViewBox()
    assert canvas.spot_at(box.mapViewToScene(QPointF(spot.x + 0.45, spot.y + 0.45))) == spot
    assert canvas.spot_at(box.mapViewToScene(QPointF(spot.x + 0.55, spot.y))) != spot


def test_the_arrow_keys_go_from_point_to_point_and_enter_picks(qtbot, view):
    canvas = show(qtbot, view, a_session("ksizes"))
    action(view, "Published numbers, in grey").trigger()
    asked = []
    view.picked.connect(asked.append)
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert canvas.accessibleDescription() == canvas.spots[0].text
    QTest.keyClick(canvas, Qt.Key.Key_Left)
    assert canvas.accessibleDescription() == canvas.spots[-1].text
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert asked == []  # that one is published: there is nothing to load
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert asked == [canvas.spots[0].cell]


def test_where_the_keys_are_stays_while_points_come_in(qtbot, view):
    canvas = show(qtbot, view, a_session("ksizes", first=8))
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    view.show_sessions([a_session("ksizes", first=9)])
    until(qtbot, lambda: len([spot for spot in canvas.spots if spot.cell]) == 9)
    asked = []
    view.picked.connect(asked.append)
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert asked == [canvas.spots[0].cell]


def wheel(canvas, modifiers):
    at = QPointF(canvas.plot.width() / 2, canvas.plot.height() / 2)
    there, turned = canvas.plot.mapToGlobal(at), QPoint(0, 240)
    none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, there, QPoint(), turned, none, modifiers, phase, False)
    QApplication.sendEvent(canvas.plot.viewport(), event)
    return event.isAccepted()


def test_ctrl_and_the_wheel_look_closer_and_esc_shows_all_again(qtbot, view):
    canvas = show(qtbot, view, a_session("ksizes"))
    box = canvas.plot.getViewBox()
    whole = box.viewRange()
    wheel(canvas, Qt.KeyboardModifier.NoModifier)  # scrolls what the chart stands in
    assert box.viewRange() == whole
    wheel(canvas, Qt.KeyboardModifier.ControlModifier)
    closer = box.viewRange()
    assert closer[0][1] - closer[0][0] < whole[0][1] - whole[0][0]
    view.show_sessions([a_session("ksizes")])
    assert view.figure
    assert box.viewRange()[0] == pytest.approx(closer[0])  # a new point does not undo it
    QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert box.viewRange()[0] == pytest.approx(whole[0])


def test_a_drag_moves_what_is_in_sight_and_picks_nothing(qtbot, view):
    canvas = show(qtbot, view, a_session("ksizes"))
    box, asked = canvas.plot.getViewBox(), []
    view.picked.connect(asked.append)
    whole = box.viewRange()[0]
    wheel(canvas, Qt.KeyboardModifier.ControlModifier)
    closer, seen = box.viewRange()[0], canvas.plot.viewport()
    for by in (40, 4000):  # never beyond all there is
        begin = QPoint(seen.width() // 2, seen.height() // 2)
        QTest.mousePress(seen, Qt.MouseButton.LeftButton, pos=begin)
        for at in (by // 2, by):
            QTest.mouseMove(seen, begin + QPoint(at, 0))
        QTest.mouseRelease(seen, Qt.MouseButton.LeftButton, pos=begin + QPoint(by, 0))
        assert whole[0] <= box.viewRange()[0][0] < closer[0]
    assert not asked


# -- words, theme, export


def test_all_of_it_is_told_to_who_cannot_see_it(qtbot, view):
    show(qtbot, view, a_session("sizes", LAPTOP))
    said = view.accessibleDescription()
    assert said.startswith("Time by image size. Fastest: OpenCV (8 threads) ")
    assert "No GPU was found." in said
    assert words(view, "chart-sentence") in said


def test_the_scale_and_the_published_numbers_can_be_switched(qtbot, view):
    canvas = show(qtbot, view, a_session("sizes"))
    log, grey = action(view, "Logarithmic scale"), action(view, "Published numbers, in grey")
    assert log.isChecked()
    log.trigger()
    assert not view.figure.body.y.is_log
    count = len(view.figure.entries)
    assert not [spot for spot in canvas.spots if "(published)" in spot.text]
    grey.trigger()
    assert len(view.figure.entries) == count + 2
    cells = {spot.cell for spot in canvas.spots if "(published)" in spot.text}
    assert cells == {None}  # there is nothing to load
    grey.trigger()
    assert len(view.figure.entries) == count
    assert not grey.isChecked()
    assert not log.isChecked()


def test_it_survives_a_move_to_a_window_of_its_own_and_back(qtbot, view):
    canvas = show(qtbot, view, a_session("sizes"))
    before = view.parent()
    other = ChartView()  # any widget will do as a parent
    qtbot.addWidget(other)
    other.show()
    view.setParent(other)
    view.show()
    view.resize(400, 500)
    view.setParent(before)
    view.show()
    show(qtbot, view, a_session("sizes", first=12))
    assert [spot for spot in canvas.spots if spot.cell]


def test_the_chart_is_copied_as_an_image(qtbot, view):
    show(qtbot, view, a_session("sizes"))
    copied = []
    view.copy_wanted.connect(copied.append)
    action(view, "Copy the chart").trigger()
    assert isinstance(copied[0], QImage)
    assert copied[0].width() >= 1000


@pytest.mark.parametrize(("suffix", "text"), [("png", "Save as PNG…"), ("svg", "Save as SVG…")])
def test_the_chart_is_saved_with_the_suffix_that_it_needs(
    qtbot, view, monkeypatch, tmp_path, suffix, text
):
    answer_file_dialogs(monkeypatch, tmp_path / "a chart")
    show(qtbot, view, a_session("sizes"))
    wanted = []
    view.save_wanted.connect(lambda path, content: wanted.append((path, content)))
    action(view, text).trigger()
    ((path, content),) = wanted
    assert path == Path(tmp_path / f"a chart.{suffix}")
    if suffix == "svg":
        assert ElementTree.fromstring(content).get("viewBox")
    else:
        assert not content.isNull()


def colour_at(canvas, spot):
    """Near a corner of the tile, where no letter stands."""
    left, low = spot.box[0] + 0.12, spot.box[1] + 0.12
    place = canvas.plot.getViewBox().mapViewToScene(QPointF(left, low))
    return tuple(pixels_of(canvas.grab().toImage())[int(place.y()), int(place.x())].tolist())


@pytest.mark.parametrize(
    ("plan", "kind", "best_of"),
    [("block_grid", "block_map", min), ("sizes_and_kernels", "throughput_map", max)],
)
def test_the_best_tile_is_the_lightest(qtbot, view, plan, kind, best_of):
    canvas = show(qtbot, view, a_session(plan), kind=kind)
    tiles = [tile for tile in view.figure.body.tiles if tile.value]
    best = best_of(tiles, key=lambda tile: tile.value)
    worst = {min: max, max: min}[best_of](tiles, key=lambda tile: tile.value)
    spots = {(spot.x, -spot.y): spot for spot in canvas.spots}
    seen = [colour_at(canvas, spots[float(tile.column), float(tile.row)]) for tile in (best, worst)]
    assert seen[0] == pytest.approx(cividis(1).getRgb()[:3], abs=3)
    assert seen[1] == pytest.approx(cividis(0).getRgb()[:3], abs=3)


# PySide keeps a type in its module as soon as it is made.
PROGRAM = """
import sys
from threading import current_thread, main_thread
from time import monotonic

from PySide6 import QtCore, QtGui, QtWidgets
import workbench.charts.chart_view, workbench.panels.timing.timing_panel
from tests.made_sessions import a_session
from workbench.charts.canvas import Canvas, plot_import
from workbench.charts.chart_view import ChartCard
from workbench.charts.data.points import Data
from workbench.charts.kinds import chart_kinds

MODULES = (QtCore, QtGui, QtWidgets)


def unmade():
    return [name for module in MODULES for name in dir(module) if name not in vars(module)]


def look(event, arguments):
    if event == "import" and current_thread() is not main_thread():
        if arguments[0] == "pyqtgraph":
            found.append(unmade())
        if arguments[0].startswith("PySide6."):
            found.append(arguments[0])


found = []
app = QtWidgets.QApplication([])
card, data = ChartCard(), Data([a_session("sizes")])
card.show_figure(next(kind for kind in chart_kinds() if not kind.why_not(data)).figure(data))
assert card.legend.entries
assert "pyqtgraph" not in sys.modules  # not before a chart is painted
assert len(unmade()) > 100
sys.addaudithook(look)
canvas = Canvas("")
plot_import.make_plot(canvas)
end = monotonic() + 60
while canvas.plot is None and monotonic() < end:
    app.processEvents()
assert "pyqtgraph" in sys.modules
card.view.make_plot()
assert not any(each.icon().isNull() for each in card.legend.entries)
assert found == [[]], found
"""


def test_no_module_and_no_type_is_left_for_its_thread_to_make():
    child = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
