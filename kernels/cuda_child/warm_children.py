"""The children of this process: one at work, and one that stands by, both warm.

None is started before the first run.  One takes a second or two to start: Python, CuPy and a
context of CUDA.  So when one has to be ended, another is ready already.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from time import monotonic

from kernels.cuda_child.child_endings import RunEndedError
from kernels.cuda_child.warm_child import CUDA, Limits, WarmChild

LEFT_AT_WORK_S = 0.2  # longer than a run takes, as a rule, that nobody waits for any more
# CuPy never unloads a program, so what each has declared __device__ stays in the GPU's memory.
MAX_COMPILED = 200
LEAVING_S = 2.0  # at the end of this process, for children to be gone


@dataclass(frozen=True, slots=True)
class Held:
    """The memory that children hold, in bytes: of this computer, and of the GPU, in arrays.

    CUDA's contexts take some hundred MB of the GPU's memory besides, each.
    """

    children: int
    host_bytes: int
    device_bytes: int


class WarmChildren:
    """Children of one device; may be used from several threads.

    maker, index, limits  of each, see `WarmChild`
    """

    def __init__(self, maker: str = CUDA, index: int = 0, limits: Limits | None = None) -> None:
        self._maker, self._index, self._limits = maker, index, limits
        self._lock = threading.Lock()
        self._waiting: list[WarmChild] = []  # the last one is taken first
        self._out: list[WarmChild] = []
        self._ended: list[WarmChild] = []  # not gone yet

    def taking(self) -> Generator[None, None, WarmChild]:
        """Return a child that is ready; it has to be given back.

        One that somebody left at work is waited for: a while, where another one is ready, else up
        to its deadlines.  It is replaced where that ends badly.
        Raises RunEndedError where none starts.
        """
        while True:
            child = self._taken()
            is_new = child.facts is None
            try:
                yield from self._waiting_for(child)
            except RunEndedError:
                self.give_back(child)
                if is_new:
                    raise
                continue
            except BaseException:  # nobody drives this any more
                self.give_back(child)
                raise
            if child.is_usable:
                return child
            self.give_back(child)

    def _waiting_for(self, child: WarmChild) -> Generator[None, None, None]:
        """Wait until it is ready; end it where that takes long, and another one is."""
        until = monotonic() + LEFT_AT_WORK_S
        for _ in child.ready():
            if monotonic() > until and self.has_ready:
                child.end()
                return
            yield

    def give_back(self, child: WarmChild) -> None:
        """Keep a child for who takes one next, unless it has ended, or has had many texts."""
        with self._lock:
            self._out.remove(child)
            if child.compiled >= MAX_COMPILED and any(each.is_ready for each in self._waiting):
                child.end()
            self._waiting.append(child)
            self._drop_ended()

    def keep_spare(self) -> None:
        """Have one stand by, in case that the one at work has to be ended."""
        with self._lock:
            self._drop_ended()
            if not self._waiting:
                with suppress(RunEndedError):  # who takes one will be told, if it is still so
                    self._waiting.append(WarmChild(self._maker, self._index, self._limits))

    @property
    def has_ready(self) -> bool:
        """Return whether one stands by that would do at once what it is asked for."""
        with self._lock:
            return any(each.is_ready for each in self._waiting)

    def held(self) -> Held:
        """Return the memory that all of them hold."""
        with self._lock:
            self._reap()
            all_of_them = (*self._waiting, *self._out)
            return Held(
                len(all_of_them),
                sum(each.held_bytes for each in all_of_them),
                sum(each.device_bytes for each in all_of_them),
            )

    def end(self, patience_s: float = LEAVING_S) -> None:
        """End all of them, and wait for that for a while; the next run starts one again."""
        with self._lock:
            for each in (*self._waiting, *self._out):
                each.end()
            self._ended += self._waiting
            self._waiting = []
            gone = [each for each in self._ended if each.code(patience_s) is not None]
            self._ended = [each for each in self._ended if each not in gone]

    def _taken(self) -> WarmChild:
        with self._lock:
            self._drop_ended()
            if not self._waiting:
                self._waiting.append(WarmChild(self._maker, self._index, self._limits))
            child = self._waiting.pop()
            self._out.append(child)
            return child

    def _drop_ended(self) -> None:
        for each in [each for each in self._waiting if not each.is_usable]:
            self._waiting.remove(each)
            each.end()
            self._ended.append(each)
        self._reap()

    def _reap(self) -> None:
        self._ended = [each for each in self._ended if each.code() is None]


@cache
def cuda_children(index: int = 0) -> WarmChildren:
    """Return those of a GPU: the same ones for all that ask."""
    children = WarmChildren(CUDA, index)
    atexit.register(children.end)
    return children
