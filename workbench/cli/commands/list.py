"""`workbench list`: filters, borders, implementations and presets."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "what",
        metavar="WHAT",
        nargs="?",
        type=types.one_of(*options.LISTS),
        help=f"only {types.in_words(options.LISTS)} (default: all)",
    )
    options.add(parser, "json")
    options.add_device_options(parser)


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import available
    return available.run(arguments)
