"""The templates beside this file, rendered: the page in HTML, and the tables in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from workbench.report.latex import escaped, layout_of

if TYPE_CHECKING:
    from workbench.report.document import Document

# Nothing shows them, a terminal obeys them, and XML refuses them.
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Braces mean something in LaTeX.
LATEX = {
    "variable_start_string": "<<(",
    "variable_end_string": ")>>",
    "block_start_string": "<<%",
    "block_end_string": "%>>",
}


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
        **(LATEX if is_latex else {}),  # type: ignore[arg-type]
    )
    made.filters.update(css=_in_css, tex=escaped)
    return made


def page(document: Document, svgs: Mapping[str, str]) -> str:
    """Render the page in HTML: one file, no network, no script.

    svgs  the charts by their keys
    """
    template = environment().get_template("report.html.j2")
    return CONTROLS.sub(
        "",
        template.render(
            document=document, svgs=svgs, title=document.title, version=document.version
        ),
    )


def _in_css(text: str) -> str:
    """Escape text for a string of CSS: nothing ends the string, the rule or the sheet."""
    return "".join(
        each if each.isascii() and each.isalnum() else f"\\{ord(each):06x}" for each in text
    )


def tables(document: Document) -> str:
    """Render every table in LaTeX, for \\input."""
    template = environment(is_latex=True).get_template("tables.tex.j2")
    return template.render(document=document, tables=document.tables, layout_of=layout_of)
