"""The menu Help ▸ Help: the help's window, and "What's this"."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QCursor, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from workbench.widgets.actions import Action
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.window.help_window import HelpWindow


MENU, KEY, WORDS = "&Help", "F1", "words"


class HelpController(QObject):
    """An owner of the help's window, which is made when it is first wanted.

    window  the one that is explained, with its menus and all parts
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._store, self._docks, self._window = parts.store, parts.docks, parts.window
        self._help: HelpWindow | None = None

    def actions(self) -> list[Action]:
        """Return the lines of the menu."""
        return [
            Action(
                *(MENU, "&Help", self.open, (KEY,)),
                "What each mode, number, implementation and chart is, with a search.",
            ),
            Action(
                *(MENU, "W&ords", partial(self.show_place, WORDS), ("Ctrl+Shift+F1",)),
                "A table of what the words on the screen mean.",
            ),
            Action(
                *(MENU, "&What's this", self.explain, ("Shift+F1",)),
                "The page about what is under the pointer, or what has the keyboard.",
            ),
        ]

    @Slot()
    def open(self) -> None:
        """Open the help where it was left, or at its first page."""
        from workbench.window.help_pages import START  # charts would delay the start

        self.show_place("" if self._help is not None else START)

    @Slot()
    def explain(self) -> None:
        """Open the page about what is under the pointer, or else about what has the keyboard."""
        from workbench.window.help_pages import START, topic_of

        under, place = QApplication.widgetAt(QCursor.pos()), START
        # Not under.window(): PySide would treat the widget as deleted once that window is.
        if under is not None and self._window.isAncestorOf(under):
            place = topic_of(under, self._store.state)
        if place == START:  # nothing in particular
            place = topic_of(QApplication.focusWidget(), self._store.state)
        self.show_place(place)

    def serve(self, window: QWidget, place: str) -> None:
        """Have F1 open `place` in another window, too."""
        QShortcut(QKeySequence(KEY), window, lambda: self.show_place(place))

    def show_place(self, place: str) -> None:
        """Open the page "key", or "key#section"."""
        if self._help is None:
            from workbench.window.help_pages import book_of  # it reads all texts
            from workbench.window.help_window import HelpWindow

            self._help = HelpWindow(book_of(self._docks, self._window), self._window)
        self._help.show_place(place)
        self._help.show()
        self._help.raise_()
        self._help.activateWindow()

    def close(self) -> None:
        """Close the help with the main window."""
        if self._help is not None:
            self._help.close()
