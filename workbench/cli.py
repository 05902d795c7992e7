"""The command line: what may be typed, and what a failure looks like.

Imports neither Qt nor CuPy, numba or OpenCV: `--help` and `--version` answer at once, and a
command's own module is imported when it is the one to run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from workbench import __version__, qt_libraries
from workbench.commands import CommandError
from workbench.modes import MODES

FAILED, USAGE, INTERRUPTED = 1, 2, 130
LISTS = ("filters", "borders", "implementations", "presets")
BENCHES = ("startup", "latency", "display", "frames", "kernels", "timing")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words`, by default the process's own; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal without × or µ shows a question mark instead of failing.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = run(parse(sys.argv[1:] if words is None else words))
        sys.stdout.flush()  # here, where a broken pipe is expected, rather than at the very end
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # as in `workbench list | head -1`; nobody is left to be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def run(arguments: argparse.Namespace) -> int:
    """Run the parsed command; an expected failure becomes a sentence on stderr."""
    from kernels.errors import BadJobError, KernelError

    try:
        command = importlib.import_module(f"workbench.commands.{arguments.command}")
        return int(command.run(arguments))
    except CommandError as error:
        return _complain(error, error.exit_code)
    except BadJobError as error:
        return _complain(error, USAGE)
    except KernelError as error:
        return _complain(error, FAILED)
    except ImportError as error:
        if "PySide6" not in (error.name or ""):
            raise
        missing = qt_libraries.why_no_window(qt_libraries.platform())
        return _complain(missing or f"Qt does not load ({error}); install it again.", FAILED)


def _complain(sentence: object, exit_code: int) -> int:
    print(f"workbench: {sentence}", file=sys.stderr)
    return exit_code


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments, with `command` naming a module of `workbench.commands`.

    Raises SystemExit for --help, --version, and for words that make no sense.
    """
    if words and words[0] in COMMANDS:
        name, rest = words[0], words[1:]
        summary, add_arguments = COMMANDS[name]
        parser = _Parser(prog=f"workbench {name}", description=summary)
    else:
        name, rest = "window", words
        parser = _Parser(prog="workbench", description=DESCRIPTION, epilog=_epilog())
        parser.add_argument("--version", action="version", version=f"workbench {__version__}")
        add_arguments = _add_window_arguments
    add_arguments(parser)
    arguments = parser.parse_intermixed_args(rest)
    if name == "window":
        _refuse_unknown_command(parser, arguments.images)
    arguments.command = name
    return arguments


