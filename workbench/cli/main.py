"""The command line: what may be typed, and what a failure looks like.

Imports neither Qt nor CuPy, numba or OpenCV, nor do the modules in `commands` before they run:
`--help` and `--version` answer at once.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from errno import ENAMETOOLONG
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from workbench.base import qt_libraries
from workbench.base.importing import other_kernels
from workbench.cli.argument_types import HOW_MANY
from workbench.cli.output import FAILED, INTERRUPTED, USAGE, CommandError, complain

# By the module of `commands`; the window has no name.
COMMANDS = {
    "apply": "Filter picture files, and say how long it took.",
    "batch": "Filter folders of pictures, as fast as files allow.",
    "list": "List what there is, and why what is missing cannot run here.",
    "doctor": "Say what is installed here, and what is missing.",
    "shot": "Draw the real window off screen into a PNG file.",
    "bench": "Measure every rung, the CPU, or a batch, on this computer.",
    "tune": "Measure every rung, so that auto picks the quickest.",
    "sweep": "Measure a whole plan, such as a published table.",
    "report": "Write what sweeps measured as a page to hand in.",
    "compare": "Say what is faster in one sweep than in another.",
    "check": "Compile and verify user kernels, or those of a course.",
    "source": "Print a kernel, or the PTX or SASS it becomes.",
    "launch": "Launch one rung once, for a profiler.",
}
DESCRIPTION = """\
See, time and verify image filters on the CPU and on a ladder of CUDA kernels.
Without a command: open the window, on the pictures if any are named."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words`, by default the process's own; return the exit code."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal without × or µ shows a question mark instead of failing.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        try:
            return run(parse(sys.argv[1:] if words is None else words))
        finally:
            sys.stdout.flush()  # here, where a failure is expected, rather than at the very end
    except ImportError as error:
        if not (error.name or "").startswith("kernels") or not (others := other_kernels()):
            raise
        return _complain(others[0], FAILED)
    except KeyboardInterrupt as stop:
        return getattr(stop, "exit_code", INTERRUPTED)
    except BrokenPipeError:  # as in `workbench list | head -1`; nobody is left to be told
        _discard_stdout()
        return FAILED
    except OSError as error:
        if not _stdout_is_full():
            raise
        _discard_stdout()
        return _complain(f"Cannot write to standard output: {error.strerror}.", FAILED)


def _open_closed_streams() -> None:
    """Open nothing in the place of standard streams that the caller closed.

    Else the next file that is opened would be one of them, and get what is printed.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - for good
            setattr(sys, name, stream)


def _stdout_is_full() -> bool:
    """Return whether standard output takes no more.

    An error of its own names no file that would tell.
    """
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def _discard_stdout() -> None:
    """Discard what is still to be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(arguments: argparse.Namespace) -> int:
    """Run the parsed command; return its exit code."""
    return exit_code_of(
        lambda: int(_module(arguments.command).run(arguments)), f"workbench {arguments.command}"
    )


def _module(command: str) -> Any:
    return importlib.import_module(f"workbench.cli.commands.{command}")


def exit_code_of(act: Callable[[], int], name: str) -> int:
    """Do `act`; print an expected failure as a sentence on stderr.

    name  what uses a GPU meanwhile, for other programs that wait for it
    """
    from kernels.core.device_turns import purpose
    from kernels.core.errors import BadJobError, KernelError, in_full

    try:
        with purpose(name):
            return act()
    except CommandError as error:
        return _complain(error, error.exit_code)
    except BadJobError as error:
        return _complain(error, USAGE)
    except KernelError as error:
        return _complain(in_full(error), FAILED)
    except OSError as error:
        if error.errno != ENAMETOOLONG or not isinstance(error.filename, str):
            raise
        name = f"{Path(error.filename).name[:40]}…"
        return _complain(f"No file can have a name as long as {name}; check it.", USAGE)
    except ImportError as error:
        if "PySide6" not in (error.name or ""):
            raise
        missing = qt_libraries.why_no_window(qt_libraries.platform())
        return _complain(missing or f"Qt does not load ({error}); install it again.", FAILED)


