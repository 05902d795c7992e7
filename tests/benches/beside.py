"""Compare the times of a sweep alone with those beside a user kernel that is typed and tried.

One owner of the GPU: no sample of the one may be timed during a sample of the other.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import perf_counter, time_ns
from typing import Any

from kernels.core.device import Device
from kernels.core.job import Sampling
from kernels.pictures import generated
from kernels.rungs.own_kernels import starting_points
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_run import in_words, sweeping
from kernels.sweeps.record import Record
from tests.benches import bench
from tests.benches.bench import BenchRow
from workbench.cli.draw_window import real_window, settle, wait_for_device, wait_until
from workbench.cli.output import CommandError
from workbench.imaging.pictures import Picture
from workbench.panels.kernel.kernel_pane import KernelPane
from workbench.window.main_window import MainWindow

TITLE = "A sweep alone, alone again, and beside the Kernel panel that is typed into"
PLAN = Plan(
    "alone and beside",
    ("global", "shared", "separable", "register_tile"),
    sizes=((512, 512), (2048, 2048)),
    ksizes=(3, 9),
    sampling=Sampling(min_samples=20, max_samples=100, max_seconds=0.5),
)
SIDE, KEY = 1024, "shared"
# Between the end of a trial and the next text: trials go first, so without it no sweep would end.
REST_S = 1.0
Times = dict[str, tuple[float, ...]]


def measure(arguments: Namespace) -> Iterator[BenchRow]:
    """Sweep three times in one window; yield what each cell takes, and the ratios."""
    with real_window(arguments, {}) as window:
        wait_for_device(window)
        if not isinstance(window.device, Device):
            raise CommandError("There is no GPU whose times could be disturbed.")
        settle(
            window,
            lambda: window.store.update(picture=Picture("noise", generated.noise(SIDE, SIDE, 3))),
        )
        window.docks.enter("Kernel")
        page = window.kernel.get()
        page.files.begin_new(KEY)
        wait_until(window, lambda: page.is_tried)
        typing = _Typing(page)
        alone = _swept(window)
        yield from (BenchRow(f"{cell}, alone", samples) for cell, samples in alone.items())
        for name, meanwhile in (("alone again", lambda: None), ("beside", typing.go_on)):
            other = _swept(window, meanwhile)
            yield from (BenchRow(f"{cell}, {name}", samples) for cell, samples in other.items())
            ratios = [median(other[cell]) / median(alone[cell]) for cell in alone if cell in other]
            words = f"median {median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}"
            yield BenchRow(f"{name} / alone, {len(ratios)} cells", figure=words)
        yield BenchRow("texts typed meanwhile", figure=str(typing.count))


class _Typing:
    """Somebody who types another text once the last one was tried on the GPU, after a rest."""

    def __init__(self, page: KernelPane) -> None:
        self._page, self._busy_s, self.count = page, 0.0, 0
        self._text = next(each.text for each in starting_points() if each.key == KEY)

    def go_on(self) -> None:
        if not self._page.is_tried:
            self._busy_s = perf_counter()
        elif perf_counter() - self._busy_s > REST_S:
            self._busy_s, self.count = perf_counter(), self.count + 1
            self._page.entrance.replace_text(f"{self._text}// {time_ns()}\n")


def _swept(window: MainWindow, meanwhile: Callable[[], None] = lambda: None) -> Times:
    """Sweep; return the samples of every verified cell, by its name."""
    times: Times = {}
    ended: list[bool] = []

    def end(_error: object, is_complete: bool) -> None:
        ended.append(is_complete)

    def take(step: Any) -> None:
        if isinstance(step, Record) and (right := step.verified) is not None:
            times[in_words(step.cell)] = tuple(right.kernel.samples_ms)

    def is_over() -> bool:
        meanwhile()
        return bool(ended)

    worker = window.worker
    worker.sweep.stepped.connect(take)
    worker.sweep.ended.connect(end)
    worker.sweep.start(partial(sweeping, PLAN))
    wait_until(window, is_over)
    worker.sweep.stepped.disconnect(take)
    worker.sweep.ended.disconnect(end)
    return times


main = partial(bench.main_of_window, "beside", TITLE, measure, has_runs=False)


if __name__ == "__main__":
    sys.exit(main())
