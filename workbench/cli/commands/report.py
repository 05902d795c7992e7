"""`workbench report`: write sessions as a page, as LaTeX tables and as CSV."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path

from workbench.cli.output import CommandError, say

HELP = """\
Writes report.html, which needs no network, tables.tex, whose tables fit A4 (its first lines say
which LaTeX packages they need: booktabs, longtable, array, textcomp, lscape), and results.csv,
which has the speed-ups as well.  What came with the program is marked as recorded.  Of a folder
with several sessions, all are reported on; two of one plan are compared, cell by cell."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.epilog = HELP
    parser.add_argument(
        "sessions", metavar="SESSION", nargs="+", type=Path, help="folder or .jsonl of a sweep"
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="folder to write into (default: the first one's)"
    )
    parser.add_argument("--pdf", action="store_true", help="write report.pdf for A4 as well")


def run(arguments: Namespace) -> int:
    """Write the report, and print where it is."""
    from kernels.core.job import Progress
    from kernels.sweeps.session_files import read_session
    from workbench.report.writing import DATA, PAGE, TABLES, ReportError, writing

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
    from kernels.sweeps.session_files import session_path

    whole = session_path(path)
    if whole.exists() or not path.is_dir():
        return [whole]
    inside = [*_sessions_of(path.iterdir())]
    if not inside:
        raise CommandError(f"There is no session in {path}; `workbench sweep` writes one.")
    return inside


def _sessions_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Return files called as sessions are, and folders that hold one, by name."""
    from kernels.sweeps.session_files import SUFFIXES, session_path

    for path in sorted(paths):
        if path.name.endswith(SUFFIXES) and path.is_file():
            yield path
        elif path.is_dir() and (found := session_path(path)).is_file():
            yield found
