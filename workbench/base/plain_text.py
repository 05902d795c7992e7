"""Show any text as it stands: Qt takes for HTML what looks like it, and would load its images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QFont
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget


class Label(QLabel):
    """A label of plain text; rich text is opt-in.

    lines  that it has room for at least, from its upper edge on; 0: as many as its text takes
    """

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        *,
        name: str = "",
        font: QFont | None = None,
        is_muted: bool = False,
        wraps: bool = False,
        lines: int = 0,
        is_selectable: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        if font is not None:
            self.setFont(font)
        if is_muted:
            self.setProperty("muted", True)
        self.setWordWrap(wraps)
        if is_selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if lines:
            self.keep_lines(lines)
            self.setAlignment(Qt.AlignmentFlag.AlignTop)

    def keep_lines(self, lines: int) -> None:
        """Have room for at least so many lines of the present letters."""
        self.setMinimumHeight(lines * self.fontMetrics().lineSpacing())

    def show_or_hide(self, text: str) -> None:
        """Show `text`, or hide the label if it is empty."""
        self.setText(text)
        self.setVisible(bool(text))


def tip_text(text: str) -> str:
    """Escape `text` for a tooltip, which knows no formats."""
    if not GuiQt.mightBeRichText(text):
        return text
    lines = escape(text).replace("\n", "<br>")
    return f"<qt>{lines}</qt>"


def nearest_in_words(nothing: str, names: Sequence[str]) -> str:
    """The sentence for a search without an answer: "No such filter here; nearest: Median." """
    return f"{nothing}; nearest: {', '.join(dict.fromkeys(names))}." if names else f"{nothing}."


def ask_before(parent: QWidget, question: str, verb: str, do: Callable[[], object]) -> QMessageBox:
    """Ask before `do`, which cannot be undone; a button says `verb`, all else cancels."""
    box = _question(parent, verb, question)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    agree = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    # Once the question is off the screen.
    agree.clicked.connect(lambda: QTimer.singleShot(0, parent, do))
    box.open()
    return box


def is_agreed(parent: QWidget, title: str, question: str) -> bool:
    """Ask a question; Enter, Esc and closing mean No."""
    box = _question(parent, title, question)
    box.setStandardButtons(QMessageBox.StandardButton.Yes | QMessageBox.StandardButton.No)
    box.setDefaultButton(QMessageBox.StandardButton.No)
    agreed = box.exec() == QMessageBox.StandardButton.Yes
    box.deleteLater()
    return agreed


def _question(parent: QWidget, title: str, text: str) -> QMessageBox:
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(title)
    box.setText(text)
    return box
