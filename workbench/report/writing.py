"""A report of sessions, written into a folder: the page, LaTeX tables, CSV, and a PDF if wanted."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from numpy.typing import NDArray

from kernels.core import safe_files
from kernels.core.job import Progress
from kernels.sweeps.record import Session
from kernels.sweeps.session_csv import COLUMNS, Row, row_of, write_rows
from workbench.report.document import Document, composing
from workbench.report.latex import escaped, layout_of
from workbench.report.pdf import pdf
from workbench.report.tables import baseline_of

PAGE, TABLES, DATA, PAPER = "report.html", "tables.tex", "results.csv", "report.pdf"
# Columns that a session's own table, as a sweep writes it, cannot know: they take all records.
WORKED_OUT = ("baseline", "speed_up", "speed_up_low", "speed_up_high", "recorded")
# Nothing shows them, a terminal obeys them, and XML refuses them.
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Braces mean something in LaTeX.
LATEX: dict[str, Any] = {
    "variable_start_string": "<<(",
    "variable_end_string": ")>>",
    "block_start_string": "<<%",
    "block_end_string": "%>>",
}


class ReportError(Exception):
    """There is nothing to report, or no place to write it; str(error) is one sentence."""


class ToDraw(Progress):
    """A note that the next step draws, which only the GUI thread may."""


def writing(
    sessions: Sequence[Session],
    folder: str | Path,
    pictures: Mapping[str, NDArray[Any]] | None = None,
    *,
    as_pdf: bool = False,
) -> Iterator[Progress | Path]:
    """Write the report a step at a time; the last thing yielded is the path.

    pictures  by name, (H, W, C): those of the sessions' cells that are at hand, for the examples
    as_pdf    whether report.pdf is written as well

    Raises ReportError.
    """
    _refuse_nothing(sessions)
    for step in composing(sessions, pictures or {}, time.time()):
        if isinstance(step, Progress):
            yield step
        else:
            document = step
    svgs: dict[str, str] = {}
    for chart in document.charts:
        yield ToDraw("drawing the charts")
        svgs[chart.key] = chart.svg()
    yield Progress(f"writing {PAGE}")
    page = (
        environment()
        .get_template("report.html.j2")
        .render(document=document, svgs=svgs, title=document.title, version=document.version)
    )
    text = CONTROLS.sub("", page)
    makers: dict[str, Callable[[], bytes]] = {
        PAGE: lambda: text.encode("utf-8"),
        TABLES: lambda: tables(document).encode("utf-8"),
        DATA: lambda: results_csv(sessions).encode("utf-8"),
    }
    if as_pdf:
        makers[PAPER] = lambda: pdf(text, document)
    made: dict[str, bytes] = {}
    for name, make in makers.items():
        yield Progress(f"writing {name}")
        made[name] = make()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        safe_files.replace_all({folder / name: data for name, data in made.items()})
    except OSError as error:
        raise ReportError(
            f"Cannot write the report into {folder}: {safe_files.reason(error)}."
        ) from error
    yield folder / (PAPER if as_pdf else PAGE)


def _refuse_nothing(sessions: Sequence[Session]) -> None:
    """Refuse a report of nothing that was verified: it would be a page of reasons."""
    if not sessions:
        raise ReportError("There is no session to report on; name one, or run `workbench sweep`.")
    if any(record.verified for session in sessions for record in session.records):
        return
    objections = (record.objection for session in sessions for record in session.records)
    why = next((each for each in objections if each), "nothing was measured yet.")
    raise ReportError(f"There is no verified time to report on: {why}")


def results_csv(sessions: Sequence[Session]) -> str:
    """Write a row for each record: the columns of a session's CSV, then WORKED_OUT.

    A speed-up is that of the report's tables, against the implementation named as `baseline`, with
    its interval; `recorded` is "yes" where the session came with the program.
    """
    file = io.StringIO(newline="")
    write_rows((*COLUMNS, *WORKED_OUT), chain.from_iterable(map(_rows, sessions)), file)
    return file.getvalue()


def _rows(session: Session) -> Iterator[Row]:
    baseline = baseline_of(session)
    for record in session.records:
        row = row_of(session, record) | {"recorded": "yes" if session.is_shipped else "no"}
        if baseline and (found := baseline.speed_up(record)):
            low, high = found.interval or (None, None)
            row |= {"baseline": baseline.key, "speed_up": found.ratio}
            row |= {"speed_up_low": low, "speed_up_high": high}
        yield row


@cache
def environment(*, is_latex: bool = False) -> Environment:
    """Jinja's environment: HTML is escaped, an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(LATEX if is_latex else {}),
    )
    made.filters.update(css=_in_css, tex=escaped)
    return made


def _in_css(text: str) -> str:
    """Escape text for a string of CSS: nothing ends the string, the rule or the sheet."""
    return "".join(
        each if each.isascii() and each.isalnum() else f"\\{ord(each):06x}" for each in text
    )


def tables(document: Document) -> str:
    """Render every table in LaTeX, for \\input."""
    template = environment(is_latex=True).get_template("tables.tex.j2")
    return template.render(document=document, tables=document.tables, layout_of=layout_of)
