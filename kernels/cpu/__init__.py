"""Implementations on the CPU: each module here that has HOST is one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from numpy.typing import NDArray

from kernels.core.device import Device, NoDevice
from kernels.core.job import Job, Ran
from kernels.core.verdict import Tolerance


@dataclass(frozen=True, slots=True)
class HostImplementation:
    """An implementation on the CPU, as one module of this folder describes itself."""

    key: str
    title: str
    idea: str  # one sentence on how it works
    order: int  # where it stands in a list, slowest first
    tolerance: Callable[[Job], Tolerance]
    prepare: Callable[[Job], Prepared]  # whatever is done once: compile, import, choose
    refuses: Callable[[Job], str | None] = lambda _: None
    compiles: Callable[[Job], bool] = lambda _: False  # whether `prepare` does first, for seconds
    kind: Literal["cpu"] = "cpu"

    def why_not(self, job: Job, device: Device | NoDevice | None = None) -> str | None:  # noqa: ARG002
        """The reason why it cannot run `job`, for the user; None if it can.  Needs no device."""
        return self.refuses(job)


@cache
def host_implementations() -> tuple[HostImplementation, ...]:
    """Every implementation of this folder, slowest first."""
    # What begins with an underscore imports numba, and is imported when it is first used.
    names = (info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    found = (module.HOST for module in modules if hasattr(module, "HOST"))
    return tuple(sorted(found, key=lambda each: each.order))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job that is ready to be run, any number of times.

    filtering  fills an array like job.picture in steps of some 20 ms, which are timed, and yields
               after each the share that is done
    """

    ran: Ran  # what is called, and on how many threads
    filtering: Callable[[NDArray[Any]], Iterator[float]]
