"""The menu entry Edit ▸ Weights, whose editor follows the filter and changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import QWidget

from kernels import filters
from kernels.core.errors import KernelError
from workbench.model import intents
from workbench.model.state import Matrix, State
from workbench.session.store import Store
from workbench.widgets.actions import Action, AddHelp

GAP_PX = 8

if TYPE_CHECKING:
    from workbench.panels.weights.weights_editor import WeightsEditor


class WeightsEditing(QObject):
    """The maker of the weights editor, when it is first wanted.

    Signals:
        broke(sentence, details): a bug, met in the background.
    """

    broke = Signal(str, str)

    def __init__(self, store: Store, add_help: AddHelp, window: QWidget) -> None:
        """Connect the store.

        window  the editor stands beside it
        """
        super().__init__(window)
        self._store, self._add_help, self._window = store, add_help, window
        self._editor: WeightsEditor | None = None
        store.changed.connect(lambda _old, new: self._follow(new))

    def actions(self) -> list[Action]:
        """Return the menu's action."""
        return [
            Action(
                "&Edit",
                "Wei&ghts…",
                self.open,
                ("Ctrl+E",),
                "Draw a filter's weights by hand, or paste them; see rank and frequency response.",
                separator=True,
            )
        ]

    @property
    def editor(self) -> WeightsEditor | None:
        """Return the editor; None until it was first opened."""
        return self._editor

    @Slot()
    def open(self) -> None:
        """Show the editor, with what the window filters with."""
        if self._editor is None:
            from workbench.panels.weights.named_weights import WeightsLibrary
            from workbench.panels.weights.weights_editor import WeightsEditor

            self._editor = WeightsEditor(WeightsLibrary(), self._window)
            self._editor.picked.connect(self._take)
            self._editor.broke.connect(self.broke)
            self._editor.move(self._beside())
            self._add_help(self._editor, "mode/weights")
        self._editor.show()
        self._editor.raise_()
        self._editor.activateWindow()
        self._follow(self._store.state)

    def close(self) -> None:
        """Close the editor with the window."""
        if self._editor is not None:
            self._editor.close()
            self._editor.close_thread()

    def _beside(self) -> QPoint:
        """Return a place right of the window, as far as the screen goes.

        There the editor covers as little of the picture as possible.
        """
        assert self._editor is not None
        window, screen = self._window.frameGeometry(), self._window.screen().availableGeometry()
        furthest = screen.right() - self._editor.width()
        return QPoint(max(min(window.right() + GAP_PX, furthest), screen.left()), window.top())

    def _follow(self, state: State) -> None:
        if self._editor is None or not self._editor.isVisible():
            return
        try:
            weights = intents.weights_for(state)
        except KernelError:
            return  # the window says why there are none
        chosen = filters.get(state.filter)
        offset = state.offset if intents.has_parameter(chosen, "matrix") else 0.0
        self._editor.show_weights(weights, offset, chosen.title)

    def _take(self, matrix: Matrix, offset: float) -> None:
        self._store.choose(filter="custom", matrix=matrix, offset=offset)