def _complain(sentence: object, exit_code: int) -> int:
    complain(sentence)
    return exit_code


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments, with `command` naming a module of `workbench.cli.commands`.

    Raises SystemExit for --help, --version, and for words that make no sense.
    """
    if words and words[0] in COMMANDS:
        name, rest = words[0], words[1:]
        parser = _Parser(prog=f"workbench {name}", description=COMMANDS[name])
    else:
        name, rest = "window", words
        parser = _Parser(prog="workbench", description=DESCRIPTION, epilog=_epilog())
        parser.add_argument(
            "--version", action=_Version, nargs=0, help="show the version and its commit, and exit"
        )
    _module(name).add_arguments(parser)
    parser.words = _with_values(_without_dashes(rest))
    arguments = parser.parse_intermixed_args(parser.words)
    if name == "window":
        _refuse_unknown_command(parser, arguments.images)
    arguments.command = name
    return arguments


def _without_dashes(words: Sequence[str]) -> list[str]:
    """Remove the --, behind which nothing is an option.

    argparse does not understand it where options and files are mixed.
    """
    if "--" not in words:
        return list(words)
    at = list(words).index("--")
    names = [f"./{each}" if re.match("-.", each) else each for each in words[at + 1 :]]
    return [*words[:at], *names]


def _with_values(words: Sequence[str]) -> list[str]:
    """Say where --verify has no value: argparse would take the file behind it for one."""
    return [
        f"{word}=" if word == "--verify" and not HOW_MANY.fullmatch(behind) else word
        for word, behind in pairwise([*words, ""])
    ]


# argparse's messages -> ours; `cli_types` begins its own with "takes".
PLAINER = (
    (r"^argument (\S+): expected one argument$", r"\1 needs a value"),
    (r"^argument (\S+): ignored explicit argument (.*)$", r"\1 takes no value, not \2"),
    (r"^argument (\S+): ", r"\1 "),
    (r"^the following arguments are required: ", "missing: "),
    (r"^unrecognized arguments: ", "cannot make sense of "),
)

# Ours about a word that was taken for an option, or about what is missing without it.
ONE_TOO_FEW = re.compile("missing: |cannot make sense of |.* needs a value$")
FILE_WITH_DASH = re.compile(r"-[^=]*\.[A-Za-z]\w*")


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one sentence, without repeating the usage.

    words  what it is given to parse
    """

    words: Sequence[str] = ()

    def __init__(self, **keywords: str) -> None:
        super().__init__(
            **keywords,  # type: ignore[arg-type]
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        for pattern, words in PLAINER:
            message = re.sub(pattern, words, message)
        name = next(filter(FILE_WITH_DASH.fullmatch, self.words), None)
        if name is not None and ONE_TOO_FEW.match(message):
            message = f"{name} is taken for an option: if it is a file, write ./{name}"
        self.exit(USAGE, f"{self.prog}: {message}; `{self.prog} --help` shows what there is.\n")


class _Version(argparse.Action):
    """An option that asks git, or the build, only when the version is wanted."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from kernels.core.version import program_version

        print(f"workbench {program_version()}")
        parser.exit()


def _refuse_unknown_command(parser: _Parser, images: list[Path]) -> None:
    """Refuse a bare word that is not a file: it was meant to be a command."""
    for image in images:
        if re.fullmatch(r"[\w-]+", str(image)) and not image.exists():
            near = get_close_matches(str(image), list(COMMANDS), n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            parser.error(f"there is no command or file {str(image)!r}{hint}")


def _epilog() -> str:
    lines = [f"  {name:<8}{summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        ["commands:", *lines, "", "`workbench COMMAND --help` says more.  Exit codes: 0 done, "]
    ) + ("1 failed, 2 not understood.")
