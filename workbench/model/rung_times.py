"""Times of rungs by the work that was timed: measured here, or recorded elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from math import log2
from typing import Any, NamedTuple

from kernels import filters
from kernels.core.device import Occupancy
from kernels.core.errors import SessionFileError
from kernels.core.job import Job, Result
from kernels.core.step import Correlation, Filter
from kernels.core.timing import Cache, Timing
from kernels.engine.auto import DEFAULT_BLOCK_XY
from kernels.engine.engine import Implementation
from kernels.engine.own_kernel import OwnKernel
from kernels.rungs.own_kernels import is_own, text_hash
from kernels.rungs.rung import Rung, ladder
from kernels.sweeps.cell_jobs import steps_of
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Measurement, Record, Session
from kernels.sweeps.session_files import read_session
from kernels.sweeps.step_words import made_filter
from workbench.base import numbers
from workbench.base.numbers import star, why_starred
from workbench.base.paths import asset
from workbench.model.cell_words import where
from workbench.model.intents import implementation_of

MEASURED, SESSIONS = "measured/ladder.json", "recorded"  # in assets
WORK = ("width", "height", "channels", "pixel_type")
CACHE: Cache = "cold"  # the L2 before each sample of all that was recorded of rungs
MAX_WORKS = 256  # a large sweep has a few dozen

Block = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WorkKey:
    """A key shared by jobs and cells whose times compare: see `Job.same_work`."""

    shape: tuple[int, ...]
    pixel_type: str
    filter: bytes  # of weights the hash: a session may see thousands, of up to 64 kB each
    offset: float
    gradient: bool
    border: str = "clamp"

    @classmethod
    def of(cls, job: Job) -> WorkKey:
        facts = (job.has_length, job.border)
        return cls(job.picture.shape, job.pixel_type, *_named(job.filter), *facts)

    @classmethod
    def of_cell(cls, cell: Cell) -> WorkKey:
        """Key of one of the pictures of `cell`, which has no offset."""
        shape, chosen = (cell.height, cell.width, cell.channels), filters.get(cell.filter)
        named = _named(made_filter(steps_of(cell)[0]))
        return cls(shape, cell.pixel_type, *named, chosen.gradient, cell.border)


@dataclass(frozen=True, slots=True)
class Time:
    """One implementation's newest time of some work, measured here or recorded elsewhere."""

    median_ms: float
    quartiles_ms: tuple[float, float]
    samples: int
    block_xy: Block | None  # as it was chosen; None where there was nothing to choose
    is_wrong: bool = False  # its output is: then this is no speed
    occupancy: Occupancy | None = None  # of its first pass, where the driver was asked
    disturbances: tuple[str, ...] = ()  # possible falsifications, in words
    where: str = ""  # it was recorded: "NVIDIA H200, L2 cold"; empty: here
    of: str = ""  # the job that was timed, where it is shown for another

    @classmethod
    def of_samples(cls, kernel: Timing, block_xy: Block | None, **facts: Any) -> Time:
        return cls(kernel.median_ms, kernel.quartiles_ms, len(kernel.samples_ms), block_xy, **facts)

    @property
    def is_single(self) -> bool:
        """True for a single run, whose disturbances are unknown."""
        return self.samples == 1

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


class _Way(NamedTuple):
    """One way to do a work; on the CPU cache is None, for any GPUs."""

    key: str
    block_xy: Block | None
    cache: Cache | None
    devices: int = 1


