"""Docks, sizes, dialogs, and what runs in the background."""

from PySide6.QtCore import QSize

from tests.soak import finding
from tests.soak.acts.act import Act, one_of

SIZES = ((640, 480), (1024, 700), (1280, 800), (1600, 900), (1920, 1080))


def _choose_panel(rng, stage):
    what = rng.choice(("hide", "show", "enlarge", "rail", "wider"))
    return rng.choice(sorted(stage.window.docks)), what, rng.choice((200, 400, 700))


def _do_panel(stage, title, what, width):
    docks = stage.window.docks
    if what == "enlarge":
        docks.enlarge(title)
    elif what == "rail":
        docks.toggle(title)
    elif what == "wider":
        docks.set_widths({"right": width})
    else:
        docks.set_open(title, what == "show")


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
    """Let no sweep or comparison run for long."""
    stage.window.worker.sweep.cancel()
    stage.window.worker.comparison.cancel()


ACTS = {
    "dock": Act(5, _choose_panel, _do_panel),
    "size": Act(2, _choose_size, _do_size),
    "away": Act(10, _choose_away, _do_away),
    "stop": Act(3, _choose_stop, _do_stop),
}
