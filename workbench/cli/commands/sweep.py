"""`workbench sweep`: measure a plan, cell by cell, into a folder."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options

HELP = """\
Every cell is measured in ten rounds, a part at a time, with all others in between.  Ctrl+C ends it
at any time: what was measured until then is kept, and --resume measures the rest.

  workbench sweep camerino_image_size
  workbench sweep mine.toml --out results/ --implementations sequential,opencv,shared

A plan is TOML.  A key takes one value or a list of them, and all combinations are measured; what
is left out, but for title and implementation, has its usual value:

  title = "Shared memory against registers"
  implementation = ["shared", "register_tile"]
  size = [256, 1024, "1920x1080"]
  kernel_size = [3, 5, 7]
  block = ["16x16", "32x8"]

More keys: filter, border, picture (noise, photo, uniform, checkerboard, gradient, or a file beside
the plan), channels, pixel_type, count, cache, devices (how many GPUs share a picture's rows); and,
of one value each, sigma, amount, transfers, cell_seconds, tolerance, note, and for filter =
"custom" matrix = "0 1 0; 1 -4 1; 0 1 0".

An implementation may be a user kernel, by its file: ./mine.cu of --implementations, or one
beside the plan.  It is measured on the GPU alone, in a process that it may crash, and has a time
only where its answers are right; the session keeps the SHA-256 of its text."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    parser.add_argument(
        "plan",
        metavar="PRESET|FILE.toml",
        help="what to measure: a preset (`workbench list presets`), or a file",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder to write session.jsonl and session.csv into (default: a new one here)",
    )
    parser.add_argument(
        *("--implementations", "--implementation"),
        metavar="NAME,…",
        type=types.name_list,
        help="these instead of the plan's; ./mine.cu is a user kernel",
    )
    options.add(parser, "unconfined")
    parser.add_argument("--resume", action="store_true", help="resume the session that DIR holds")
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=types.positive_number,
        help="give a cell up whose first run takes longer (default: as the plan says); exit code 1 "
        "only where no cell is left with a time",
    )
    options.add(parser, "json")
    options.add_device_options(parser)


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import measure_plan
    return measure_plan.run(arguments)
