"""One line on a terminal that says what is under way, and goes again."""

from __future__ import annotations

import shutil
import sys


def say(doing: str) -> None:
    """Where stderr is a terminal, `doing` instead of what was said before; "" clears the line."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1  # a line that wraps could not be cleared
        print(f"\r\x1b[K{doing[:width]}", end="", file=sys.stderr, flush=True)