class RungTimes:
    """A memory of the newest time of each way to do a work: see `_Way`.

    Of more than MAX_WORKS works, those that were measured longest ago are forgotten.
    """

    def __init__(self, device: str = "", jobs: tuple[Cell, ...] = ()) -> None:
        self.device = device  # the GPU where they were recorded: "NVIDIA H200"; empty: here
        self.jobs = jobs  # with the whole ladder recorded
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
        self._add_measured(WorkKey.of(result.job), way, result.kernel, result)

    def add_record(self, record: Record) -> None:
        """Add a sweep's measurement; ignore a time of several pictures, and a failed cell."""
        cell, measured = record.cell, record.outcome
        if isinstance(measured, Measurement) and cell.count == 1 and not cell.list:
            key, kernel = f"{cell.implementation} {cell.text_sha256}".rstrip(), measured.kernel
            way = _Way(key, cell.block_xy, kernel.cache, cell.devices)
            self._add_measured(WorkKey.of_cell(cell), way, kernel, measured)

    def of_work(self, job: Job, cache: Cache = CACHE) -> dict[str, Time]:
        """Times of the work of `job`, by implementation: with its block shape, else the newest."""
        found: dict[str, Time] = {}
        for way, time in self._times.get(WorkKey.of(job), {}).items():
            if way.cache is not None and (way.cache, way.devices) != (cache, job.devices):
                continue
            is_exact = way.key in found and found[way.key].block_xy == job.block_xy
            if way.block_xy == job.block_xy or not is_exact:
                found[way.key] = time
        return found

    def of_nearest(self, job: Job, filter_key: str) -> tuple[str, dict[str, Time]]:
        """The recorded job most like `job` of that filter, in words, and its times to be shown."""
        nearest = min(self.jobs, key=lambda each: _distance(each, job, filter_key), default=None)
        if nearest is None:
            return "", {}
        words = where(nearest, ("filters", "ksizes", "sizes", "channels"))
        words += f" {nearest.pixel_type}"
        times = self._times[WorkKey.of_cell(nearest)]
        return words, {way.key: replace(each, of=words) for way, each in times.items()}

    def put(self, work: WorkKey, way: _Way, time: Time) -> None:
        """Add a time; the newest work and the newest way stand last."""
        times = self._times[work] = self._times.pop(work, {})
        times.pop(way, None)
        times[way] = time

    def _add_measured(
        self, work: WorkKey, way: _Way, kernel: Timing, measured: Result | Measurement
    ) -> None:
        time = Time.of_samples(
            *(kernel, way.block_xy),
            is_wrong=measured.check is not None and not measured.check.ok,
            occupancy=measured.occupancy,
            disturbances=measured.disturbances,
        )
        self.put(work, way, time)
        while len(self._times) > MAX_WORKS:
            del self._times[next(iter(self._times))]


def _distance(cell: Cell, job: Job, filter_key: str) -> float:
    """Distance of the work of `cell` from `job`: another filter counts as two doublings."""
    sizes = abs(log2(cell.pixels * cell.channels / job.picture.size))
    products = 2 * abs(log2(cell.ksize / job.ksize))
    others = (cell.filter != filter_key) + (cell.pixel_type != job.pixel_type)
    return sizes + products + 2 * others + (cell.channels != job.channels)


@cache
def recorded_times() -> RungTimes:
    """Read the recorded times, half a megabyte the first time; none without a usable file."""
    return _with_ladder({})


@cache
def all_recorded_times() -> RungTimes:
    """Read also the sessions of the program, in half a second the first time."""
    times: dict[tuple[WorkKey, str], tuple[_Way, Time]] = {}
    for path in sorted(asset(SESSIONS).iterdir()):
        with suppress(SessionFileError):
            _add_session(times, read_session(path))
    return _with_ladder(times)


def _with_ladder(times: dict[tuple[WorkKey, str], tuple[_Way, Time]]) -> RungTimes:
    """Add the times of the ladder's file, which count more: all rungs, one after the other."""
    device, cells = "", []
    try:
        data = json.loads(asset(MEASURED).read_text(encoding="utf-8"))
        device, known = data["device"]["name"], {each.key for each in filters.all_filters()}
        for each in data["cells"]:
            if each["weights"] in known:
                cell = Cell("", filter=each["weights"], **{n: each[n] for n in ("ksize", *WORK)})
                cells.append(cell)
                for way, time in _ladder_times(each, device, data["cpu"]):
                    times[WorkKey.of_cell(cell), way.key] = way, time
    except (OSError, ValueError, KeyError, TypeError):
        return RungTimes()
    found = RungTimes(device, tuple(cells))
    for (work, _), (way, time) in times.items():
        found.put(work, way, time)
    return found


