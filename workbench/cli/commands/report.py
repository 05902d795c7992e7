"""Write sessions as a page, as LaTeX tables and as CSV: `workbench report`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from kernels.core.job import Progress
from kernels.sweeps.session_files import SUFFIXES, read_session, session_path
from workbench.cli.command_error import CommandError
from workbench.cli.progress_line import say
from workbench.report.writing import DATA, PAGE, TABLES, ReportError, writing


def run(arguments: Namespace) -> int:
    """Write the report, and print where it is."""
    paths = [path for named in arguments.sessions for path in sessions_in(named)]
    sessions = [read_session(path) for path in paths]
    first = arguments.sessions[0]
    folder = arguments.out or (first if first.is_dir() else first.parent)
    try:
        for step in writing(sessions, folder, as_pdf=arguments.pdf):
            if isinstance(step, Progress):
                say(step.doing)
            else:
                written = step
    except ReportError as error:
        raise CommandError(str(error)) from error
    finally:
        say("")
    beside = f"{PAGE}, {TABLES}" if arguments.pdf else TABLES
    print(f"Wrote {written}; {beside} and {DATA} are beside it.")
    for session, path in zip(sessions, paths, strict=True):
        for remark in session.remarks:
            print(f"workbench: {path}: {remark}", file=sys.stderr)
    return 0


def sessions_in(path: Path) -> list[Path]:
    """Return the session that `path` is or holds; of a folder with several, all of them."""
    whole = session_path(path)
    if whole.exists() or not path.is_dir():
        return [whole]
    inside = [*_sessions_of(path.iterdir())]
    if not inside:
        raise CommandError(f"There is no session in {path}; `workbench sweep` writes one.")
    return inside


def _sessions_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Return files called as sessions are, and folders that hold one, by name."""
    for path in sorted(paths):
        if path.name.endswith(SUFFIXES) and path.is_file():
            yield path
        elif path.is_dir() and (found := session_path(path)).is_file():
            yield found
