"""A report of sessions, written into a folder: the page, its tables for LaTeX, all of it as CSV."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from numpy.typing import NDArray

from kernels.job import Progress
from kernels.sweeps.record import Session
from kernels.sweeps.table import write_csv
from workbench.files import whole_files
from workbench.report.document import Document, composing
from workbench.report.latex import escaped
from workbench.report.tables import Table

PAGE, TABLES, DATA = "report.html", "tables.tex", "results.csv"
LONGEST_WORDS, WRAPPED = 40, r"p{.35\textwidth}"
TEMPLATES = Path(__file__).parent


class ReportError(Exception):
    """There is nothing to report, or no place to write it.  str(error) is one sentence."""


def write_report(
    sessions: Sequence[Session],
    folder: str | Path,
    pictures: Mapping[str, NDArray[Any]] | None = None,
) -> Path:
    """Write report.html, tables.tex and results.csv into `folder`, which is made where there is
    none; returns the page.

    pictures  by name, (H, W, C): those of the sessions' cells that are at hand, for the examples

    Raises ReportError.  Takes a second or so; where that is too long, see `writing`.
    """
    *_, path = writing(sessions, folder, pictures)
    assert isinstance(path, Path)
    return path


def writing(
    sessions: Sequence[Session],
    folder: str | Path,
    pictures: Mapping[str, NDArray[Any]] | None = None,
) -> Iterator[Progress | Path]:
    """The same a step at a time; the last thing yielded is the page's path."""
    _refuse_nothing(sessions)
    for step in composing(sessions, pictures or {}, time.time()):
        if isinstance(step, Progress):
            yield step
        else:
            document = step
    makers: dict[str, Callable[[], str]] = {
        PAGE: lambda: page(document),
        TABLES: lambda: tables(document),
        DATA: lambda: _csv(sessions),
    }
    texts: dict[str, str] = {}
    for name, make in makers.items():
        yield Progress(f"writing {name}")
        texts[name] = make()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with whole_files.replacing(folder / name) as file:
                file.write(text.encode("utf-8"))
    except OSError as error:
        raise ReportError(
            f"Cannot write the report into {folder}: {whole_files.reason(error)}."
        ) from error
    yield folder / PAGE


def _refuse_nothing(sessions: Sequence[Session]) -> None:
    """A report of nothing that was verified would be a page of reasons."""
    if not sessions:
        raise ReportError("There is no session to report on; name one, or run `workbench sweep`.")
    if any(record.verified for session in sessions for record in session.records):
        return
    objections = (record.objection for session in sessions for record in session.records)
    why = next((each for each in objections if each), "nothing was measured yet.")
    raise ReportError(f"There is no verified time to report on: {why}")


def page(document: Document) -> str:
    """The whole page: it needs no other file, no network and no script."""
    return _environment().get_template("report.html.j2").render(document=document)


def tables(document: Document) -> str:
    """Every table in LaTeX, for \\input."""
    template = _environment(
        variable_start_string="<<(",
        variable_end_string=")>>",
        block_start_string="<<%",
        block_end_string="%>>",
    ).get_template("tables.tex.j2")
    return template.render(document=document, tables=document.tables, columns_of=_columns_of)


def _environment(**delimiters: str) -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **delimiters,  # type: ignore[arg-type]
    )
    made.filters["tex"] = escaped
    return made


def _columns_of(table: Table) -> str:
    """ "llrr": numbers to the right; a column of sentences is given a width, so that they wrap."""
    return "".join(
        "r" if column.is_number else "l" if _is_short(table, at) else WRAPPED
        for at, column in enumerate(table.columns)
    )


def _is_short(table: Table, at: int) -> bool:
    return all(len(row.cells[at]) <= LONGEST_WORDS for row in table.rows)


def _csv(sessions: Sequence[Session]) -> str:
    file = io.StringIO(newline="")
    write_csv(sessions, file)
    return file.getvalue()
