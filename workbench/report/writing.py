"""A report of sessions, written into a folder: the page, LaTeX tables, CSV, and a PDF if wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernels.core import atomic_files
from kernels.core.job import Progress
from kernels.sweeps.record import Session
from workbench.charts.drawing.chart_export import strokes_of
from workbench.report.document import Document, composing
from workbench.report.drawings import SIZE_PX, ToDraw
from workbench.report.latex import escaped
from workbench.report.latex_columns import layout_of
from workbench.report.pdf import Strokes, pdf
from workbench.report.report_page import page
from workbench.report.results import results_csv
from workbench.report.templates import environment

PAGE, TABLES, DATA, PAPER = "report.html", "tables.tex", "results.csv", "report.pdf"


class ReportError(Exception):
    """There is nothing to report, or no place to write it; str(error) is one sentence."""


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
    makers: dict[str, Callable[[], bytes]] = {
        PAGE: lambda: page(document).encode("utf-8"),
        TABLES: lambda: tables(document).encode("utf-8"),
        DATA: lambda: results_csv(sessions).encode("utf-8"),
    }
    if as_pdf:
        strokes: Strokes = {}
        for chart in document.drawings:
            yield ToDraw("drawing the charts for print")
            strokes[chart.key] = strokes_of(chart.figure, SIZE_PX)
        makers[PAPER] = lambda: pdf(document, strokes)
    made: dict[str, bytes] = {}
    for name, make in makers.items():
        yield Progress(f"writing {name}")
        made[name] = make()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        atomic_files.replace_all({folder / name: data for name, data in made.items()})
    except OSError as error:
        raise ReportError(
            f"Cannot write the report into {folder}: {atomic_files.reason(error)}."
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


def tables(document: Document) -> str:
    """Return every table in LaTeX, for \\input."""
    template = environment(is_latex=True, tex=escaped).get_template("tables.tex.j2")
    return template.render(document=document, tables=document.tables, layout_of=layout_of)
