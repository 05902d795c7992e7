"""The modes of the window in the order in which one meets them, for papers, help and pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from workbench.base.paths import asset


@dataclass(frozen=True, slots=True)
class Mode:
    """The name of a mode; its key is that of `tests/window_driver.py` and of its screenshot."""

    key: str
    title: str

    @property
    def words(self) -> str:
        """A short paragraph, with the keys that lead there; its first sentence can stand alone."""
        return _texts()[self.key]

    @property
    def first_sentence(self) -> str:
        """First sentence of its words, with a full stop."""
        return self.words.partition(". ")[0].removesuffix(".") + "."


_TITLES = {
    "result": "Result",
    "wipe": "Wipe",
    "side": "Side by side",
    "difference": "Difference",
    "values": "Values in the cells",
    "pins": "Several results",
    "analysis": "Analysis",
    "mismatch": "Mismatch",
    "pixel": "This pixel",
    "anatomy": "Anatomy of a launch",
    "ladder": "Implementation and ladder",
    "blocks": "Block shapes, live",
    "weights": "Weights",
    "kernel": "Kernel",
    "error": "An error in a kernel",
    "race": "A bug found",
    "stepping": "Stepping through a kernel",
    "sweep": "Sweep",
    "presenter": "Presenter",
    "palette": "All actions",
    "help": "Help",
}
MODES = {key: Mode(key, title) for key, title in _TITLES.items()}


@cache
def _texts() -> dict[str, str]:
    """Read the paragraphs below the headings of assets/help/modes.md."""
    _, *parts = re.split(r"^## (\w+)$", asset("help/modes.md").read_text("utf-8"), flags=re.M)
    texts = (" ".join(text.split()) for text in parts[1::2])
    return dict(zip(parts[::2], texts, strict=True))
