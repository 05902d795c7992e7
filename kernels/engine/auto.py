"""The implementation `auto`: the quickest by times measured on this device, or shipped with us."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import chain
from math import log2
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kernels.core.device import Device
from kernels.core.job import Job, Pick
from kernels.core.plain_data import from_plain, parse_json, to_plain
from kernels.core.safe_files import cache_folder, holding, replacing
from kernels.core.weights import separable_terms
from kernels.rungs.rung import ALWAYS, Rung, filter_of, ladder

# Of higher rank, sums of separable weights are no longer worth telling apart.
MAX_RANK = 8


OF_A_DISK = " of a disk"


@dataclass(frozen=True, slots=True, order=True)
class JobClass:
    """The properties that a job's speed depends on, beside the device."""

    pixel_type: str
    channels: int
    ksize: int
    weights: str  # "uniform", "separable", "rank 2", "general"; "gradient after …"; "median"
    border: str  # its group: "zero", "clamp" or "folded"
    size: int  # log₂ of the number of pixels, rounded

    @property
    def family(self) -> str:
        """The weights, or what the filter does: "rank" for every rank; other rungs do disks."""
        return self.weights if self.weights.endswith(OF_A_DISK) else self.weights.split()[0]

    def __str__(self) -> str:
        return (
            f"{self.channels} × {self.pixel_type}, {self.weights} {self.ksize}×{self.ksize}, "
            f"border {self.border}, 2^{self.size} pixels"
        )


def job_class_of(job: Job) -> JobClass:
    size = size_class(job.strip.whole if job.strip else job.height, job.width)
    border = {"crop": "zero"}.get(job.border, job.border)
    border = border if border in ("zero", "clamp") else "folded"  # as the index is
    if not job.has_weights:
        kind = filter_of(job) + OF_A_DISK * getattr(job.filter, "is_disk", False)
        return JobClass(job.pixel_type, job.channels, job.ksize, kind, border, size)
    rank = len(separable_terms(job.correlation.weights))
    # From half the size on, as many multiply-adds are spent on the passes as on the weights.
    found = f"rank {rank}" if rank <= MAX_RANK and 2 * rank < job.ksize else "general"
    found = "separable" if rank == 1 else found
    found = "uniform" if np.ptp(job.correlation.weights) == 0 else found
    weights = f"gradient after {found}" if job.has_length else found
    return JobClass(job.pixel_type, job.channels, job.ksize, weights, border, size)


def size_class(height: int, width: int) -> int:
    """Log₂ of the number of pixels, rounded."""
    return round(float(np.log2(height * width)))


VERSION = 1
LOCK_NAME = ".measurements.lock"  # held while the file is read, merged and written
PATIENCE_S = 2.0  # writing takes milliseconds
Way = tuple[str, tuple[int, int] | None]  # a rung's key and its block, as in Candidate
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to run a class of jobs, and its kernel's time: the median and the two quartiles."""

    implementation: str
    block_xy: tuple[int, int] | None  # None: the rung has its own shape
    median_ms: float
    low_ms: float
    high_ms: float

    @property
    def way(self) -> Way:
        """The implementation's key and the block shape."""
        return self.implementation, self.block_xy


@dataclass(frozen=True, slots=True)
class Measured:
    """All ways that were measured for one class of jobs, as the file has them."""

    kind: JobClass
    measured: tuple[Candidate, ...]


