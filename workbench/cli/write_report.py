"""`workbench report`: write sessions as a page, as LaTeX tables and as CSV."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from kernels.core.job import Progress
from kernels.sweeps.session_files import SUFFIXES, read_session, session_path
from workbench.cli.output import CommandError, complain, say
from workbench.report.writing import DATA, PAGE, TABLES, ReportError, writing


def run(arguments: Namespace) -> int:
    """Write the report, and print where it is."""
    paths = [path for named in arguments.sessions for path in _sessions_in(named)]
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
            complain(f"{path}: {remark}")
    return 0


def _sessions_in(path: Path) -> list[Path]:
    """Find the session at `path`; of a folder with several, all of them by name."""
    whole = session_path(path)
    if whole.exists() or not path.is_dir():
        return [whole]
    files = [session_path(each) if each.is_dir() else each for each in sorted(path.iterdir())]
    if found := [each for each in files if each.name.endswith(SUFFIXES) and each.is_file()]:
        return found
    raise CommandError(f"There is no session in {path}; `workbench sweep` writes one.")
