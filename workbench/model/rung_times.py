"""Times measured in this session, by the work that was timed, and each rung's place by them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from math import log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.device import Occupancy
from kernels.core.errors import SessionFileError
from kernels.core.job import Job, Result
from kernels.core.timing import Cache, Timing
from kernels.engine.auto import DEFAULT_BLOCK_XY
from kernels.engine.engine import Implementation
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.own_kernels import is_own, text_hash
from kernels.rungs.rung import Rung, ladder
from kernels.sweeps.cell_jobs import weights_of
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Measurement, Record, Session
from kernels.sweeps.session_files import read_session
from workbench.base import numbers
from workbench.base.numbers import star, why_starred
from workbench.base.paths import asset
from workbench.model.cell_words import where
from workbench.model.intents import implementation_of

MEASURED, SESSIONS = "measured/ladder.json", "recorded"  # in assets
WORK = ("width", "height", "channels", "pixel_type")
CACHE: Cache = "cold"  # the L2 before each sample of all that was recorded of rungs


@dataclass(frozen=True, slots=True)
class RecordedTimes:
    """Times by the work that was timed, and by implementation.

    device  the GPU that they were measured on: "NVIDIA H200"
    jobs    those with the whole ladder recorded
    """

    device: str = ""
    jobs: tuple[Cell, ...] = ()
    _times: Mapping[WorkKey, Mapping[str, Time]] = field(default_factory=dict)

    def of_work(self, job: Job) -> Mapping[str, Time]:
        """Times of the work of `job`, by implementation, for any picture of its shape."""
        return self._times.get(WorkKey.of(job), {})

    def of_nearest(self, job: Job, filter_key: str) -> tuple[str, Mapping[str, Time]]:
        """The recorded job most like `job` of that filter, in words, and its times to be shown."""
        nearest = min(self.jobs, key=lambda each: _distance(each, job, filter_key), default=None)
        if nearest is None:
            return "", {}
        words = where(nearest, ("filters", "ksizes", "sizes", "channels"))
        words += f" {nearest.pixel_type}"
        times = self._times[WorkKey.of_cell(nearest)]
        return words, {key: replace(each, of=words) for key, each in times.items()}


def _distance(cell: Cell, job: Job, filter_key: str) -> float:
    """Distance of the work of `cell` from `job`: another filter counts as two doublings."""
    samples = cell.pixels * cell.channels
    sizes = abs(log2(samples / job.picture.size))
    products = 2 * abs(log2(cell.ksize / job.ksize))
    others = (cell.filter != filter_key) + (cell.pixel_type != job.pixel_type)
    return sizes + products + 2 * others + (cell.channels != job.channels)


@cache
def recorded_times() -> RecordedTimes:
    """Read the recorded times, half a megabyte the first time; none without a usable file."""
    try:
        data = json.loads(asset(MEASURED).read_text(encoding="utf-8"))
        device = data["device"]["name"]
        known_filters = {each.key for each in filters.all_filters()}
        recorded = [each for each in data["cells"] if each["weights"] in known_filters]
        cells = tuple(
            Cell(
                "",
                filter=each["weights"],
                **{name: each[name] for name in ("ksize", *WORK)},
            )
            for each in recorded
        )
        known = [_times(each, device, data["cpu"]) for each in recorded]
        times = {WorkKey.of_cell(cell): each for cell, each in zip(cells, known, strict=True)}
        return RecordedTimes(device, cells, times)
    except (OSError, ValueError, KeyError, TypeError):
        return RecordedTimes()


@cache
def all_recorded_times() -> RecordedTimes:
    """Read also the sessions of the program, in half a second the first time."""
    found = recorded_times()
    times: dict[WorkKey, dict[str, Time]] = {}
    for path in sorted(asset(SESSIONS).iterdir()):
        with suppress(SessionFileError):
            _add_session(times, read_session(path))
    for work, known in found._times.items():  # these count more: all rungs, one after the other
        times.setdefault(work, {}).update(known)
    return replace(found, _times=times)


def why_not_beside(cache: Cache) -> str:
    """Reason why recorded times do not compare with `cache`; empty where they do."""
    if cache == CACHE:
        return ""
    return f"You chose L2 {cache}: times recorded with L2 {CACHE} do not compare with that."


def _add_session(times: dict[WorkKey, dict[str, Time]], session: Session) -> None:
    """Add the rungs' times, each with its usual block shape if that was measured."""
    place = f"{session.machine.gpu}, L2 {CACHE}"
    for cell, measured in ((each.cell, each.outcome) for each in session.records):
        if not isinstance(measured, Measurement) or cell.cache != CACHE or cell.count > 1:
            continue
        if measured.check is None or not measured.check.ok:
            continue
        known = times.setdefault(WorkKey.of_cell(cell), {})
        if cell.implementation not in known or cell.block_xy == DEFAULT_BLOCK_XY:
            known[cell.implementation] = Time.of_samples(
                measured.kernel, cell.block_xy, where=place
            )


