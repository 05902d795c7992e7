"""Progress on stderr: one line on a terminal, which goes again; or a line each."""

from __future__ import annotations

import re
import shutil
import sys

from kernels.core.plain_data import without_controls


def say(doing: str) -> None:
    """Show `doing` on stderr, if it is a terminal, in place of the last; "" clears the line."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1  # a line that wraps could not be cleared
        print(f"\r\x1b[K{doing[:width]}", end="", file=sys.stderr, flush=True)


class ProgressLine:
    """A line on stderr that says what is under way, and nothing twice.

    anywhere  where stderr is no terminal, too: a line each then, without percentages
    """

    def __init__(self, anywhere: bool = False) -> None:
        self._anywhere = anywhere
        self._said = ""

    def say(self, doing: str) -> None:
        """Show `doing`, such as "photo.png: reading"; "" where another kind of line comes next."""
        is_terminal, doing = sys.stderr.isatty(), without_controls(doing)  # it names files
        if not is_terminal:
            doing = re.sub(r"[:,] \d+[ \u202f]?%$", "", doing)
        if doing == self._said:
            return
        self._said = doing
        if is_terminal:
            say(doing)
        elif self._anywhere and doing:
            print(doing, file=sys.stderr, flush=True)
