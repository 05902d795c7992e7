"""A report, written in one go."""

from pathlib import Path

from workbench.report.document import composing
from workbench.report.writing import PAGE, tables, writing


def write_report(sessions, folder, pictures=None, *, as_pdf=False) -> Path:
    """Write the report of `sessions` into `folder`; its page, or the PDF where there is one."""
    *_, (*_, path) = writing(sessions, Path(folder) / PAGE, pictures, as_pdf=as_pdf)
    return path


def tables_of(sessions) -> str:
    """The tables in LaTeX of the report of `sessions`, without the rest of it."""
    *_, document = composing(sessions, {}, written=0.0)
    return tables(document)


def _table(part_of_caption, sessions):
    *_, document = composing(sessions, {}, written=0.0)
    (found,) = [each for each in document.tables if part_of_caption in each.caption]
    return found


def notes_of(part_of_caption, *sessions):
    """The notes below the one table with these words."""
    return _table(part_of_caption, sessions).notes


def rows_of(part_of_caption, *sessions):
    """The rows of the one table with these words, as {column: text}; no chart is drawn for it."""
    found = _table(part_of_caption, sessions)
    titles = [each.title for each in found.columns]
    cells = [[" ".join(cell.split()) for cell in row.cells] for row in found.rows]
    return [dict(zip(titles, each, strict=True)) for each in cells]
