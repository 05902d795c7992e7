"""The report's page in HTML: one file, no network, no script."""

from __future__ import annotations

import re

from workbench.report.document import Document
from workbench.report.templates import environment

# Nothing shows them, a terminal obeys them, and XML refuses them.
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def page(document: Document) -> str:
    """Return the whole page."""
    template = environment(css=in_css).get_template("report.html.j2")
    return CONTROLS.sub("", template.render(document=document))


def in_css(text: str) -> str:
    """Return `text` for a string of CSS in which nothing ends the string, the rule or the sheet."""
    return "".join(
        each if each.isascii() and each.isalnum() else f"\\{ord(each):06x}" for each in text
    )
