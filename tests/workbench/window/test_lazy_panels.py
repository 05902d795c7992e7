"""Panels are made when they are first shown, and lack nothing of what happened before."""

import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel

from kernels.pictures.generated import noise
from kernels.sweeps.plan import Plan
from tests.conftest import ROOT
from tests.made_sessions import a_session
from tests.workbench.driving import child, pick, settle, show_picture, trigger, until
from workbench.charts.chart_view import ChartView
from workbench.panels.rung.ladder_list import PLACE, LadderList
from workbench.panels.sweep.run_row import SweepPhase
from workbench.widgets.menu_lines import menu_lines
from workbench.widgets.tile import ValueTile

PANELS = (
    *("Settings", "Analysis", "Pixel", "Anatomy", "Implementation", "Blocks", "Sweep", "Weights"),
    *("Gallery", "Timing", "Kernel"),
)


def made(window):
    return [title for title in window.docks if window.docks.panel(title).made is not None]


def lines(window):
    return {line.name: line.action for line in menu_lines(window)}


def test_a_start_makes_no_panel_that_is_closed(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    assert made(window) == []
    assert tuple(window.docks) == PANELS


def test_a_start_imports_nothing_that_reads_or_filters_files_of_every_kind():
    """That takes a tenth of a start; the first picture is a PNG."""
    program = "import sys, workbench.window.app, workbench.cli.state_options; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    modules = done.stdout.split()
    assert not {"tifffile", "imagecodecs", "cupy", "numba", "cv2", "pyqtgraph"} & {*modules}
    assert not [name for name in modules if name.startswith("workbench.batch")]


def test_a_start_imports_no_panel_that_is_closed_and_no_stage():
    program = (
        "import sys, workbench.window.main_window\n"
        "print(*(name for name in sys.modules if name.startswith('workbench.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    modules = done.stdout.split()
    for late in (
        *("anatomy_panel", "controls_panel", "pixel_panel", "rung_panel", "sweep_panel"),
        *("timing_panel", "weights_editor", "weights_draft"),
        *("presenter.figures", "presenter.stage", "restoring.screenshot_restore"),
    ):
        assert not [name for name in modules if name.endswith(f".{late}")]
    assert "workbench.panels.compare.compare_view" in modules


@pytest.mark.parametrize("title", PANELS)
def test_a_panel_is_made_when_it_is_opened_and_only_once(qtbot, window, title):
    window.docks.bring_forward(title)
    panel = window.docks.panel(title).made
    assert panel.isVisible()
    window.docks[title].hide()
    window.docks.bring_forward(title)
    assert window.docks.panel(title).get() is panel


def test_a_press_on_the_rail_makes_a_panel_and_the_click_shows_it(qtbot, window):
    button = child(window.docks.rail, "rail-analysis")
    panel = window.docks.panel("Analysis")
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    assert panel.made is not None
    assert not panel.made.isVisible()
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    assert panel.made.isVisible()


def test_what_a_panel_remembers_is_kept_where_it_was_never_opened(qtbot, make_window):
    first = make_window()
    first.docks.enter("Implementation")
    first.rung.get().show_tab("source")
    first.docks["Implementation"].hide()
    first.close()
    second = make_window()
    until(qtbot, lambda: second.device)
    assert second.rung.made is None
    second.close()
    third = make_window()
    third.docks.enter("Implementation")
    assert third.rung.get().choices() == {"tab": "source"}


def test_a_panel_that_was_open_is_there_from_the_start(qtbot, make_window):
    first = make_window()
    first.docks.enter("Sweep")
    first.close()
    second = make_window()
    assert second.sweep.made.isVisible()
    assert "Sweep" in made(second)


def test_times_measured_before_the_ladder_was_seen_are_on_it(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    settle(qtbot, window, lambda: window.store.choose(implementation="sequential"))
    settle(qtbot, window, lambda: window.store.choose(implementation="opencv"))
    window.docks.enter("Implementation")
    window.rung.get().show_tab("ladder")
    rows = child(window, "ladder-list", LadderList)
    places = [rows.item(row).data(PLACE) for row in range(rows.count())]
    times = {each.implementation.key: each.time for each in places if each}
    assert times["opencv"] is not None
    assert times["sequential"] is not None
    assert child(window, "rung-shown", QComboBox).currentData() == "opencv"


def test_runs_from_before_are_in_the_history(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    settle(qtbot, window, lambda: window.store.choose(border="wrap"))
    line = window.timing_views.line.accessibleName()
    window.docks.enter("Timing")
    assert window.timing.get().history.accessibleDescription().startswith("2 runs")
    time = child(window, "filter-time", ValueTile).text
    assert time in line
    settle(qtbot, window, lambda: window.store.choose(border="zero"))
    assert window.timing.get().history.accessibleDescription().startswith("3 runs")


def test_settings_seen_late_show_what_was_chosen_before_and_choose(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    settle(qtbot, window, lambda: window.store.choose(border="wrap", baseline="sequential"))
    assert window.controls.made is None
    window.docks.enter("Settings")
    border, baseline = (child(window, name, QComboBox) for name in ("border", "baseline"))
    assert (border.currentData(), baseline.currentData()) == ("wrap", "sequential")
    settle(qtbot, window, lambda: pick(border, "zero"))
    child(window, "Undo", QAction).trigger()
    until(qtbot, lambda: border.currentData() == "wrap")


def test_the_pixel_that_was_pointed_at_before_is_explained(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    window.compare.pointed.emit((7.5, 3.5))
    trigger(window, "This pixel")
    panel = window.pixel.get()
    assert panel.pixel == (7, 3)
    assert "shown once" not in child(window, "pixel-sentence", QLabel).text()


def test_a_line_drawn_before_is_the_one_whose_values_are_shown(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    window.compare.drawn.emit(((1, 2), (3, 4)), False)
    window.compare.drawn.emit(((1, 2), (9, 8)), True)
    window.docks.enter("Analysis")
    assert window.analysis.get().line_kind == "line"
    until(qtbot, lambda: "9" in child(window, "profile-line", QLabel).text())


def test_sessions_opened_before_are_in_the_chart(qtbot, window):
    window.sessions.begin(a_session("sizes"), None)
    assert window.sweep.made is None
    window.docks.enter("Sweep")
    chart = window.sweep.get().findChild(ChartView)
    until(qtbot, lambda: chart.figure is not None)


def test_lines_of_the_menu_stand_in_for_those_of_the_panel(qtbot, window, monkeypatch):
    before = {name: each.shortcut() for name, each in lines(window).items()}
    assert not lines(window)["Logarithmic scale"].isEnabled()
    asked = []
    monkeypatch.setattr(
        "workbench.panels.sweep.sweep_menu.ask_file", lambda *given: asked.append(given[1])
    )
    trigger(window, "Open plan…")
    assert asked == ["Open a plan"]
    assert window.sweep.made is not None
    assert {name: each.shortcut() for name, each in lines(window).items()} == before
    window.sessions.begin(a_session("sizes"), None)
    window.docks.enter("Sweep")
    until(qtbot, lines(window)["Logarithmic scale"].isEnabled)


def test_a_sweep_that_runs_is_known_to_a_ladder_that_is_seen_later(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    window.sweep.get().started.emit(Plan("Two sizes", ("opencv",), ((4, 4), (5, 5))))
    assert window.rung.made is None
    window.docks.enter("Implementation")
    window.rung.get().show_tab("ladder")
    assert not child(window, "ladder-measure").isEnabled()
    until(qtbot, lambda: window.sweep.get().phase is SweepPhase.IDLE)
    assert child(window, "ladder-measure").isEnabled()


def test_tab_goes_through_a_panel_made_late_as_it_is_seen(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    window.activateWindow()
    window.docks.enter("Pixel")
    frame = window.docks["Pixel"]
    stops = []
    child(frame, "panel-enlarge").setFocus()
    while frame.isAncestorOf(QApplication.focusWidget()):
        stops.append(QApplication.focusWidget())
        QTest.keyClick(stops[-1], Qt.Key.Key_Tab)
    panel = window.pixel.get()
    assert [panel.isAncestorOf(each) for each in stops] == [False, False] + [True] * (
        len(stops) - 2
    )
    assert len(stops) > 2
    assert QApplication.focusWidget() is window.timing_views.line
