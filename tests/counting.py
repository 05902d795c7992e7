"""Count what a program does, which says more surely than a clock whether it does too much."""

import sys
from collections import Counter

from PySide6.QtCore import QObject


def calls(act):
    """How often each function and method, of Python or of Qt, is called in this thread by `act`."""
    counts = Counter()

    def note(frame, event, function):
        if event == "call":
            counts[frame.f_code.co_name] += 1
        elif event == "c_call":
            counts[function.__name__] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return counts


class Events(QObject):
    """A counter of the events of a kind that some objects get."""

    def __init__(self, kind, *watched):
        super().__init__(watched[0])
        self._kind, self.count = kind, 0
        for each in watched:
            each.installEventFilter(self)

    def eventFilter(self, _watched, event):  # noqa: N802
        self.count += event.type() == self._kind
        return False
