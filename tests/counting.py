"""Count what a program does, which says more surely than a clock whether it does too much."""

import sys
from collections import Counter


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