class Measurements:
    """The measurements of one device with this driver and these sources; never fails."""

    def __init__(self, device: Device, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "measurements.json"
        self._device, self._source = device_key(device), source_key()
        self._stamp: tuple[int, int] | None = None
        self._all: dict[str, Any] = {}  # by device, as the file has it
        self._known: dict[JobClass, dict[Way, Candidate]] = {}
        self._changed: dict[tuple[JobClass, Way], Candidate | None] = {}  # what the file lacks
        self.complaint = ""  # on what was wrong with the file

    def of(self, kind: JobClass) -> tuple[Candidate, ...]:
        """Every way measured for `kind`, in no order."""
        self._refresh()
        return tuple(self._known.get(kind, {}).values())

    def kinds(self) -> tuple[JobClass, ...]:
        self._refresh()
        return tuple(kind for kind, ways in self._known.items() if ways)

    def add(self, kind: JobClass, candidate: Candidate) -> None:
        """Remember a measurement, in place of an earlier one of the same way; see `save`."""
        self._change(kind, candidate.way, candidate)

    def discard(self, kind: JobClass, way: Way) -> None:
        """Forget what was measured of a way: it was found wrong, or failed."""
        self._change(kind, way, None)

    def save(self) -> None:
        """Write what has changed, the whole file or nothing.

        A folder that cannot be written costs the memory of what was measured, which is no
        reason to fail: `complaint` says so.
        """
        if not self._changed:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Without the lock, writing is still better than losing the measurements.
            with holding(self.path.with_name(LOCK_NAME), PATIENCE_S):
                self._refresh()
                self._write()
        except OSError as error:
            self._complain(f"What was measured cannot be kept in {self.path}: {error.strerror}.")

    def _change(self, kind: JobClass, way: Way, found: Candidate | None) -> None:
        self._refresh()
        self._changed[kind, way] = found
        self._apply(kind, way, found)

    def _apply(self, kind: JobClass, way: Way, found: Candidate | None) -> None:
        ways = self._known.setdefault(kind, {})
        ways.pop(way, None)
        if found is not None:
            ways[way] = found

    def _write(self) -> None:
        known = sorted((kind, ways) for kind, ways in self._known.items() if ways)
        kinds = [to_plain(Measured(kind, tuple(ways.values()))) for kind, ways in known]
        self._all[self._device] = {"source": self._source, "kinds": kinds}
        with replacing(self.path) as file:
            file.write(json.dumps({"version": VERSION, "devices": self._all}, indent=1).encode())
        self._changed, self._stamp = {}, _stamp(self.path)

    def _refresh(self) -> None:
        """Read the file if there is another one than was read last; our changes go on top."""
        stamp = _stamp(self.path)
        if stamp == self._stamp:
            return
        self._all = self._read() if stamp is not None else {}
        self._stamp, self._known = stamp, self._mine()
        for (kind, way), found in self._changed.items():
            self._apply(kind, way, found)

    def _mine(self) -> dict[JobClass, dict[Way, Candidate]]:
        """The ways that the file has of this device; entries that make no sense are left out."""
        mine = self._all.get(self._device, {"source": "", "kinds": ()})
        found: dict[JobClass, dict[Way, Candidate]] = {}
        try:
            kinds = list(mine["kinds"]) if mine["source"] == self._source else []
        except (LookupError, TypeError):
            kinds = [mine]
        for each in kinds:
            with suppress(ValueError):
                entry = from_plain(Measured, each)
                if all(0 < way.low_ms <= way.median_ms <= way.high_ms for way in entry.measured):
                    found[entry.kind] = {way.way: way for way in entry.measured}
        if damaged := len(kinds) - len(found):
            self._complain(f"{damaged} of the entries of {self.path} are damaged and left out.")
        return found

    def _read(self) -> dict[str, Any]:
        why = "could not be read"
        with suppress(OSError, ValueError, LookupError, TypeError):
            found = parse_json(self.path.read_bytes())
            if found["version"] == VERSION:
                return dict(found["devices"])
            why = "is from another version"
        self._complain(f"{self.path} {why}; measuring starts afresh.")
        return {}

    def _complain(self, sentence: str) -> None:
        self.complaint = sentence
        log.warning(sentence)


def device_key(device: Device) -> str:
    """The device and its driver in words: equal cards under one driver are equally quick."""
    return (
        f"{device.name}, {device.multiprocessors} multiprocessors at {device.clock_khz} kHz, "
        f"{device.memory_bytes} B, driver {device.driver_version}, "
        f"runtime {device.runtime_version}"
    )


@cache
def source_key() -> str:
    """A hash of everything the ladder compiles: another text may be quicker or slower."""
    digest = hashlib.sha256()
    for rung in ladder():
        digest.update(f"{rung.key}\0{rung.text}\0".encode())
    return digest.hexdigest()[:16]


def _stamp(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_ino  # each is written as a file of its own
    return None


PATH = Path(__file__).with_name("shipped_times.json")


@cache
def shipped_times() -> tuple[str, dict[JobClass, tuple[Candidate, ...]]]:
    """Read the file that `make tables` writes: the device, and the ways of each class."""
    data = json.loads(PATH.read_text(encoding="utf-8"))
    kinds = from_plain(tuple[Measured, ...], data["kinds"])
    return data["device"], {entry.kind: entry.measured for entry in kinds}


@cache
def timed_rungs(family: str) -> frozenset[str]:
    """The rungs that have times of that family among those that come with the program."""
    _, kinds = shipped_times()
    ways = chain.from_iterable(ways for kind, ways in kinds.items() if kind.family == family)
    return frozenset(each.implementation for each in ways)


def nearest(kind: JobClass, known: Iterable[JobClass]) -> JobClass | None:
    """The known class that is most like `kind`, of the same class of weights.

    First by pixel type; then each doubling of the samples counts half of one of K, as both
    change which rung is the quickest, K more so.
    """

    def distance(each: JobClass) -> tuple[float, ...]:
        samples = each.size - kind.size + log2(each.channels / kind.channels)
        doublings = 2 * abs(log2(each.ksize / kind.ksize)) + abs(samples)
        others = each.channels != kind.channels, each.border != kind.border
        return each.pixel_type != kind.pixel_type, doublings, *others

    alike = (each for each in known if each.family == kind.family)
    return min(alike, key=distance, default=None)


DEFAULT_BLOCK_XY = (32, 8)
KINDS_KEPT = 256  # of which is known what is usual: to look for the nearest takes a while


@dataclass(frozen=True, slots=True)
class Auto:
    """The implementation `auto`, as it introduces itself where implementations are chosen."""

    key: str = "auto"
    title: str = "Auto"
    idea: str = (
        "Runs the rung and block shape measured to be the quickest here for this kind of job, and "
        "says which; `workbench tune` measures them."
    )
    kind: Literal["auto"] = "auto"


AUTO = Auto()


class Picker:
    """The choice for one device, from what was measured there."""

    def __init__(self, device: Device, measurements: Measurements | None = None) -> None:
        self._device = device
        self.measurements = measurements or Measurements(device)

    def picks(self, job: Job) -> Iterator[Pick]:
        """Yield the ways to run `job`, the best first; none rejects it.

        Only measured ways where there are any for its kind: other rungs were wrong or hopeless.
        """
        kind = job_class_of(job)
        measured = self.measurements.of(kind)
        why = f"the quickest of {len(measured)} measured here"
        picks = (Pick(*each.way, why) for each in ranked(measured, partial(self._is_able, job)))
        first = next(picks, None)
        yield from self._unmeasured(job, kind) if first is None else chain((first,), picks)

    def may_run(self, rung: Rung, job: Job) -> bool:
        """True if `auto` may choose `rung` for `job`: it can run it, with all of float32."""
        return not rung.reduced_precision and not rung.why_not(job, self._device)

    def _unmeasured(self, job: Job, kind: JobClass) -> Iterator[Pick]:
        seen: set[str] = set()
        for way, why in self._guesses(job, kind):
            if way[0] not in seen and self._is_able(job, way):
                seen.add(way[0])
                yield Pick(*way, why)

    def _guesses(self, job: Job, kind: JobClass) -> Iterator[tuple[Way, str]]:
        """Yield ways for a class that was not measured, and why, the likeliest first."""
        known = self.measurements.kinds()
        alike = [
            each for each in known if replace(each, size=kind.size, border=kind.border) == kind
        ]
        if (near := nearest(kind, alike)) is not None:
            new = "picture size" if near.size != kind.size else "border"
            why = f"not measured here yet for this {new}; the quickest for {near}"
            for each in ranked(self.measurements.of(near), partial(self._is_able, job)):
                yield each.way, why
        rungs = ladder()[::-1]
        timed = timed_rungs(kind.family)
        why = "not measured here yet, and not among the times that came with the program"
        for rung in rungs:
            if rung.key not in timed and rung.quick != ALWAYS and rung.is_quick(job):
                yield (rung.key, None), why
        yield from ((each.way, why) for each, why in usual_ways(kind))
        for rung in sorted(rungs, key=lambda rung: not rung.is_quick(job)):
            way = rung.key, None if rung.own_block else DEFAULT_BLOCK_XY
            yield way, "nothing like it was measured; the last on the ladder"

    def _is_able(self, job: Job, way: Way) -> bool:
        rung = next((rung for rung in ladder() if rung.key == way[0]), None)
        return rung is not None and self.may_run(rung, _with_block(job, way[1]))


def ranked(
    measured: Iterable[Candidate], is_able: Callable[[Way], bool] = lambda _: True
) -> Iterator[Candidate]:
    """Sort the able ones by time, those that tie by simplicity."""
    by_time = sorted(measured, key=lambda each: each.median_ms)
    quickest = next((each for each in by_time if is_able(each.way)), None)
    # Another run might turn it round.
    tied = [each for each in by_time if quickest and each.median_ms <= quickest.high_ms]
    ordered = (*sorted(tied, key=_simplicity), *by_time[len(tied) :])
    yield from (each for each in ordered if is_able(each.way))


def _simplicity(candidate: Candidate) -> tuple[int, bool, float]:
    keys = [rung.key for rung in ladder()]
    key = candidate.implementation
    return (
        keys.index(key) if key in keys else len(keys),
        candidate.block_xy not in (None, DEFAULT_BLOCK_XY),
        candidate.median_ms,
    )


@lru_cache(KINDS_KEPT)
def usual_ways(kind: JobClass) -> tuple[tuple[Candidate, str], ...]:
    """The quickest ways on the GPU whose times come with the program, and why."""
    device, ways = shipped_times()
    if (near := nearest(kind, ways)) is None:
        return ()
    why = f"not measured here yet; the quickest on an {device} for {near}"
    return tuple((each, why) for each in ranked(ways[near]))


def usual_order(job: Job) -> list[Rung]:
    """The ladder as `usual_ways` have it for `job`, then from the top down."""
    rungs = {rung.key: rung for rung in reversed(ladder())}
    first = (each.implementation for each, _ in usual_ways(job_class_of(job)))
    return [rungs[key] for key in dict.fromkeys((*first, *rungs)) if key in rungs]


def with_pick(job: Job, pick: Pick) -> Job:
    return _with_block(job, pick.block_xy).but(implementation=pick.implementation)


def _with_block(job: Job, block_xy: tuple[int, int] | None) -> Job:
    return job.but(block_xy=block_xy) if block_xy else job
