"""`workbench tune`: measure every rung and block shape here, for `auto`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from workbench.base.importing import without_collecting
from workbench.cli import argument_types as types
from workbench.cli import options

HELP = """\
Ctrl+C ends it at any time: what was measured until then is kept."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    group = parser.add_argument_group("kinds of jobs; several with commas between")
    group.add_argument(
        "--filter", metavar="NAME,…", type=types.name_list, help="filters' names, or random"
    )
    group.add_argument("--size", metavar="K,…", type=types.sizes, help="K×K weights, K odd")
    group.add_argument(
        "--pixel-type",
        metavar="TYPE,…",
        type=types.name_list,
        help="uint8, uint16, float16 or float32",
    )
    group.add_argument("--channels", metavar="N,…", type=types.all_channels, help="1 to 4")
    group.add_argument("--picture", metavar="WxH,…", type=types.pairs, help="sizes in pixels")
    group.add_argument("--border", metavar="NAME,…", type=types.name_list, help="default: clamp")
    parser.add_argument(
        "--quick", action="store_true", help="fewer kinds, and each rung in its usual block shape"
    )
    parser.add_argument(
        "--missing", action="store_true", help="only kinds of which nothing is known yet"
    )
    options.add(parser, "json")
    options.add_device_options(parser)


def run(arguments: Namespace) -> int:
    """Import what it takes, and run."""
    with without_collecting():
        from workbench.cli import tune_rungs
    return tune_rungs.run(arguments)
