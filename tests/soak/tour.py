"""Everything once, so that what is made at its first use is made before anything is counted."""

from PySide6.QtWidgets import QApplication

from tests.soak import finding
from tests.soak.acts.keys import LEAVES

LONG_MS, SHORT_MS = 300, 60
# Without sessions there is no report, and nothing to compare.
LEFT_OUT = (*LEAVES, "Close all sessions")
SLOW = ("Start or cancel sweep", "Block shapes, live", "Measure the ladder, or cancel")


def tour(stage):
    """Open every file, choose every line of the menus; yields milliseconds to wait."""
    window = stage.window
    for name, path in sorted(stage.files.items()):
        window.open_paths([path])
        yield LONG_MS if "." not in name else SHORT_MS
    for name in [each for each in finding.actions(window) if each not in LEFT_OUT]:
        if action := finding.actions(window).get(name):
            action.trigger()
        yield LONG_MS if name in SLOW else SHORT_MS
        while dialog := QApplication.activeModalWidget():
            dialog.reject()
            yield SHORT_MS
