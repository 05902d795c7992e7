"""A report, written in one go."""

from pathlib import Path

from workbench.report.writing import writing


def write_report(sessions, folder, pictures=None, *, as_pdf=False) -> Path:
    """Write the report of `sessions` into `folder`; its page, or the PDF where there is one."""
    *_, path = writing(sessions, folder, pictures, as_pdf=as_pdf)
    return path
