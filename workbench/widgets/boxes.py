"""Rows and columns of widgets, with what is around and between them said when they are made."""

from __future__ import annotations

from PySide6.QtCore import QMargins, Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

Margins = int | tuple[int, int, int, int] | QMargins  # all around; left, top, right, bottom
Part = QWidget | QLayout
# A part; with its share of the room that is left, and where it stands in it; or an empty share.
Placed = Part | tuple[Part, int] | tuple[Part, int, Qt.AlignmentFlag] | int


class Box(QBoxLayout):
    """A row or a column, in the widget `of` if there is one.

    margins, spacing  in pixels; None: those of the style
    """

    WAY: QBoxLayout.Direction

    def __init__(
        self, of: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
    ) -> None:
        super().__init__(self.WAY, of)
        if margins is not None:
            around = 4 * (margins,) if isinstance(margins, int) else margins
            self.setContentsMargins(QMargins(*around) if isinstance(around, tuple) else around)
        if spacing is not None:
            self.setSpacing(spacing)

    def add(self, *parts: Placed) -> None:
        """Append `parts` in their order."""
        for part in parts:
            if isinstance(part, int):
                self.addStretch(part)
                continue
            what, share, *at = part if isinstance(part, tuple) else (part, 0)
            if isinstance(what, QLayout):
                self.addLayout(what, share)
            else:
                self.addWidget(what, share, *at)


class HBox(Box):
    """A row, from left to right."""

    WAY = QBoxLayout.Direction.LeftToRight


class VBox(Box):
    """A column, from top to bottom."""

    WAY = QBoxLayout.Direction.TopToBottom
