"""A step in the weights editor that can be undone and redone."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtGui import QUndoCommand

from workbench.panels.weights.weights_draft import WeightsDraft

FOLLOWING = 1  # the id of steps that are merged with their predecessor


class Draws(Protocol):
    """An editor that can show a drawing."""

    def apply(self, drawing: WeightsDraft, sentence: str = ...) -> None:
        """Show a drawing and the sentence about it."""
        ...


class WeightsStep(QUndoCommand):
    """The step from one drawing to another.

    sentence   what is said of it when it is done, and again when it is redone
    following  the window had other weights, as while a slider is dragged: many are one step
    """

    def __init__(
        self,
        editor: Draws,
        old: WeightsDraft,
        new: WeightsDraft,
        words: str,
        sentence: str,
        following: bool = False,
    ) -> None:
        super().__init__(words)
        self._editor, self._old, self._new, self._following = editor, old, new, following
        self._sentence = sentence

    def redo(self) -> None:
        """Apply the newer drawing."""
        self._editor.apply(self._new, self._sentence)

    def undo(self) -> None:
        """Apply the older drawing."""
        self._editor.apply(self._old)

    def id(self) -> int:
        """Return the number by which Qt finds steps to merge; -1: none."""
        return FOLLOWING if self._following else -1

    def mergeWith(self, other: QUndoCommand) -> bool:  # noqa: N802
        if not isinstance(other, WeightsStep):
            return False
        self._new = other._new
        self.setObsolete(self._new == self._old)  # there and back again
        return True
