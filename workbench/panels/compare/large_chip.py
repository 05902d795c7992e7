"""The chip on a picture that says at which scale a very large one is shown; a click goes to 1:1."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from workbench.base.plain_text import tip_text

TIP = (
    "The picture is larger than memory: this is a reduced copy, and all panels are about it. "
    "Zoomed in far enough, what is in view is read and filtered at full resolution: click for "
    "100 %. File ▸ Filter to file filters all of it."
)


class LargeChip(QToolButton):
    """A button with words about the scale; hidden where a picture is shown whole."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("large-chip")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Scale at which the picture is shown")
        self.setToolTip(tip_text(TIP))
        self.setProperty("onPicture", True)
        self.hide()

    def show_words(self, words: str) -> None:
        """Show `words`; empty: nothing."""
        self.setVisible(bool(words))
        if words != self.text():
            self.setText(words)
            self.setAccessibleName(f"Scale: {words}")
