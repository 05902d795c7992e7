"""Benches that users run, a module each with `run(arguments)`: `workbench bench NAME`."""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.cli.output import USAGE, CommandError


def fitting(pattern: str | None) -> Callable[[str], object]:
    """Return the test of a cell's name against --cells.  Raises CommandError."""
    try:
        return re.compile(pattern or "").search
    except re.error as error:
        raise CommandError(f"--cells takes a regular expression: {error}.", USAGE) from error
