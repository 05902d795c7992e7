"""Implementations that Python drives on the CPU: add a module and it is in every list.

A module has

    TITLE, IDEA    what people call it, and one sentence on how it works
    ORDER          where it stands in a list, slowest first
    ERROR_FACTOR   c of `check.error_bound`
    chain(job)     n of `check.error_bound`
    why_not(job) -> str | None
    threads() -> int
    prepare(job) -> bool                  compile or import; True if that took place just now
    filtering(job, out) -> Iterator[None]
                   fills `out` in steps of some 20 ms and yields after each, so that whoever
                   drives it can pause or stop there; the time between yields is what is timed
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from numpy.typing import NDArray

from kernels.device import Device, NoDevice
from kernels.job import Job


@dataclass(frozen=True, slots=True)
class HostImplementation:
    """What one module of this folder says about itself; see the folder's docstring."""

    key: str
    title: str
    idea: str
    order: int
    error_factor: float
    chain: Callable[[Job], int]
    refuses: Callable[[Job], str | None]
    threads: Callable[[], int]
    prepare: Callable[[Job], bool]
    filtering: Callable[[Job, NDArray[Any]], Iterator[None]]
    kind: Literal["cpu"] = "cpu"

    def why_not(self, job: Job, device: Device | NoDevice | None = None) -> str | None:  # noqa: ARG002
        """The reason it cannot run `job`, for the user; None if it can.  Needs no device."""
        return self.refuses(job)


@cache
def host_implementations() -> tuple[HostImplementation, ...]:
    """Every implementation of this folder, slowest first."""
    found = (_read(info.name) for info in pkgutil.iter_modules(__path__))
    return tuple(sorted((each for each in found if each), key=lambda each: each.order))


def _read(name: str) -> HostImplementation | None:
    module = importlib.import_module(f"{__name__}.{name}")
    if not hasattr(module, "filtering"):
        return None  # a helper of the folder
    return HostImplementation(
        key=name,
        title=module.TITLE,
        idea=module.IDEA,
        order=module.ORDER,
        error_factor=module.ERROR_FACTOR,
        chain=module.chain,
        refuses=module.why_not,
        threads=module.threads,
        prepare=module.prepare,
        filtering=module.filtering,
    )
