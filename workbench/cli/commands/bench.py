"""Measure the rungs, the CPU's implementations or a batch here: `workbench bench NAME`."""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module

from workbench.cli.command_error import USAGE, CommandError
from workbench.cli.output_files import refuse_unwritable

# By the bench, the options that it takes; another's would be ignored.
TAKEN = {
    "kernels": ("peers", "quick", "cells", "sizes", "json"),
    "cpu": ("cells", "json"),
    "batch": ("runs", "peers", "json"),
}
OPTIONS = dict.fromkeys(option for each in TAKEN.values() for option in each)


def run(arguments: Namespace) -> int:
    """Run the bench, which prints its own tables."""
    idle = [name for name in OPTIONS if name not in TAKEN[arguments.bench]]
    if given := [f"--{name}" for name in idle if getattr(arguments, name)]:
        raise CommandError(f"bench {arguments.bench} does not take {', '.join(given)}.", USAGE)
    refuse_unwritable(arguments.json)
    return int(import_module(f"workbench.cli.benches.{arguments.bench}").run(arguments))
