"""`workbench bench NAME`: the benches that users run, a module each with `run(arguments)`."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable
from importlib import import_module
from typing import TypeVar

from workbench.cli.output import USAGE, CommandError, refuse_unwritable

T = TypeVar("T")
# By the bench, the options that it takes; another's would be ignored.
TAKEN = {
    "kernels": ("peers", "quick", "cells", "sizes", "json"),
    "cpu": ("cells", "json"),
    "batch": ("runs", "peers", "json"),
}
OPTIONS = ("runs", "peers", "quick", "cells", "sizes", "json")


def run(arguments: Namespace) -> int:
    """Run the bench, which prints its own tables."""
    idle = [name for name in OPTIONS if name not in TAKEN[arguments.bench]]
    if given := [f"--{name}" for name in idle if getattr(arguments, name)]:
        raise CommandError(f"bench {arguments.bench} does not take {', '.join(given)}.", USAGE)
    refuse_unwritable(arguments.json)
    return int(import_module(f"workbench.cli.benches.{arguments.bench}").run(arguments))


def chosen(pattern: str | None, cells: Iterable[T]) -> list[T]:
    """Select the cells whose name fits --cells.  Raises CommandError."""
    cells = list(cells)
    try:
        fits = re.compile(pattern or "").search
    except re.error as error:
        raise CommandError(f"--cells takes a regular expression: {error}.", USAGE) from error
    if not (found := [each for each in cells if fits(str(each))]):
        raise CommandError(f"No cell fits; there are such as {cells[0]} and {cells[-1]}.", USAGE)
    return found
