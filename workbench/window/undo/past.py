"""The history of changes, those done and those taken back: pure, without pixels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.model.state import FACTS

MAX_CHANGES = 200
TOGETHER_S = 1.0  # changes of one number within this time are one step
GRADUAL = frozenset(name for name, facts in FACTS.items() if facts.is_gradual)


@dataclass(frozen=True, slots=True)
class Change:
    """A step: the fields of the State that changed, before and after."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def fields(self) -> frozenset[Hashable]:
        """Return the names of the fields that changed."""
        return frozenset(self.before)

    @property
    def reversed(self) -> Change:
        """Return the change that takes this one back."""
        return Change(self.after, self.before)

    def then(self, later: Change) -> Change:
        """Return this change and a later one of the same fields as one."""
        return replace(self, after=later.after)


class Past:
    """The steps that can be taken back, and those taken back that can be done again."""

    def __init__(self) -> None:
        self._done: list[Change] = []
        self._undone: list[Change] = []
        self._at_s = 0.0

    @property
    def to_undo(self) -> Change | None:
        """Return the step to take back next; None where there is none."""
        return self._done[-1] if self._done else None

    @property
    def to_redo(self) -> Change | None:
        """Return the step to do again next; None where there is none."""
        return self._undone[-1] if self._undone else None

    def add(self, change: Change, now_s: float, *, is_held: bool = False) -> None:
        """Add a step.

        A change of the same gradual fields soon after the last one, or while a button is held, is
        merged with it.
        """
        is_soon = now_s - self._at_s < TOGETHER_S or is_held
        self._at_s = now_s
        last = self.to_undo
        if (
            last is not None
            and not self._undone
            and is_soon
            and last.fields == change.fields <= GRADUAL
        ):
            self._done[-1] = last.then(change)
            if self._done[-1].before == self._done[-1].after:
                self._done.pop()
            return
        self._undone.clear()
        self._done.append(change)
        del self._done[:-MAX_CHANGES]

    def undo(self) -> None:
        """Note that the last step has been taken back."""
        self._undone.append(self._done.pop())
        self._at_s = 0.0  # whatever comes next is a step of its own

    def redo(self) -> None:
        """Note that the last one taken back has been done again."""
        self._done.append(self._undone.pop())
        self._at_s = 0.0

    def forget(self) -> None:
        """Forget all steps."""
        self._done.clear()
        self._undone.clear()