def _times(cell: Mapping[str, Any], device: str, cpu: str) -> dict[str, Time]:
    own, place = {rung.key for rung in ladder() if rung.own_block}, f"{device}, L2 {CACHE}"
    found = {}
    for each in cell["rungs"]:
        if each["ok"] and each["ms"]:
            block_xy = None if each["key"] in own else tuple(each["block_xy"])
            found[each["key"]] = _recorded(each, place, block_xy)
    peers = [each for each in cell.get("peers", ()) if each["module"] == "opencv" and each["ok"]]
    if peers:
        found["opencv"] = _recorded(min(peers, key=lambda each: float(each["ms"])), cpu, None)
    return found


def _recorded(measured: Mapping[str, Any], place: str, block_xy: Any) -> Time:
    low, high = measured["quartiles"]
    samples = measured.get("samples") or 0
    return Time(measured["ms"], (low, high), samples, block_xy, where=place)


MAX_WORKS = 256  # a large sweep has a few dozen

Block = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WorkKey:
    """A key that two jobs share where their times can be compared.

    Two are equal where `Job.same_work(…, any_content=True)` holds; a sweep's cell has one, too.

    weights  their hash: a session may see thousands, of up to 64 kB each
    """

    shape: tuple[int, ...]
    pixel_type: str
    weights: bytes
    gradient: bool
    border: str = "clamp"
    offset: float = 0.0

    @classmethod
    def of(cls, job: Job) -> WorkKey:
        """Key of `job`."""
        weights = _hash(job.weights)
        facts = (job.gradient, job.border, job.offset)
        return cls(job.picture.shape, job.pixel_type, weights, *facts)

    @classmethod
    def of_cell(cls, cell: Cell) -> WorkKey:
        """Key of one of the pictures of `cell`, which has no offset."""
        shape, chosen = (cell.height, cell.width, cell.channels), filters.get(cell.filter)
        return cls(shape, cell.pixel_type, _hash(weights_of(cell)), chosen.gradient, cell.border)


@dataclass(frozen=True, slots=True)
class Time:
    """One implementation's newest time of some work, measured here or recorded elsewhere.

    samples    their number
    block_xy   threads of a block as they were chosen; None where there was nothing to choose
    is_single  True for a single run, whose disturbances are unknown
    is_wrong   True if its output is wrong, so that the time says nothing about speed
    occupancy  of its first pass, where the driver was asked
    disturbances  possible falsifications, in words
    where      it was recorded: "NVIDIA H200, L2 cold"; empty: here
    of         the job that was timed, in words, where it is shown for another one; "" else
    """

    median_ms: float
    quartiles_ms: tuple[float, float]
    samples: int
    block_xy: Block | None
    is_single: bool = False
    is_wrong: bool = False
    occupancy: Occupancy | None = None
    disturbances: tuple[str, ...] = ()
    where: str = ""
    of: str = ""

    @classmethod
    def of_samples(cls, kernel: Timing, block_xy: Block | None, **facts: Any) -> Time:
        """Make the time of a kernel's samples."""
        count = len(kernel.samples_ms)
        return cls(
            kernel.median_ms, kernel.quartiles_ms, count, block_xy, kernel.is_single, **facts
        )

    @property
    def duration(self) -> str:
        """Format its median, with a star where something disturbed it."""
        return f"{numbers.duration(self.median_ms)}{star(self.disturbances)}"

    @property
    def in_words(self) -> str:
        """Format where it was recorded: "Recorded on an NVIDIA H200, L2 cold: 13.2 µs", and how."""
        quartiles = numbers.duration_range(*self.quartiles_ms, self.median_ms)
        count = f", n = {self.samples}" if self.where and self.samples else ""
        words = (
            f"Recorded on an {self.where}: {self.duration}" if self.where else "",
            f"for another job: {self.of}" if self.of else "",
            "a single run" if self.is_single else f"quartiles {quartiles}{count}",
            "blocks {}×{}".format(*self.block_xy) if self.block_xy else "",
            self.occupancy.limit if self.occupancy else "",
            why_starred(self.disturbances),
            "its output is WRONG" if self.is_wrong else "",
        )
        return "\n".join(filter(None, words))


@dataclass(frozen=True, slots=True)
class LadderLine:
    """One line of the ladder.

    reason  why it cannot run the present job; None if it can
    time    measured here, else recorded; None without either
    before  the implementation it is compared with: the one it changes a thing about
    ratio   times as fast as `before`; None while one of the two is not measured, or was run once
    """

    implementation: Implementation
    reason: str | None
    time: Time | None
    before: Implementation | None
    ratio: float | None

    @property
    def median_ms(self) -> float | None:
        """Median in milliseconds; None without one."""
        return self.time.median_ms if self.time else None

    @property
    def in_words(self) -> str:
        """Format the line for a tooltip and for screen readers."""
        title, time = self.implementation.title, self.time
        if time is None:
            return f"{title}: {self.reason or 'not measured yet'}"
        ratio = ""
        if self.ratio is not None and self.before is not None:
            ratio = f"{numbers.times_as_fast(self.ratio)} {self.before.title}"
        head, reason = (title, "") if time.where else (f"{title}: {time.duration}", self.reason)
        return "\n".join(filter(None, (head, time.in_words, ratio, reason)))