def why_not_beside(cache: Cache) -> str:
    """Reason why recorded times do not compare with `cache`; empty where they do."""
    if cache == CACHE:
        return ""
    return f"You chose L2 {cache}: times recorded with L2 {CACHE} do not compare with that."


def _add_session(times: dict[tuple[WorkKey, str], tuple[_Way, Time]], session: Session) -> None:
    """Add the rungs' times, each with its usual block shape if that was measured."""
    place = f"{session.machine.gpu}, L2 {CACHE}"
    for cell, measured in ((each.cell, each.outcome) for each in session.records):
        if not isinstance(measured, Measurement) or cell.cache != CACHE or cell.list:
            continue
        if max(cell.count, cell.devices) > 1 or measured.check is None or not measured.check.ok:
            continue
        at = WorkKey.of_cell(cell), cell.implementation
        if at not in times or cell.block_xy == DEFAULT_BLOCK_XY:
            way = _Way(cell.implementation, cell.block_xy, measured.kernel.cache)
            times[at] = way, Time.of_samples(measured.kernel, cell.block_xy, where=place)


def _ladder_times(cell: Mapping[str, Any], device: str, cpu: str) -> Iterable[tuple[_Way, Time]]:
    own, place = {rung.key for rung in ladder() if rung.own_block}, f"{device}, L2 {CACHE}"
    for each in cell["rungs"]:
        if each.get("ok") and each.get("ms"):
            block_xy = None if each["key"] in own else tuple(each["block_xy"])
            yield _Way(each["key"], block_xy, CACHE), _recorded(each, place, block_xy)
    peers = [each for each in cell.get("peers", ()) if "opencv" in each.values() and each.get("ok")]
    if peers:
        best = min(peers, key=lambda each: float(each["ms"]))
        yield _Way("opencv", None, None), _recorded(best, cpu, None)


def _recorded(measured: Mapping[str, Any], place: str, block_xy: Any) -> Time:
    low, high = measured["quartiles"]
    return Time(measured["ms"], (low, high), measured.get("samples") or 0, block_xy, where=place)


@dataclass(frozen=True, slots=True)
class LadderLine:
    """One line of the ladder."""

    implementation: Implementation
    reason: str | None  # why it cannot run the present job
    time: Time | None  # measured here, else recorded
    before: Implementation | None  # that it is compared with
    ratio: float | None  # times as fast as that, unless one was run once
    mark: str = ""  # of the ratio: a star where something disturbed either

    @property
    def median_ms(self) -> float | None:
        return self.time.median_ms if self.time else None

    @property
    def in_words(self) -> str:
        """Format the line for a tooltip and for screen readers."""
        title, time = self.implementation.title, self.time
        if time is None:
            return f"{title}: {self.reason or 'not measured yet'}"
        ratio = ""
        if self.ratio is not None and self.before is not None:
            ratio = f"{numbers.times_as_fast(self.ratio)}{self.mark} {self.before.title}"
        head, reason = (title, "") if time.where else (f"{title}: {time.duration}", self.reason)
        return "\n".join(filter(None, (head, time.in_words, ratio, reason)))


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
    for at, (each, reason) in enumerate(availability):
        before = known[at - 1] if at else None
        if isinstance(each, Rung):  # which changes one thing about another
            before = next((other for other in known if other.key == each.after), None)
        key = _key_of(each.key, each.source) if isinstance(each, Rung) else each.key
        time, found = measured.get(key), measured
        if time is None and each.kind == "cuda":
            time, found = recorded.get(each.key), recorded
        against, ratio, mark = found.get(before.key) if before else None, None, ""
        if time and against and not (time.is_single or against.is_single):
            ratio = against.median_ms / time.median_ms
            mark = star((*time.disturbances, *against.disturbances))
        places.append(LadderLine(each, reason, time, before, ratio, mark))
    return places


def _key_of(key: str, text: str) -> str:
    return f"{key} {text_hash(text)}" if is_own(key) else key


def _named(chosen: Filter) -> tuple[bytes, float]:
    if isinstance(chosen, Correlation):
        return sha256(chosen.weights.tobytes()).digest(), chosen.offset
    return repr(chosen).encode(), 0.0
