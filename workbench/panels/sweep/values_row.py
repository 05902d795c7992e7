"""The row of a varied dimension: its values as text, and a menu of what may stand there."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.model.plan_dimensions import Dimension, words_of
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import tab_button
from workbench.widgets.tile import scaled_font

LABEL_PX = 88
MAX_TEXT = 1000  # characters of a line of values


class ValuesRow(QWidget):
    """A label, a line, and below it what is wrong with the line, if anything is.

    Signals:
        edited(): the user changed the line.
    """

    edited = Signal()

    def __init__(self, dimension: Dimension) -> None:
        super().__init__()
        self.dimension = dimension
        name = dimension.field.replace("_", "-")
        label = Label(dimension.name)
        label.setFixedWidth(theme.in_letters(LABEL_PX))
        self._line = QLineEdit(dimension.start)
        self._line.setObjectName(f"values-{name}")
        self._line.setAccessibleName(f"Values of {dimension.name.lower()}")
        self._line.setMaxLength(MAX_TEXT)
        self._line.setToolTip(tip_text(f"{dimension.tip}\nKey: Alt+Down for what may stand here"))
        self._line.textEdited.connect(lambda _: self.edited.emit())
        self._line.installEventFilter(self)
        tip, title = f"What may stand here.  {dimension.tip}", dimension.name.lower()
        self._more = tab_button(f"choose-{name}", "▾", tip, f"Choose values of {title}")
        self._more.setProperty("flat", True)
        self._more.clicked.connect(self._choose)
        self._wrong = Label(name=f"wrong-{name}", font=scaled_font(0.9), wraps=True)
        self._wrong.setForegroundRole(QPalette.ColorRole.BrightText)
        self._wrong.hide()
        line = HBox(spacing=4)
        line.add(label, (self._line, 1), self._more)
        column = VBox(self, 0, 2)
        column.add(line, self._wrong)
        self.setFocusProxy(self._line)

    @property
    def text(self) -> str:
        """Return the line as it is written."""
        return self._line.text()

    @property
    def last_stop(self) -> QWidget:
        """Return the part that Tab leaves the row from."""
        return self._more

    def show_text(self, text: str) -> None:
        """Show `text` in the line, cut after MAX_TEXT characters."""
        with QSignalBlocker(self._line):
            self._line.setText(text[:MAX_TEXT])
            self._line.setCursorPosition(0)

    def show_wrong(self, sentence: str) -> None:
        """Show the sentence on what is wrong with the line; empty: nothing is."""
        self._wrong.setText(sentence)
        self._wrong.setVisible(bool(sentence))
        self._line.setAccessibleDescription(sentence)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        is_alt_down = (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Down
            and event.modifiers() & Qt.KeyboardModifier.AltModifier
        )
        if watched is self._line and is_alt_down:
            self._choose()
            return True
        return super().eventFilter(watched, event)

    @Slot()
    def _choose(self) -> None:
        menu = self.menu()
        menu.popup(self._line.mapToGlobal(self._line.rect().bottomLeft()))

    def menu(self) -> QMenu:
        """Return a menu of lines to take over whole, and words to tick, as things stand."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for text, meaning in self.dimension.lines:
            action = menu.addAction(f"{text}\t{meaning}" if len(text) < 28 else text)
            action.setToolTip(tip_text(meaning))
            action.triggered.connect(partial(self._take, text))
        listed = words_of(self.text)
        for word, meaning in self.dimension.ticks:
            action = menu.addAction(f"{word}\t{meaning}" if meaning else word)
            action.setCheckable(True)
            action.setChecked(word in listed)
            action.setToolTip(tip_text(meaning or word))
            action.triggered.connect(partial(self._tick, word))
        return menu

    def _take(self, text: str) -> None:
        self._line.setText(text)
        self.edited.emit()

    def _tick(self, word: str) -> None:
        """Put `word` into the line, in the order of the menu, or take it out."""
        listed = words_of(self.text)
        wanted = [each for each in listed if each != word] if word in listed else [*listed, word]
        order = [each for each, _ in self.dimension.ticks]
        known = [each for each in order if each in wanted]
        self._take(", ".join([*known, *(each for each in wanted if each not in order)]))
