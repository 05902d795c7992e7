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


@dataclass(frozen=True, slots=True)
class Mode:
    """A mode's title, and a short paragraph; its first sentence can stand alone."""

    title: str
    words: str

    @property
    def first_sentence(self) -> str:
        """First sentence of its words, with a full stop."""
        return self.words.partition(". ")[0].removesuffix(".") + "."


@cache
def modes() -> dict[str, Mode]:
    """Read assets/help/modes.md; keys are those of `tests/window_driver.py` and screenshots."""
    text = asset("help/modes.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## (\w+): (.+)$", text, flags=re.M)
    words = (" ".join(part.split()) for part in parts[2::3])
    return dict(zip(parts[::3], map(Mode, parts[1::3], words), strict=True))