# argparse's messages -> ours; the types below begin theirs with "takes".
PLAINER = (
    (r"^argument (\S+): expected one argument$", r"\1 needs a value"),
    (r"^argument (\S+): ignored explicit argument (.*)$", r"\1 takes no value, not \2"),
    (r"^argument (\S+): ", r"\1 "),
    (r"^the following arguments are required: ", "missing: "),
    (r"^unrecognized arguments: ", "cannot make sense of "),
)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without repeating the usage."""

    def __init__(self, **keywords: str) -> None:
        super().__init__(
            **keywords,  # type: ignore[arg-type]
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        for pattern, words in PLAINER:
            message = re.sub(pattern, words, message)
        self.exit(USAGE, f"{self.prog}: {message}; `{self.prog} --help` shows what there is.\n")


def _refuse_unknown_command(parser: _Parser, images: list[Path]) -> None:
    """A bare word that is no file was meant to be a command."""
    for image in images:
        if re.fullmatch(r"[\w-]+", str(image)) and not image.exists():
            parser.error(f"there is no command or file {str(image)!r}")


def _add_window_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "images",
        metavar="IMAGE",
        nargs="*",
        type=Path,
        help="a picture to open; sessions (.jsonl) and plans (.toml) as well",
    )
    _add_job_options(parser)
    _add_device_options(parser)


def _add_apply_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", metavar="IN", nargs="+", type=Path, help="pictures to filter")
    parser.add_argument(
        "output", metavar="OUT", help="file to write, or folder; a new one ends with /"
    )
    _add_job_options(parser)
    _add_device_options(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check every pixel against the float64 oracle; without it, a second's worth of them",
    )
    parser.add_argument(
        "--quality",
        metavar="N",
        type=_quality,
        help="of JPEG and WebP, 1 to 100 (default: JPEG 95, WebP without loss)",
    )
    parser.add_argument(
        "--reduce",
        action="store_true",
        help="round to 8 bits, and put what is transparent on white, where OUT cannot hold it",
    )


def _add_shot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("output", metavar="OUT.png", type=Path, help="PNG file to write")
    parser.add_argument(
        "image", metavar="IMAGE", nargs="?", type=Path, help="picture; by default the bundled one"
    )
    parser.add_argument(
        "--size-px",
        metavar="WxH",
        type=_pair,
        default=(1440, 900),
        help="size of the window (default: 1440x900)",
    )
    parser.add_argument(
        "--theme",
        metavar="{system,light,dark}",
        type=_one_of("system", "light", "dark"),
        default="system",
        help="default: system",
    )
    parser.add_argument(
        "--baseline", metavar="NAME", help="what the speed-up is against (default: opencv)"
    )
    parser.add_argument(
        "--mode",
        metavar="NAME,…",
        type=_modes,
        default=(),
        help=f"what to show: {_in_words(list(MODES))}; several one after the other: wipe,anatomy",
    )
    parser.add_argument(
        "--at", metavar="X,Y", type=_pixel, help="pixel to look at (default: the middle)"
    )
    parser.add_argument(
        "--zoom", metavar="S", type=_positive_number, help="screen pixels a pixel, looking closely"
    )
    _add_job_options(parser)
    _add_device_options(parser)


def _add_bench_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bench",
        metavar="BENCH",
        type=_one_of(*BENCHES),
        help=f"what to measure: {_in_words(BENCHES)}",
    )
    parser.add_argument(
        "--runs", metavar="N", type=_positive, help="how often to repeat it; of the window's"
    )
    options = parser.add_argument_group("kernels; of timing, --cells and --json")
    options.add_argument("--peers", action="store_true", help="time other libraries as well")
    options.add_argument(
        "--quick", action="store_true", help="only what auto picks, and its second choice"
    )
    options.add_argument(
        "--cells", metavar="PATTERN", help='such as "gaussian float32": those whose name fits'
    )
    options.add_argument(
        "--sizes", metavar="K,K", type=_sizes, help="of the weights: 3,5,7; default: all there are"
    )
    options.add_argument(
        "--json", metavar="FILE", type=Path, help="write everything that was measured there"
    )
    _add_device_options(parser)


def _add_tune_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = TUNE_HELP
    options = parser.add_argument_group("kinds of jobs; several with commas between")
    options.add_argument(
        "--filter", metavar="NAME,…", type=_names, help="filters' names, or random"
    )
    options.add_argument("--size", metavar="K,…", type=_sizes, help="K×K weights, K odd")
    options.add_argument(
        "--pixel-type", metavar="TYPE,…", type=_names, help="uint8, uint16, float16 or float32"
    )
    options.add_argument("--channels", metavar="N,…", type=_all_channels, help="1 to 4")
    options.add_argument("--picture", metavar="WxH,…", type=_pairs, help="sizes in pixels")
    options.add_argument("--border", metavar="NAME,…", type=_names, help="default: clamp")
    parser.add_argument(
        "--quick", action="store_true", help="fewer kinds, and each rung in its usual block shape"
    )
    parser.add_argument(
        "--missing", action="store_true", help="only kinds of which nothing is known yet"
    )
    _add_device_options(parser)


def _add_launch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = LAUNCH_HELP
    options = parser.add_argument_group("what to launch (`workbench list` shows the names)")
    options.add_argument(
        "--implementation", metavar="RUNG", required=True, help="its name, or auto"
    )
    options.add_argument(
        "--block",
        metavar="XxY",
        type=_pair,
        default=(32, 8),
        help="CUDA threads a block (default: 32x8)",
    )
    _add_made_picture_options(options)
    options.add_argument(
        "--filter",
        metavar="NAME",
        default="gaussian",
        help="a filter's name, or random (default: gaussian)",
    )
    options.add_argument(
        "--size", metavar="K", type=_size, default=5, help="K×K weights, K odd (default: 5)"
    )
    _add_device_options(parser)


def _add_made_picture_options(options: argparse._ArgumentGroup) -> None:
    """A picture of noise."""
    options.add_argument(
        "--picture", metavar="WxH", type=_pair, default=(4096, 4096), help="default: 4096x4096"
    )
    options.add_argument(
        "--pixel-type",
        metavar="TYPE",
        type=_one_of("uint8", "uint16", "float16", "float32"),
        default="float32",
        help="uint8, uint16, float16 or float32 (default)",
    )
    options.add_argument("--channels", metavar="N", type=_channels, default=1, help="1 to 4")
    options.add_argument("--border", metavar="NAME", default="clamp", help="default: clamp")


def _add_sweep_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = SWEEP_HELP
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
        "--implementations", metavar="NAME,…", type=_names, help="these instead of the plan's"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the session that DIR holds"
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=_positive_number,
        help="give a cell up whose first run takes longer (default: as the plan says)",
    )
    _add_device_options(parser)


def _add_report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = REPORT_HELP
    parser.add_argument(
        "sessions", metavar="SESSION", nargs="+", type=Path, help="folder or .jsonl of a sweep"
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="folder to write into (default: the first one's)"
    )


def _add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = COMPARE_HELP
    for name in ("a", "b"):
        parser.add_argument(
            name, metavar=name.upper(), type=Path, help="folder or .jsonl of a sweep"
        )
    parser.add_argument("--csv", metavar="FILE", type=Path, help="write the table there as well")


def _add_list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="WHAT",
        nargs="?",
        type=_one_of(*LISTS),
        help=f"only {_in_words(LISTS)} (default: all)",
    )
    _add_device_options(parser)


def _add_no_arguments(parser: argparse.ArgumentParser) -> None:
    _add_device_options(parser)


def _add_job_options(parser: argparse.ArgumentParser) -> None:
    """What to compute and how; `workbench list` shows the names.  See `commands.choices`."""
    options = parser.add_argument_group("filtering (`workbench list` shows the names)")
    options.add_argument("--filter", metavar="NAME", help="default: gaussian")
    options.add_argument("--size", metavar="K", type=_size, help="K×K weights, K odd")
    options.add_argument("--sigma", metavar="S", type=_number, help="width of the bell, in pixels")
    options.add_argument("--amount", metavar="A", type=_number, help="strength of unsharp")
    options.add_argument(
        "--weights", metavar="ROWS", help='own weights: --weights="0 1 0; 1 -4 1; 0 1 0"'
    )
    options.add_argument(
        "--offset",
        metavar="O",
        type=_part_of_white,
        help="added to what --weights give, as a part of white: 1/2, or --offset=-0.25",
    )
    options.add_argument("--border", metavar="NAME", help="default: clamp")
    options.add_argument(
        "--pixel-type",
        metavar="TYPE",
        type=_one_of("uint8", "uint16", "float16", "float32"),
        help="uint8, uint16, float16 or float32: store the picture so first "
        "(default: as in its file)",
    )
    options.add_argument(
        "--implementation", metavar="NAME", help="default: the best that can run it"
    )
    options.add_argument(
        "--block", metavar="XxY", type=_pair, help="CUDA threads a block, such as 32x8"
    )


def _add_device_options(parser: argparse.ArgumentParser) -> None:
    options = parser.add_argument_group("GPU")
    options.add_argument(
        "--device", metavar="N", type=_natural, help="which GPU, from 0 (default: 0)"
    )
    options.add_argument("--no-gpu", action="store_true", help="as on a computer without one")


def _pair(text: str) -> tuple[int, int]:
    """ "32x8" as (32, 8)."""
    found = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text)
    if not found or "0" in found.groups():
        raise argparse.ArgumentTypeError(
            f"takes two numbers with an x between, such as 32x8, not {text!r}"
        )
    return int(found[1]), int(found[2])


def _size(text: str) -> int:
    """Which sizes there are, the filter knows."""
    if not re.fullmatch(r"[+-]?\d{1,9}", text):
        raise argparse.ArgumentTypeError(f"takes an odd number such as 5, not {text!r}")
    return int(text)


def _sizes(text: str) -> tuple[int, ...]:
    """ "3,5,7" as (3, 5, 7)."""
    return tuple(_size(each) for each in text.split(","))


def _names(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


def _pairs(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(_pair(each) for each in text.split(","))


def _all_channels(text: str) -> tuple[int, ...]:
    return tuple(_channels(each) for each in text.split(","))


def _channels(text: str) -> int:
    if text not in ("1", "2", "3", "4"):
        raise argparse.ArgumentTypeError(f"takes 1, 2, 3 or 4, not {text!r}")
    return int(text)


def _modes(text: str) -> tuple[str, ...]:
    return tuple(_one_of(*MODES)(name) for name in _names(text))


def _pixel(text: str) -> tuple[int, int]:
    """ "40,12" as (40, 12)."""
    found = re.fullmatch(r"(\d{1,5}),(\d{1,5})", text)
    if not found:
        raise argparse.ArgumentTypeError(f"takes two numbers such as 40,12, not {text!r}")
    return int(found[1]), int(found[2])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes a number such as 1.5, not {text!r}") from None


def _part_of_white(text: str) -> float:
    above, _, below = text.partition("/")
    number = _number(above) / (_number(below or "1") or float("nan"))
    if not -1 <= number <= 1:
        raise argparse.ArgumentTypeError(f"takes -1 to 1, such as 1/2 or 128/255, not {text!r}")
    return number


def _positive_number(text: str) -> float:
    number = _number(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"takes a number above 0, not {text!r}")
    return number


def _natural(text: str, least: int = 0) -> int:
    if not re.fullmatch(r"\d{1,18}", text) or int(text) < least:
        raise argparse.ArgumentTypeError(f"takes a whole number from {least} up, not {text!r}")
    return int(text)


def _positive(text: str) -> int:
    return _natural(text, 1)


def _quality(text: str) -> int:
    if not re.fullmatch(r"\d{1,3}", text) or not 1 <= int(text) <= 100:
        raise argparse.ArgumentTypeError(f"takes a whole number from 1 to 100, not {text!r}")
    return int(text)


def _one_of(*names: str) -> Callable[[str], str]:
    def choose(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"takes {_in_words(names)}, not {text!r}")
        return text

    return choose


def _in_words(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


DESCRIPTION = """\
See, time and verify image filters on the CPU and on a ladder of CUDA kernels.
Without a command: open the window, on the pictures if any are named."""

TUNE_HELP = """\
Ctrl+C ends it at any time: what was measured until then is kept."""

LAUNCH_HELP = """\
The launch stands in an NVTX range named after the rung, so that a profiler finds it:

  ncu --nvtx --nvtx-include "shared/" workbench launch --implementation shared --size 7
  nsys profile -t cuda,nvtx workbench launch --implementation auto --picture 8192x8192"""

SWEEP_HELP = """\
Ctrl+C ends it at any time: what was measured until then is kept, and --resume goes on from there.

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
the plan), channels, pixel_type, count, cache; and, of one value each, sigma, amount, transfers,
cell_seconds, tolerance, note, and for filter = "custom" matrix = "0 1 0; 1 -4 1; 0 1 0"."""

REPORT_HELP = """\
Writes report.html, which needs no network, tables.tex for LaTeX (booktabs), and results.csv.
Of a folder with several sessions, all are reported on; two of one plan are compared, cell by
cell."""

COMPARE_HELP = """\
Cells are compared that both have; on two machines, or at two times.  A ratio of 2 says that B takes
half the time of A.  What is wrong, or was not checked, has no speed."""

COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "apply": ("Filter picture files, and say how long it took.", _add_apply_arguments),
    "list": ("List what there is, and why what is missing cannot run here.", _add_list_arguments),
    "doctor": ("Say what is installed here, and what is missing.", _add_no_arguments),
    "shot": ("Draw the real window off screen into a PNG file.", _add_shot_arguments),
    "bench": ("Measure the window, or every rung, on this computer.", _add_bench_arguments),
    "tune": ("Measure every rung, so that auto picks the quickest.", _add_tune_arguments),
    "sweep": ("Measure a whole plan, such as a published table.", _add_sweep_arguments),
    "report": ("Write what sweeps measured as a page to hand in.", _add_report_arguments),
    "compare": ("Say what is faster in one sweep than in another.", _add_compare_arguments),
    "launch": ("Launch one rung once, for a profiler.", _add_launch_arguments),
}


def _epilog() -> str:
    lines = [f"  {name:<8}{summary}" for name, (summary, _) in COMMANDS.items()]
    return "\n".join(
        ["commands:", *lines, "", "`workbench COMMAND --help` says more.  Exit codes: 0 done, "]
    ) + ("1 failed, 2 not understood.")
