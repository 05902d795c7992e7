"""Measure the rungs, the CPU's implementations or a batch here: `workbench bench NAME`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module
from pathlib import Path

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options
from workbench.cli.output import USAGE, CommandError, refuse_unwritable

# By the bench, the options that it takes; another's would be ignored.
TAKEN = {
    "kernels": ("peers", "quick", "cells", "sizes", "json"),
    "cpu": ("cells", "json"),
    "batch": ("runs", "peers", "json"),
}
OPTIONS = dict.fromkeys(option for each in TAKEN.values() for option in each)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "bench",
        metavar="BENCH",
        type=types.one_of(*TAKEN),
        help=f"what to measure: {types.in_words(list(TAKEN))}",
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=types.positive,
        help="of batch: files of each format",
    )
    group = parser.add_argument_group(
        "kernels; cpu takes --cells and --json, batch --peers and --json"
    )
    group.add_argument(
        "--peers", action="store_true", help="time other libraries and programs as well"
    )
    group.add_argument(
        "--quick", action="store_true", help="only what auto picks, and its second choice"
    )
    group.add_argument(
        "--cells", metavar="PATTERN", help='such as "gaussian float32": those whose name fits'
    )
    group.add_argument(
        "--sizes",
        metavar="K,K",
        type=types.sizes,
        help="of the weights: 3,5,7; default: all there are",
    )
    group.add_argument(
        "--json", metavar="FILE", type=Path, help="write everything that was measured there"
    )
    options.add_device_options(parser)


def run(arguments: Namespace) -> int:
    """Run the bench, which prints its own tables."""
    idle = [name for name in OPTIONS if name not in TAKEN[arguments.bench]]
    if given := [f"--{name}" for name in idle if getattr(arguments, name)]:
        raise CommandError(f"bench {arguments.bench} does not take {', '.join(given)}.", USAGE)
    refuse_unwritable(arguments.json)
    with without_collecting():
        bench = import_module(f"workbench.cli.benches.{arguments.bench}")
    return int(bench.run(arguments))
