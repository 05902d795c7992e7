"""`workbench bench NAME`: the benches that users run, a module each with `run(arguments)`."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable
from importlib import import_module

from workbench.cli.output import USAGE, CommandError, refuse_unwritable

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


def fitting(pattern: str | None) -> Callable[[str], object]:
    """Create the test of a cell's name against --cells.  Raises CommandError."""
    try:
        return re.compile(pattern or "").search
    except re.error as error:
        raise CommandError(f"--cells takes a regular expression: {error}.", USAGE) from error
