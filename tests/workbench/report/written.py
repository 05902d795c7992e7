"""A report, written in one go."""

from pathlib import Path

from workbench.report.document import composing
from workbench.report.writing import tables, writing


def write_report(sessions, folder, pictures=None, *, as_pdf=False) -> Path:
    """Write the report of `sessions` into `folder`; its page, or the PDF where there is one."""
    *_, path = writing(sessions, folder, pictures, as_pdf=as_pdf)
    return path


def tables_of(sessions) -> str:
    """The tables in LaTeX of the report of `sessions`, without the rest of it."""
    *_, document = composing(sessions, {}, written=0.0)
    return tables(document)
