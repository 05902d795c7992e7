"""Options of the command line as data, and those that several commands take."""

from __future__ import annotations

from argparse import _ActionsContainer
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from workbench.cli import argument_types as types
from workbench.files.formats import EXTENSION_OF

WINDOW_SIZE = (1440, 900)  # of a shot
PIXEL_TYPES = ("uint8", "uint16", "float16", "float32")


class Option(NamedTuple):
    """The arguments of one call of `add_argument`."""

    names: tuple[str, ...]
    keywords: dict[str, Any]

    def add_to(self, options: _ActionsContainer) -> None:
        """Add it to a parser or a group."""
        options.add_argument(*self.names, **self.keywords)


Groups = dict[str, tuple[Option, ...]]  # by heading; "" for those without one


def option(
    words: str, explanation: str, parse: Callable[[str], Any] | None = None, **more: Any
) -> Option:
    """Describe an option, a flag or a positional argument.

    words  "--size K", "--json" for a flag, "inputs IN" for a positional argument
    more   further keywords of `add_argument`
    """
    *names, last = words.split()
    if last.startswith("-"):
        return Option((*names, last), {"action": "store_true", "help": explanation, **more})
    return Option(
        tuple(names), {"metavar": last, "type": parse or str, "help": explanation, **more}
    )


JSON = option("--json", "print one JSON document instead")
CSV = option("--csv FILE", "write the table to a file as well", Path)
PROGRESS = option("--progress", "print progress on stderr even where it is no terminal")
UNCONFINED = option(
    "--unconfined",
    "run a user kernel on the CPU even where this system cannot keep it from your files",
)
NO_GPU = option("--no-gpu", "run as on a computer without a GPU")
DEVICE: Groups = {
    "GPU": (
        option("--device N", "number of the GPU, from 0 (default: 0)", types.natural),
        NO_GPU,
    )
}
WEIGHTS = (
    option("--weights ROWS", 'own weights: --weights="0 1 0; 1 -4 1; 0 1 0"'),
    option(
        "--offset O",
        "added to the result of --weights, as a part of white: 1/2, or --offset=-0.25",
        types.part_of_white,
    ),
)
BLOCK = option("--block XxY", "CUDA threads per block (default: 32x8)", types.pair, default=(32, 8))
SAMPLES = (
    option(
        "--pixel-type TYPE",
        f"{types.in_words(PIXEL_TYPES)} (default)",
        types.one_of(*PIXEL_TYPES),
        default="float32",
    ),
    option("--channels N", "1 to 4 (default: 1)", types.channels, default=1),
    option("--border NAME", "default: clamp", default="clamp"),
)
JOB: Groups = {
    "filtering (`workbench list` shows the names)": (
        option("--filter NAME", "default: gaussian"),
        option("--size K", "K×K weights, K odd", types.size),
        option(
            "--sigma S",
            "standard deviation in pixels; without --size, K holds 99 %% of the bell, or is the "
            "largest",
            types.number,
        ),
        option("--amount A", "strength of unsharp", types.number),
        *WEIGHTS,
        option("--border NAME", "default: clamp"),
        option(
            "--pixel-type TYPE",
            f"{types.in_words(PIXEL_TYPES)}: convert the picture first (default: as in its file)",
            types.one_of(*PIXEL_TYPES),
        ),
        option(
            "--implementation NAME",
            "or ./mine.cu, a user kernel (default: the best that can run the job)",
        ),
        UNCONFINED,
        option("--block XxY", "CUDA threads per block, such as 32x8", types.pair),
    )
}


def devices(shared: str) -> Groups:
    """Describe the choice of GPUs; several share `shared`."""
    which = f"number of the GPU, from 0 (default: 0); 0,1 or all: several share {shared}"
    return {"GPU": (option("--device N,…", which, types.devices, dest="devices"), NO_GPU)}


def files(*more: Option, replaces: bool, elsewhere: str = "") -> Groups:
    """Describe how pictures are read and written.

    replaces   existing files, unless told otherwise
    elsewhere  another default of --format
    """
    does, does_not = (" (default)", "") if replaces else ("", " (default)")
    return {
        "files": (
            option("--recursive", "include subfolders"),
            option(
                "--format NAME",
                f"{types.in_words(list(EXTENSION_OF))}: of results in a folder (default: as the "
                f"input){elsewhere}",
                types.one_of(*EXTENSION_OF),
            ),
            option(
                "--quality N",
                "of JPEG and WebP, 1 to 100 (default: JPEG 95, WebP lossless)",
                types.quality,
            ),
            option(
                "--reduce",
                "round to 8 bits and put transparent pixels on white, if OUT can hold no more",
            ),
            option(
                "--memory SIZE",
                "filter a TIFF that takes more, such as 2G or 500M, in strips that take less "
                "(default: the free memory)",
                types.memory,
            ),
            option("--replace", f"replace existing files{does}", default=replaces),
            option(
                "--no-replace --no-clobber",
                f"keep existing files{does_not}",
                dest="replace",
                action="store_false",
            ),
            *more,
        )
    }


def reporting(check_every: int, default: str) -> Groups:
    """Describe what is verified and printed.

    check_every  by default 1 of this many pictures is verified, which help calls `default`
    """
    return {
        "checks and messages": (
            option(
                "--verify all|N|none",
                f"verify all, every Nth or no results against the float64 reference (default: "
                f"{default}), of a large one a second's worth of pixels; without a value every "
                "pixel of all",
                types.verifying,
                default=types.Verifying(check_every),
            ),
            option("--json", "print a line of JSON for each picture"),
            PROGRESS,
            option(
                "--control",
                "for programs: --json with lines on the progress; standard input takes the lines "
                "pause, resume and stop, and its end stops as well",
            ),
        )
    }
