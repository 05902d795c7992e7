"""Changes of a text document as one step: of undo, and of laying it out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QTextCursor


@contextmanager
def one_step(cursor: QTextCursor) -> Iterator[None]:
    """Take back by one undo what is done meanwhile, and lay the document out once, at the end."""
    cursor.beginEditBlock()
    try:
        yield
    finally:
        cursor.endEditBlock()
