"""Panels are made when they are first shown, and lack nothing of what happened before."""

import subprocess
import sys

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox

from kernels.pictures.generated import noise
from tests.conftest import ROOT
from tests.workbench.driving import child, pick, settle, show_picture, until

PANELS = (
    *("Settings", "Analysis", "Pixel", "Anatomy", "Implementation", "Blocks", "Sweep", "Weights"),
    *("Gallery", "Timing", "Kernel"),
)


def made(window):
    return [title for title in window.docks if window.docks.panel(title).made is not None]


def test_a_panel_is_made_when_it_is_opened_and_only_once(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    assert made(window) == []
    assert tuple(window.docks) == PANELS
    for title in PANELS:
        window.docks.bring_forward(title)
        panel = window.docks.panel(title).made
        assert panel.isVisible(), title
        window.docks[title].hide()
        window.docks.bring_forward(title)
        assert window.docks.panel(title).get() is panel


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
        *("window.stage", "presentation", "help_pages", "help_window", "palette"),
    ):
        assert not [name for name in modules if name.endswith(f".{late}")]
    assert "workbench.panels.compare.compare_view" in modules


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


def test_times_measured_before_the_ladder_was_seen_are_on_it(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    settle(qtbot, window, lambda: window.store.choose(implementation="sequential"))
    settle(qtbot, window, lambda: window.store.choose(implementation="opencv"))
    window.docks.enter("Implementation")
    window.rung.get().show_tab("ladder")
    places = window.rung.get().ladder.places
    times = {each.implementation.key: each.time for each in places if each}
    assert times["opencv"] is not None
    assert times["sequential"] is not None
    assert child(window, "rung-shown", QComboBox).currentData() == "opencv"


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
