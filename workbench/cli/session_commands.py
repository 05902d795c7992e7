"""Sessions of sweeps: `workbench compare A B` and `workbench report`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernels.core.job import Progress
from kernels.core.plain_data import to_plain
from kernels.core.timing import CONFIDENCE
from kernels.core.version import program_version
from kernels.sweeps.plan_run import in_words
from kernels.sweeps.record import CellPair, Session, compare_sessions, summary_of
from kernels.sweeps.session_csv import pairs_csv
from kernels.sweeps.session_files import SUFFIXES, read_session, session_path
from workbench.base import numbers
from workbench.base.columns import aligned, columns
from workbench.base.numbers import why_starred
from workbench.cli import output
from workbench.cli.output import CommandError
from workbench.model.cell_words import varied_of
from workbench.model.names import ran_on
from workbench.report.document import sentences_of
from workbench.report.tables import PAIR_COLUMNS, most_different_first, pair_row

Pairs = Sequence[CellPair]


def compare(arguments: Namespace) -> int:
    """Print a row for each cell that both sessions have, and a summary, or that as JSON."""
    sessions = {"A": read_session(arguments.a), "B": read_session(arguments.b)}
    for name, session in sessions.items():
        for remark in session.remarks:
            output.complain(f"{name}: {remark}")
    pairs = compare_sessions(sessions["A"], sessions["B"])
    if arguments.csv:
        output.write_whole(arguments.csv, pairs_csv(pairs))
    percent: float | None = arguments.fail_slower
    failures = [] if percent is None else list(_failing(pairs, percent / 100))
    if arguments.json:
        print(output.json_of(_data(sessions["A"], sessions["B"], pairs, failures)))
    if not (shared := [pair for pair in pairs if pair.a and pair.b]):
        raise CommandError("They have no cell in common: nothing can be compared.")
    if not arguments.json:
        ran = {pair.cell.implementation for pair in shared if pair.finding != "incomparable"}
        print(aligned([(name, _title(each, ran)) for name, each in sessions.items()]), end="\n\n")
        varied = varied_of(pair.cell for pair in pairs)
        rows = (pair_row(pair, varied) for pair in most_different_first(pairs))
        print(columns([PAIR_COLUMNS, *rows]), end="\n\n")
        print(*sentences_of(pairs, "B"), sep="\n")
        if words := why_starred(sorted({why for pair in pairs for why in _disturbances(pair)})):
            print(words)
    for sentence in failures:
        output.complain(sentence)
    if percent is not None and (disturbed := summary_of(pairs)[0]["disturbed"]):
        output.complain(f"Not judged, since a time was disturbed: {disturbed} cells.")
    if percent is not None and not failures and not any(pair.comparison for pair in pairs):
        raise CommandError("Nothing was judged: no cell has two times that compare.")
    return output.FAILED if failures else 0


def _failing(pairs: Pairs, limit: float) -> Iterator[str]:
    """Name each cell that is slower in B by more than `limit` (0.05: 5 %), or has no time there.

    The whole interval has to be, and by more than two sessions of the same work differ.
    """
    for pair in pairs:
        found, name = pair.comparison, in_words(pair.cell)
        if found is not None and found.high < 1 / (1 + max(limit, found.within)):
            low, high = (numbers.percent(1 / each - 1, 1) for each in (found.high, found.low))
            allowed = 100 * max(limit, found.within)
            yield f"{name} takes {low} to {high} longer in B; {allowed:g} % is the limit."
        elif pair.a and pair.a.verified and not (pair.b and pair.b.verified):
            why = pair.b.objection if pair.b else "it is only in A."
            yield f"{name} has no time in B any more: {why}"


def _title(session: Session, implementations: Iterable[str]) -> str:
    day = datetime.fromtimestamp(session.started, UTC).date().isoformat()
    return f"{session.plan.title}, {ran_on(session.machine, implementations)}, {day}"


def _data(a: Session, b: Session, pairs: Pairs, failures: Sequence[str]) -> dict[str, Any]:
    """Describe two sessions side by side: a ratio is the time of A over that of B."""
    found, ratio = summary_of(pairs)
    return {
        "command": "compare",
        "program": program_version(),
        "confidence": CONFIDENCE,
        "a": _session_data(a),
        "b": _session_data(b),
        "ratio": ratio,
        "verdicts": {name: found[name] for name in ("faster", "slower", "same")},
        **{name: found[name] for name in ("disturbed", "incomparable", "only_a", "only_b")},
        "failures": list(failures),
        "pairs": [_pair_data(pair) for pair in pairs],
    }


def _session_data(session: Session) -> dict[str, Any]:
    return {
        "title": session.plan.title,
        "machine": to_plain(session.machine),
        "started": session.started,
        "came_with_the_program": session.is_shipped,
    }


def _pair_data(pair: CellPair) -> dict[str, Any]:
    a, b = (each.verified if each else None for each in (pair.a, pair.b))
    return {
        "cell": to_plain(pair.cell),
        "a_median_ms": a and a.kernel.median_ms,
        "b_median_ms": b and b.kernel.median_ms,
        **output.ratio_data(pair.comparison),
        "why_not": pair.objection,
        "disturbances": _disturbances(pair),
    }


def _disturbances(pair: CellPair) -> list[str]:
    measured = (each.verified for each in (pair.a, pair.b) if each)
    return [words for each in measured if each for words in each.disturbances]


def report(arguments: Namespace) -> int:
    from workbench.report.writing import DATA, PAGE, TABLES, ReportError, writing  # and Qt

    paths = [path for named in arguments.sessions for path in _sessions_in(named)]
    sessions = [read_session(path) for path in paths]
    first = arguments.sessions[0]
    folder = arguments.out or (first if first.is_dir() else first.parent)
    try:
        for step in writing(sessions, folder / PAGE, as_pdf=arguments.pdf):
            if isinstance(step, Progress):
                output.say(step.doing)
            else:
                *_, written = step
    except ReportError as error:
        raise CommandError(str(error)) from error
    finally:
        output.say("")
    beside = f"{PAGE}, {TABLES}" if arguments.pdf else TABLES
    print(f"Wrote {written}; {beside} and {DATA} are beside it.")
    for session, path in zip(sessions, paths, strict=True):
        for remark in session.remarks:
            output.complain(f"{path}: {remark}")
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
