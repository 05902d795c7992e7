"""Options that several commands take; imports nothing that takes long."""

from __future__ import annotations

from argparse import ArgumentParser, _ActionsContainer, _ArgumentGroup
from pathlib import Path
from typing import Any

from workbench.cli import argument_types as types
from workbench.files.picture_errors import EXTENSION_OF

WINDOW_SIZE = (1440, 900)  # of a shot
LISTS = ("filters", "borders", "implementations", "presets")
PIXEL_TYPES = ("uint8", "uint16", "float16", "float32")
FLAG = "store_true"
COMMON: dict[str, dict[str, Any]] = {
    "json": {"action": FLAG, "help": "print a document of JSON instead"},
    "csv": {"metavar": "FILE", "type": Path, "help": "write the table there as well"},
    "progress": {
        "action": FLAG,
        "help": "say on stderr what is under way, where that is no terminal, too",
    },
    "unconfined": {
        "action": FLAG,
        "help": "run a user kernel on the CPU though this system cannot keep it from your files",
    },
    "no-gpu": {"action": FLAG, "help": "as on a computer without one"},
    "device": {"metavar": "N", "type": types.natural, "help": "which GPU, from 0 (default: 0)"},
    "weights": {"metavar": "ROWS", "help": 'own weights: --weights="0 1 0; 1 -4 1; 0 1 0"'},
    "offset": {
        "metavar": "O",
        "type": types.part_of_white,
        "help": "added to what --weights give, as a part of white: 1/2, or --offset=-0.25",
    },
    "block": {
        "metavar": "XxY",
        "type": types.pair,
        "default": (32, 8),
        "help": "CUDA threads per block (default: 32x8)",
    },
    "channels": {"metavar": "N", "type": types.channels, "default": 1, "help": "1 to 4"},
}


def add(options: _ActionsContainer, *names: str) -> None:
    """Add options of COMMON."""
    for name in names:
        options.add_argument(f"--{name}", **COMMON[name])


def add_job_options(parser: ArgumentParser) -> None:
    """Add the filter and its implementation; `workbench list` shows the names."""
    options = parser.add_argument_group("filtering (`workbench list` shows the names)")
    options.add_argument("--filter", metavar="NAME", help="default: gaussian")
    options.add_argument("--size", metavar="K", type=types.size, help="K×K weights, K odd")
    options.add_argument(
        "--sigma",
        metavar="S",
        type=types.number,
        help="standard deviation of the bell in pixels; without --size K holds 99 %% of it, or is "
        "the largest",
    )
    options.add_argument("--amount", metavar="A", type=types.number, help="strength of unsharp")
    add(options, "weights", "offset")
    options.add_argument("--border", metavar="NAME", help="default: clamp")
    options.add_argument(
        "--pixel-type",
        metavar="TYPE",
        type=types.one_of(*PIXEL_TYPES),
        help=f"{types.in_words(PIXEL_TYPES)}: store the picture so first (default: as in its file)",
    )
    options.add_argument(
        "--implementation",
        metavar="NAME",
        help="or ./mine.cu, a user kernel (default: the best that can run it)",
    )
    add(options, "unconfined")
    options.add_argument(
        "--block", metavar="XxY", type=types.pair, help="CUDA threads per block, such as 32x8"
    )


def add_sample_options(options: _ArgumentGroup) -> None:
    """Add what a rung is compiled for, beside its weights and block."""
    options.add_argument(
        "--pixel-type",
        metavar="TYPE",
        type=types.one_of(*PIXEL_TYPES),
        default="float32",
        help=f"{types.in_words(PIXEL_TYPES)} (default)",
    )
    add(options, "channels")
    options.add_argument("--border", metavar="NAME", default="clamp", help="default: clamp")


def add_device_options(parser: ArgumentParser) -> None:
    """Add the choice of one GPU, or none."""
    add(parser.add_argument_group("GPU"), "device", "no-gpu")


def add_devices_options(parser: ArgumentParser, shared: str) -> None:
    """Add the choice of GPUs; several share `shared`."""
    options = parser.add_argument_group("GPU")
    options.add_argument(
        "--device",
        dest="devices",
        metavar="N,…",
        type=types.devices,
        help=f"which GPU, from 0 (default: 0); 0,1 or all: several share {shared}",
    )
    add(options, "no-gpu")


def add_file_options(parser: ArgumentParser, elsewhere: str = "") -> _ArgumentGroup:
    """Add how pictures are read and written; return the group, for more of them."""
    options = parser.add_argument_group("files")
    options.add_argument("--recursive", action=FLAG, help="look into the folders in folders, too")
    options.add_argument(
        "--format",
        metavar="NAME",
        type=types.one_of(*EXTENSION_OF),
        help=f"{types.in_words(list(EXTENSION_OF))}: of what is written into a folder "
        f"(default: as in the input's name){elsewhere}",
    )
    options.add_argument(
        "--quality",
        metavar="N",
        type=types.quality,
        help="of JPEG and WebP, 1 to 100 (default: JPEG 95, WebP without loss)",
    )
    options.add_argument(
        "--reduce",
        action=FLAG,
        help="round to 8 bits, and put what is transparent on white, where OUT cannot hold it",
    )
    options.add_argument(
        "--memory",
        metavar="SIZE",
        type=types.memory,
        help="filter a TIFF that takes more, such as 2G or 500M, in strips that do not (default: "
        "one that takes more than is free)",
    )
    return options


def add_replacing_options(options: _ArgumentGroup, *, is_default: bool) -> None:
    """Add --replace and its opposite."""
    does, does_not = (" (default)", "") if is_default else ("", " (default)")
    options.add_argument(
        "--replace", action=FLAG, default=is_default, help=f"replace existing files{does}"
    )
    options.add_argument(
        *("--no-replace", "--no-clobber"),
        dest="replace",
        action="store_false",
        help=f"leave them alone{does_not}",
    )


def add_reporting_options(parser: ArgumentParser, check_every: int, in_words: str) -> None:
    """Add what is verified, and what is printed meanwhile.

    check_every  of so many pictures one is verified where nothing else is chosen
    """
    options = parser.add_argument_group("what is checked and said")
    options.add_argument(
        "--verify",
        metavar="all|N|none",
        type=types.verifying,
        default=types.Verifying(check_every),
        help="verify all, every Nth or no results against the float64 reference (default: "
        f"{in_words}), of a large one a second's worth of pixels; without a value every pixel of "
        "all",
    )
    options.add_argument("--json", action=FLAG, help="a line of JSON for each picture")
    add(options, "progress")
    options.add_argument(
        "--control",
        action=FLAG,
        help="for programs: --json with lines on the progress, and standard input takes pause, "
        "resume and stop, a line each; where it ends, that is a stop",
    )
