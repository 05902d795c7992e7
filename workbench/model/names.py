"""Names of implementations, filters, choices and modes, also of other versions, and of hardware."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from kernels import filters
from kernels.core.errors import KernelError
from kernels.engine.engine import all_implementations
from kernels.sweeps.record import Machine
from workbench.base.paths import asset

KEYS = tuple(each.key for each in all_implementations())
# How negative values are shown, by State.negative_display.
NEGATIVE_TITLES = {
    None: "Auto",
    "clip": "Clip",
    "absolute": "Absolute",
    "offset": "Centre on grey",
    "scaled": "Fit range",
}


@lru_cache(maxsize=512)
def implementation_title(implementation: str) -> str:
    """Title of an implementation; its key, a user kernel's file name, where it is unknown."""
    return next((i.title for i in all_implementations() if i.key == implementation), implementation)


def place_of(implementation: str) -> int:
    """Place of an implementation on the ladder, from 0; unknown ones have the last."""
    return KEYS.index(implementation) if implementation in KEYS else len(KEYS)


@lru_cache(maxsize=512)
def kind_of(implementation: str) -> str:
    """ "cpu" or "cuda"; the latter where this program does not have it."""
    return next((i.kind for i in all_implementations() if i.key == implementation), "cuda")


def ran_on(machine: Machine, implementations: Iterable[str]) -> str:
    """Parts of `machine` that run these: "NVIDIA H200 and Intel Xeon"."""
    kinds = {kind_of(key) for key in implementations}
    parts = [machine.gpu] * ("cuda" in kinds) + [cpu_name(machine.cpu)] * ("cpu" in kinds)
    return " and ".join(filter(None, parts)) or machine.name


def cpu_name(cpu: str) -> str:
    """A `Machine.cpu` without its number of cores."""
    return cpu.partition(",")[0]


@lru_cache(maxsize=512)
def filter_title(key: str) -> str:
    """Title of a filter; its key where this program does not have it."""
    try:
        return filters.get(key).title
    except KernelError:
        return key


# -- the modes of the window in the order in which one meets them


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
