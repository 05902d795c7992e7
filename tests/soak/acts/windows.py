"""Docks, sizes, dialogs, and what runs in the background."""

from PySide6.QtCore import QSize, Qt

from tests.soak import finding
from tests.soak.acts.act import Act, one_of

SIZES = ((640, 480), (1024, 700), (1280, 800), (1600, 900), (1920, 1080))


def _choose_dock(rng, stage):
    docks = sorted(stage.window.docks)
    what = rng.choice(("hide", "show", "float", "left", "right", "bottom", "raise", "tab"))
    return rng.choice(docks), what, rng.choice(docks)


def _do_dock(stage, title, what, other):
    window, dock = stage.window, stage.window.docks[title]
    areas = {
        "left": Qt.DockWidgetArea.LeftDockWidgetArea,
        "right": Qt.DockWidgetArea.RightDockWidgetArea,
        "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
    }
    if what in areas:
        window.addDockWidget(areas[what], dock)
    elif what == "float":
        dock.setFloating(not dock.isFloating())
    elif what == "tab" and other != title and not dock.isFloating():
        window.tabifyDockWidget(window.docks[other], dock)
    elif what == "raise":
        window.docks.bring_forward(title)
    else:
        dock.setVisible(what == "show")


def _choose_size(rng, stage):
    return (rng.choice(SIZES),)


def _do_size(stage, size):
    stage.window.resize(QSize(*size))


def _choose_away(rng, stage):
    return (one_of(rng, _others(stage)),)


def _do_away(stage, name):
    """Close what is before the window, as its own button does."""
    if other := _others(stage).get(name):
        other.close()


def _others(stage):
    found = finding.widgets()
    return {name: e for name, e in found.items() if e.isWindow() and e is not stage.window}


def _choose_stop(rng, stage):
    return ()


def _do_stop(stage):
    """Let no sweep, tuning or comparison run for long."""
    stage.window.worker.cancel_sweep()
    stage.window.worker.cancel_tuning()
    stage.window.worker.cancel_comparison()


ACTS = {
    "dock": Act(5, _choose_dock, _do_dock),
    "size": Act(2, _choose_size, _do_size),
    "away": Act(10, _choose_away, _do_away),
    "stop": Act(3, _choose_stop, _do_stop),
}
