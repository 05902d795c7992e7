"""Other ways to time a launch with CUDA's events: Triton's do_bench, and a loop in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.cuda.event_timer import Queue
from workbench.cli.peers import importable

RUNS, WARMUPS = 100, 20
QUARTILES = (0.25, 0.5, 0.75)
Launch = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Clocked:
    """A median and its quartiles, in milliseconds."""

    low_ms: float
    median_ms: float
    high_ms: float


@dataclass(frozen=True, slots=True)
class OtherClock:
    """A way to time that is not ours.

    evicts   how it empties the L2
    same     whether it does so as we do: only then has it to agree
    time     of one launch, on the queue's stream, which PyTorch has as its current one meanwhile
    missing  why it cannot be used here; None if it can
    """

    name: str
    evicts: str
    same: bool
    time: Callable[[Queue, Launch], Clocked]
    missing: Callable[[], str | None]


def other_clocks() -> tuple[OtherClock, ...]:
    """Return all of them, whether installed or not."""
    return (
        OtherClock("torch.cuda.Event", "our reads", True, _torch_events, _no_torch),
        OtherClock("do_bench, our reads", "our reads", True, _do_bench_evicting, _no_hook),
        OtherClock("do_bench", "its own zeroing memset", False, _do_bench, _no_triton),
    )


def _no_torch() -> str | None:
    if reason := importable("torch", "PyTorch"):
        return reason
    import torch

    return None if torch.cuda.is_available() else "This PyTorch finds no GPU."


def _no_triton() -> str | None:
    return _no_torch() or importable("triton.testing", "Triton")


def _no_hook() -> str | None:
    if reason := _no_triton():
        return reason
    if hasattr(_triton_driver(), "clear_cache"):
        return None
    return "This Triton's do_bench cannot be told how to empty the L2."


def _torch_events(queue: Queue, launch: Launch) -> Clocked:
    """Time by events right around the launch.

    While the L2 is emptied, the host queues what follows.
    """
    import torch

    with _in_torch(queue):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times_ms = []
        for _ in range(WARMUPS + RUNS):
            queue.timer.evict()
            start.record()
            launch()
            stop.record()
            stop.synchronize()
            times_ms.append(start.elapsed_time(stop))
    return Clocked(*map(float, np.quantile(times_ms[WARMUPS:], QUARTILES)))


def _do_bench(queue: Queue, launch: Launch) -> Clocked:
    from triton.testing import do_bench

    with _in_torch(queue):
        return Clocked(*do_bench(launch, quantiles=list(QUARTILES)))


def _do_bench_evicting(queue: Queue, launch: Launch) -> Clocked:
    driver = _triton_driver()
    before = driver.clear_cache
    driver.clear_cache = lambda _: queue.timer.evict()
    try:
        return _do_bench(queue, launch)
    finally:
        driver.clear_cache = before


def _triton_driver() -> Any:
    from triton.runtime import driver

    return driver.active


@contextmanager
def _in_torch(queue: Queue) -> Iterator[None]:
    """Return the queue's stream as PyTorch's current one."""
    import torch

    with torch.cuda.stream(torch.cuda.ExternalStream(queue.stream)):
        yield
