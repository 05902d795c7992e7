"""The texts of a kernel that were saved, which a new one is compared with."""

from __future__ import annotations


class SavedTexts:
    """The last two that were saved, the newest last."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def begin(self, text: str | None) -> None:
        """Begin with another kernel, which is in a file already, or (None) in none."""
        self._texts = [] if text is None else [text]

    def note(self, text: str) -> None:
        """Keep a text that was saved."""
        self._texts = [*self._others(text)[-1:], text]

    def before(self, text: str) -> str | None:
        """Return what was saved last before `text`; None: nothing else was."""
        others = self._others(text)
        return others[-1] if others else None

    def _others(self, text: str) -> list[str]:
        return [each for each in self._texts if each != text]
