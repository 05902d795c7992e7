"""Times that came with the program: what one GPU took for the jobs of `workbench bench kernels`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from math import log2, prod
from typing import Any

from kernels import filters
from kernels.core.errors import SessionFileError
from kernels.core.job import Job
from kernels.core.timing import Cache
from kernels.engine.auto import DEFAULT_BLOCK_XY
from kernels.rungs.rung import ladder
from kernels.sweeps.record import Measurement, Session
from kernels.sweeps.session_files import read_session
from workbench.base.assets_path import asset
from workbench.model.rung_times import RecordedTime, WorkKey

MEASURED, SESSIONS = "measured/ladder.json", "recorded"  # in assets
CACHE: Cache = "cold"  # the L2 before each sample of all that was recorded of rungs


@dataclass(frozen=True, slots=True)
class RecordedJob:
    """A job whose ladder was recorded: a filter by its key, with its own weights, border clamp.

    shape  (H, W, C)
    """

    filter: str
    ksize: int
    shape: tuple[int, int, int]
    pixel_type: str

    @property
    def work(self) -> WorkKey:
        """Return the key that jobs of the same work share."""
        chosen = filters.get(self.filter)
        weights = chosen.weights(self.ksize)
        return WorkKey.of_weights(self.shape, self.pixel_type, weights, gradient=chosen.gradient)

    @property
    def in_words(self) -> str:
        """Return "Gaussian blur 5×5, 768×512, 3 channels uint8"."""
        height, width, channels = self.shape
        title = f"{filters.get(self.filter).title} {self.ksize}×{self.ksize}"
        count = f"{channels} channel{'s' if channels > 1 else ''}"
        return f"{title}, {width}×{height}, {count} {self.pixel_type}"

    def distance(self, job: Job, key: str) -> float:
        """Return how far it is from `job` of the filter `key`: a name counts as two doublings."""
        sizes = abs(log2(prod(self.shape) / prod(job.picture.shape)))
        products = 2 * abs(log2(self.ksize / job.ksize))
        others = (self.filter != key) + (self.pixel_type != job.pixel_type)
        return float(sizes + products + 2 * others + (self.shape[2] != job.picture.shape[-1]))


@dataclass(frozen=True, slots=True)
class RecordedTimes:
    """The times by the work that was timed, and by implementation.

    device  the GPU that they were measured on: "NVIDIA H200"
    cpu     what OpenCV ran on there
    jobs    those of which the whole ladder was recorded
    """

    device: str = ""
    cpu: str = ""
    jobs: tuple[RecordedJob, ...] = ()
    _times: Mapping[WorkKey, Mapping[str, RecordedTime]] = field(default_factory=dict)

    def of_work(self, job: Job) -> Mapping[str, RecordedTime]:
        """Return the times of the work of `job`, by implementation; its picture's content is free.

        Empty where this work was not measured.
        """
        return self._times.get(WorkKey.of(job), {})

    def of_recorded(self, job: RecordedJob) -> Mapping[str, RecordedTime]:
        """Return the times of a job that was recorded, by implementation, for any other job."""
        times = self._times[job.work]
        return {key: replace(each, of=job.in_words) for key, each in times.items()}

    def nearest(self, job: Job, key: str) -> RecordedJob | None:
        """Return the recorded job that is most like `job` of the filter `key`; None without any."""
        return min(self.jobs, key=lambda each: each.distance(job, key), default=None)


@cache
def recorded_times() -> RecordedTimes:
    """Return the recorded times; none where the file is missing or no good.

    Reads a file of half a megabyte the first time.
    """
    try:
        data = json.loads(asset(MEASURED).read_text(encoding="utf-8"))
        device = data["device"]["name"]
        cells = [cell for cell in data["cells"] if _is_of_a_filter(cell)]
        jobs = tuple(_job(cell) for cell in cells)
        known = [_times(cell, device, data["cpu"]) for cell in cells]
        times = {job.work: each for job, each in zip(jobs, known, strict=True)}
        return RecordedTimes(device, data["cpu"], jobs, times)
    except (OSError, ValueError, KeyError, TypeError):
        return RecordedTimes()


@cache
def all_recorded_times() -> RecordedTimes:
    """Return the recorded times, and those of the sessions that came with the program.

    Reads some megabytes the first time, which takes half a second: not for the GUI's thread.
    """
    found = recorded_times()
    times: dict[WorkKey, dict[str, RecordedTime]] = {}
    for path in sorted(asset(SESSIONS).iterdir()):
        with suppress(SessionFileError):
            _add_session(times, read_session(path))
    for work, known in found._times.items():  # these count more: all rungs, one after the other
        times.setdefault(work, {}).update(known)
    return replace(found, _times=times)


def why_not_beside(cache: Cache) -> str:
    """Say why recorded times do not compare with what `cache` asks for; empty where they do."""
    if cache == CACHE:
        return ""
    return f"You chose L2 {cache}: times recorded with L2 {CACHE} do not compare with that."


def _add_session(times: dict[WorkKey, dict[str, RecordedTime]], session: Session) -> None:
    """Add the rungs' times, each with its usual block shape if that was measured."""
    for cell, measured in ((each.cell, each.outcome) for each in session.records):
        if not isinstance(measured, Measurement) or cell.cache != CACHE or cell.count > 1:
            continue
        if measured.check is None or not measured.check.ok:
            continue
        known = times.setdefault(WorkKey.of_cell(cell), {})
        if cell.implementation not in known or cell.block_xy == DEFAULT_BLOCK_XY:
            kernel = measured.kernel
            known[cell.implementation] = RecordedTime(
                kernel.median_ms,
                kernel.quartiles_ms,
                len(kernel.samples_ms),
                cell.block_xy,
                session.machine.gpu,
                cell.cache,
            )


def _is_of_a_filter(cell: Mapping[str, Any]) -> bool:
    return any(cell["weights"] == each.key for each in filters.all_filters())


def _job(cell: Mapping[str, Any]) -> RecordedJob:
    shape = (cell["height"], cell["width"], cell["channels"])
    return RecordedJob(cell["weights"], cell["ksize"], shape, cell["pixel_type"])


def _times(cell: Mapping[str, Any], device: str, cpu: str) -> dict[str, RecordedTime]:
    own = {rung.key for rung in ladder() if rung.own_block}
    found = {
        each["key"]: _time(each, device, None if each["key"] in own else tuple(each["block_xy"]))
        for each in cell["rungs"]
        if each["ok"] and each["ms"]
    }
    of_opencv = [
        each for each in cell.get("peers", ()) if each["module"] == "opencv" and each["ok"]
    ]
    if of_opencv:
        quickest = min(of_opencv, key=lambda each: float(each["ms"]))
        found["opencv"] = _time(quickest, cpu, None, None)
    return found


def _time(
    measured: Mapping[str, Any], device: str, block_xy: Any, cache: Cache | None = CACHE
) -> RecordedTime:
    low, high = measured["quartiles"]
    samples = measured.get("samples") or 0
    return RecordedTime(measured["ms"], (low, high), samples, block_xy, device, cache)
