"""A line that asks something and waits beside all else: a sentence, and buttons that answer it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton, QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.tile import scaled_font

Answer = tuple[str, str, Callable[[], None]]  # what a button says, its tooltip, what it does


class Question(QWidget):
    """A line that is hidden while there is nothing to ask; any answer ends it.

    name  of the object; its buttons are called name-0, name-1
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._sentence = Label(name=f"{name}-sentence", font=scaled_font(0.9), wraps=True)
        self._row = HBox(spacing=6)
        self._buttons: list[QPushButton] = []
        column = VBox(self, 0, 4)
        column.add(self._sentence, self._row)
        self.hide()

    @property
    def sentence(self) -> str:
        """Return the question; empty while there is none."""
        return self._sentence.text()

    def ask(self, sentence: str, *answers: Answer) -> None:
        """Ask this instead of whatever was asked."""
        self._sentence.setText(sentence)
        self.setAccessibleName(sentence)
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [self._button(at, answer) for at, answer in enumerate(answers)]
        self.show()

    def take_focus(self) -> None:
        """Let the keyboard give the first answer."""
        self._buttons[0].setFocus()

    def _button(self, at: int, answer: Answer) -> QPushButton:
        text, tip, do = answer

        def act() -> None:
            self.hide()
            do()

        button = QPushButton(text)
        button.setObjectName(f"{self.objectName()}-{at}")
        button.setToolTip(tip_text(tip))
        button.setAccessibleName(f"{text.replace('&', '')}: {self.sentence}")
        button.clicked.connect(lambda: act())
        self._row.addWidget(button, 1)
        return button
