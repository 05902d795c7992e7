"""`workbench compare`: two sessions, cell by cell."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options

HELP = """\
Cells are compared that both have; on two machines, or at two times.  A ratio of 2 says that B takes
half the time of A.  What is wrong, or was not checked, has no speed; where something disturbed a
time (*), there is no verdict."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    for name in ("a", "b"):
        parser.add_argument(
            name, metavar=name.upper(), type=Path, help="folder or .jsonl of a sweep"
        )
    options.add(parser, "csv")
    parser.add_argument(
        "--fail-slower",
        metavar="PERCENT",
        type=types.percentage,
        help="exit code 1 where a cell of B takes longer by more than that, and by more than two "
        "sessions of the same work differ (3%% on the GPU, 5%% under 10 µs, 15%% on the CPU), or "
        "has lost its time: refused now, wrong, or not there at all; a disturbed time fails "
        "nothing, and stderr says how many there were",
    )
    options.add(parser, "json")


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import compare_sessions
    return compare_sessions.run(arguments)
