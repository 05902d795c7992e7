"""The command line: parses it, runs the command, reports failures; --help prints at once."""

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
from typing import NoReturn

from workbench.base import qt_libraries
from workbench.base.importing import other_kernels, without_collecting
from workbench.cli.commands import COMMANDS, VERIFY_VALUE, WINDOW, Command, add_options
from workbench.cli.output import FAILED, INTERRUPTED, USAGE, CommandError, complain


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `words`, by default the process's own; return the exit code."""
    # Else files that are opened become standard streams that the caller closed.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
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
        return _failed(others[0])
    except KeyboardInterrupt as stop:
        return getattr(stop, "exit_code", INTERRUPTED)
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            return _failed(f"{error.strerror}: {str(error.filename)[:80]}…", USAGE)
        is_closed = isinstance(error, BrokenPipeError)  # as in `workbench list | head -1`
        if not is_closed and not _stdout_is_full():
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if is_closed:
            return FAILED
        return _failed(f"Cannot write to standard output: {error.strerror}.")


def _stdout_is_full() -> bool:
    """Try to print: an OSError of standard output names no file."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def run(arguments: argparse.Namespace) -> int:
    """Run the parsed command; return its exit code."""
    module, _, name = arguments.function.partition(".")

    def act() -> int:
        with without_collecting():
            found = importlib.import_module(f"workbench.cli.{module}")
        return int(getattr(found, name)(arguments))

    return exit_code_of(act, f"workbench {arguments.command}")


def exit_code_of(act: Callable[[], int], name: str) -> int:
    """Run `act`; print an expected failure as a sentence on stderr.

    name  of the user of a GPU meanwhile, for other programs that wait for it
    """
    from kernels.core.device_turns import purpose
    from kernels.core.errors import BadJobError, KernelError, in_full

    try:
        with purpose(name):
            return act()
    except CommandError as error:
        return _failed(error, error.exit_code)
    except BadJobError as error:
        return _failed(error, USAGE)
    except KernelError as error:
        return _failed(in_full(error))
    except ImportError as error:
        if "PySide6" not in (error.name or ""):
            raise
        missing = qt_libraries.why_no_window(qt_libraries.platform())
        return _failed(missing or f"Qt does not load ({error}); install it again.")


def _failed(sentence: object, exit_code: int = FAILED) -> int:
    complain(sentence)
    return exit_code


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line; `command`, `function` and `words` of the result are how it began.

    Raises SystemExit for --help, --version, and for words that make no sense.
    """
    if words and words[0] in COMMANDS:
        name, command, rest = words[0], COMMANDS[words[0]], words[1:]
        parser = _Parser(f"workbench {name}", command)
    else:
        name, command, rest = "window", WINDOW, words
        lines = "\n".join(f"  {key:<8}{each.summary}" for key, each in COMMANDS.items())
        parser = _Parser("workbench", command._replace(epilog=EPILOG.format(lines)))
        parser.add_argument(
            "--version", action=_Version, nargs=0, help="show the version and its commit, and exit"
        )
    parser.words = rest
    add_options(parser, command.options)
    given = _without_dashes(rest)
    # An empty word would be the current folder or the default; argparse drops the -- of --size=--.
    for word in filter(re.compile(r"|--[^=]+=(--)?").fullmatch, given):
        parser.error(f"there is no name or value in {word!r}")
    arguments = parser.parse_intermixed_args(_with_values(given))
    if command is WINDOW:
        for image in arguments.images:
            if re.fullmatch(r"[\w-]+", str(image)) and not image.exists():
                near = get_close_matches(str(image), list(COMMANDS), n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                parser.error(f"there is no command or file {str(image)!r}{hint}")
    arguments.command, arguments.function, arguments.words = name, command.function, words
    return arguments


def _without_dashes(words: Sequence[str]) -> list[str]:
    """Remove the --, which argparse does not understand where options and files are mixed."""
    if "--" not in words:
        return list(words)
    at = list(words).index("--")
    names = [f"./{each}" if re.match("-.", each) else each for each in words[at + 1 :]]
    return [*words[:at], *names]


def _with_values(words: Sequence[str]) -> list[str]:
    """Mark a --verify without a value: argparse would take the file behind it for one."""
    return [
        f"{word}=" if word == "--verify" and not VERIFY_VALUE.fullmatch(behind) else word
        for word, behind in pairwise([*words, ""])
    ]


EPILOG = """\
commands:
{}

`workbench COMMAND --help` shows its options.  Exit codes: 0 done, 1 failed, 2 not understood."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, without the usage."""

    words: Sequence[str] = ()  # that it is given

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(
            prog=name,
            description=command.summary,
            epilog=command.epilog,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"^argument (\S+): ", r"\1 ", message)
        for name in filter(re.compile(r"-[^=]*\.[A-Za-z]\w*").fullmatch, self.words):
            message += f"; if {name} is a file, write ./{name}"
        self.exit(USAGE, f"{self.prog}: {message}; `{self.prog} --help` shows what there is.\n")


class _Version(argparse.Action):
    """An option that asks git, or the build, only when the version is wanted."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from kernels.core.version import program_version

        print(f"workbench {program_version()}")
        parser.exit()
