"""The templates beside this file, with what all of them are filled by."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

FOLDER = Path(__file__).parent
LATEX = {
    "variable_start_string": "<<(",
    "variable_end_string": ")>>",
    "block_start_string": "<<%",
    "block_end_string": "%>>",
}


@cache
def environment(is_latex: bool = False, **filters: Callable[[str], str]) -> Environment:
    """Return what renders them: HTML is escaped, an unknown name is an error.

    The same each time, since it keeps the templates that it has compiled.

    is_latex  whether they are written with LATEX's delimiters, since braces mean something there
    """
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(LATEX if is_latex else {}),  # type: ignore[arg-type]
    )
    made.filters.update(filters)
    return made
