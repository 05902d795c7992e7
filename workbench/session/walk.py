"""The place of the open picture among those that one can walk through."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from workbench.base.background import Background
from workbench.files.neighbours import Shelf, shelf_of
from workbench.model.state import State
from workbench.session.opener import Opener
from workbench.session.store import Store


class Walk(QObject):
    """A watcher that looks, in the background, among which pictures the one in view is.

    Signals:
        placed(shelf): a Shelf; None: the picture is in no folder, or that cannot be looked into.
    """

    placed = Signal(object)

    def __init__(
        self, store: Store, opener: Opener, background: Background, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._opener, self._background = opener, background
        self._newest = 0
        self._shelf: Shelf | None = None
        store.changed.connect(self._look)

    @property
    def shelf(self) -> Shelf | None:
        """Return what `placed` said last."""
        return self._shelf

    @Slot(object, object)
    def _look(self, old: State, new: State) -> None:
        if new.picture is old.picture or new.picture is None:
            return
        self._newest += 1
        if new.picture.path is None:
            self._place(None)
            return
        look = partial(shelf_of, new.picture.path, self._opener.together)
        answer = partial(self._answer, self._newest)
        self._background.run(look, answer, lambda _: answer(None))

    def _answer(self, request: int, shelf: Shelf | None) -> None:
        if request == self._newest:
            self._place(shelf)

    def _place(self, shelf: Shelf | None) -> None:
        self._shelf = shelf
        self.placed.emit(shelf)