class _Way(NamedTuple):
    """One way to do a work; on the CPU cache is None, for any GPUs."""

    key: str
    block_xy: Block | None
    cache: Cache | None
    devices: int


class RungTimes:
    """A memory of the newest time of each way to do a work: see `_Way`.

    Of more than MAX_WORKS works, those that were measured longest ago are forgotten.
    """

    def __init__(self) -> None:
        self._times: dict[WorkKey, dict[_Way, Time]] = {}

    def add_result(self, result: Result) -> None:
        """Add the time of a result, with its chosen or picked block shape."""
        if result.kernel is None:
            return
        key, picked = _key_of(result.implementation, result.job.own), result.picked
        asked = (picked.block_xy if picked else None) or result.job.block_xy
        chosen = implementation_of(result.job, picked)
        takes_one = isinstance(chosen, Rung | OwnKernel) and not chosen.own_block
        way = _Way(key, asked if takes_one else None, result.kernel.cache, result.job.devices)
        self._add(WorkKey.of(result.job), way, result.kernel, result)

    def add_record(self, record: Record) -> None:
        """Add a sweep's measurement; ignore a time of several pictures, and a failed cell."""
        cell, measured = record.cell, record.outcome
        if isinstance(measured, Measurement) and cell.count == 1:
            key, kernel = f"{cell.implementation} {cell.text_sha256}".rstrip(), measured.kernel
            way = _Way(key, cell.block_xy, kernel.cache, cell.devices)
            self._add(WorkKey.of_cell(cell), way, kernel, measured)

    def of_work(self, job: Job, cache: Cache) -> dict[str, Time]:
        """Times of the work of `job`, by implementation: with its block shape, else the newest."""
        found: dict[str, Time] = {}
        for way, time in self._times.get(WorkKey.of(job), {}).items():
            if way.cache is not None and (way.cache, way.devices) != (cache, job.devices):
                continue
            is_exact = way.key in found and found[way.key].block_xy == job.block_xy
            if way.block_xy == job.block_xy or not is_exact:
                found[way.key] = time
        return found

    def _add(
        self, work: WorkKey, way: _Way, kernel: Timing, measured: Result | Measurement
    ) -> None:
        times = self._times[work] = self._times.pop(work, {})  # the newest work stands last
        times.pop(way, None)  # so that the newest stands last
        times[way] = Time.of_samples(
            *(kernel, way.block_xy),
            is_wrong=measured.check is not None and not measured.check.ok,
            occupancy=measured.occupancy,
            disturbances=measured.disturbances,
        )
        while len(self._times) > MAX_WORKS:
            del self._times[next(iter(self._times))]


def ladder_places(
    availability: Iterable[tuple[Implementation, str | None]],
    times: RungTimes,
    job: Job | None,
    cache: Cache,
    recorded: Mapping[str, Time] | None = None,
) -> list[LadderLine]:
    """Make a ladder line for each implementation given, in their order.

    job       the present one, of whatever implementation; None: there is none
    recorded  times that came with the program, by implementation: for rungs that cannot run here
    """
    availability = list(availability)
    measured: Mapping[str, Time] = times.of_work(job, cache) if job else {}
    known, recorded = [each for each, _ in availability], recorded or {}
    places = []
    for each, reason in availability:
        before = rung_before(each, known)
        key = _key_of(each.key, each.source) if isinstance(each, Rung) else each.key
        time, found = measured.get(key), measured
        if time is None and each.kind == "cuda":
            time, found = recorded.get(each.key), recorded
        against, ratio = found.get(before.key) if before else None, None
        if time and against and not (time.is_single or against.is_single):
            ratio = against.median_ms / time.median_ms
        places.append(LadderLine(each, reason, time, before, ratio))
    return places


def rung_before(chosen: Implementation, known: list[Implementation]) -> Implementation | None:
    """Implementation that `chosen` is compared with; None for the first.

    For a rung that is the one it changes a thing about, else the one before it in `known`.
    """
    if isinstance(chosen, Rung):
        return next((each for each in known if each.key == chosen.after), None)
    at = known.index(chosen)
    return known[at - 1] if at else None


def _key_of(key: str, text: str) -> str:
    """Key of an implementation; of a user kernel with its source's hash."""
    return f"{key} {text_hash(text)}" if is_own(key) else key


def _hash(weights: NDArray[np.float32]) -> bytes:
    return sha256(weights.tobytes()).digest()
