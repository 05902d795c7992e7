"""A heading that shows or folds away what is below it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QToolButton

from workbench.base.plain_text import tip_text

FRAME_PX = 6  # around the words, as the style sheet has it: both sides together


class FoldButton(QToolButton):
    """A button that stays down, as wide as its words: they begin where all else below it does."""

    def __init__(self, name: str, tip: str, title: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("heading", True)
        self.setCheckable(True)
        self.setToolTip(tip_text(tip))
        self.setAccessibleName(title)

    def show_fold(self, words: str, is_open: bool) -> None:
        """Show the heading `words`, and which way its fold is."""
        self.setText(f"{'▾' if is_open else '▸'} {words}")

    def sizeHint(self) -> QSize:  # noqa: N802
        self.ensurePolished()
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + FRAME_PX, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()
