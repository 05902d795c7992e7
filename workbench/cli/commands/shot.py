"""`workbench shot`: draw the window, in any mode, off screen into a PNG file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options
from workbench.model.modes import MODES


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("output", metavar="OUT.png", type=Path, help="PNG file to write")
    parser.add_argument(
        "image", metavar="IMAGE", nargs="?", type=Path, help="picture; by default the bundled one"
    )
    parser.add_argument(
        "--size-px",
        metavar="WxH",
        type=types.window_size,
        default=options.WINDOW_SIZE,
        help="size of the window (default: 1440x900)",
    )
    parser.add_argument(
        "--theme",
        metavar="{system,light,dark}",
        type=types.one_of("system", "light", "dark"),
        default="system",
        help="default: system",
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="what the speed-up is against (default: opencv)"
    )
    parser.add_argument(
        "--mode",
        metavar="NAME,…",
        type=types.modes,
        default=(),
        help=f"what to show: {types.in_words(list(MODES))}; "
        "several one after the other: wipe,anatomy",
    )
    parser.add_argument(
        "--at", metavar="X,Y", type=types.pixel, help="pixel to look at (default: the middle)"
    )
    parser.add_argument(
        "--zoom",
        metavar="S",
        type=types.positive_number,
        help="screen pixels per pixel, looking closely",
    )
    options.add_job_options(parser)
    options.add_devices_options(parser, "the rows of the picture")


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import draw_window
    return draw_window.run(arguments)
