"""Measurements on this device, kept in a file between two runs of the program."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from functools import cache
from math import log2
from pathlib import Path

import numpy as np

from kernels.core.device import Device
from kernels.core.job import Job
from kernels.core.plain_data import from_plain, parse_json, to_plain
from kernels.core.safe_files import cache_folder, holding, replacing
from kernels.core.weights import separable_terms
from kernels.rungs.rung import ladder

# Of higher rank, sums of separable weights are no longer worth telling apart.
MAX_RANK = 8
BORDER_GROUPS = {"zero": "zero", "clamp": "clamp"}  # the others all fold the index back


@dataclass(frozen=True, slots=True, order=True)
class JobClass:
    """The properties that a job's speed depends on, beside the device.

    weights  "uniform", "separable", "rank 2" and so on, "general"; "gradient" where that follows
    """

    pixel_type: str
    channels: int
    ksize: int
    weights: str
    border: str  # its group: "zero", "clamp" or "folded"
    size: int  # log₂ of the number of pixels, rounded

    def __str__(self) -> str:
        return (
            f"{self.channels} × {self.pixel_type}, {self.weights} {self.ksize}×{self.ksize}, "
            f"border {self.border}, 2^{self.size} pixels"
        )


def job_class_of(job: Job) -> JobClass:
    """Return the class that `job` belongs to."""
    return JobClass(
        pixel_type=job.pixel_type,
        channels=job.channels,
        ksize=job.ksize,
        weights=_weights_class(job),
        border=BORDER_GROUPS.get(job.border, "folded"),
        size=size_class(job.strip.whole if job.strip else job.height, job.width),
    )


def size_class(height: int, width: int) -> int:
    """Return log₂ of the number of pixels, rounded."""
    return round(float(np.log2(height * width)))


def _weights_class(job: Job) -> str:
    rank = len(separable_terms(job.weights))
    if np.ptp(job.weights) == 0:
        found = "uniform"
    elif rank == 1:
        found = "separable"
    else:
        # From half the size on, as many multiply-adds are spent on the passes as on the weights.
        found = f"rank {rank}" if rank <= MAX_RANK and 2 * rank < job.ksize else "general"
    return f"gradient after {found}" if job.gradient else found


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
        """Return the implementation's key and the block shape."""
        return self.implementation, self.block_xy


@dataclass(frozen=True, slots=True)
class Measured:
    """All ways that were measured for one class of jobs, as the file has them."""

    kind: JobClass
    measured: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class OfDevice:
    """All that was measured on one device, with the sources of that hash."""

    source: str
    kinds: tuple[Measured, ...]


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """The file: by device, in the words of `device_key`."""

    version: int
    devices: dict[str, OfDevice]


class Measurements:
    """The measurements of one device with this driver and these sources.

    Never fails: without a readable file it starts afresh, and says so in `complaint`.

    path       of the file
    complaint  one sentence on what was wrong with it, "" when nothing was

    Another process may add to the same file: it is read again when it has changed, and what was
    changed here goes on top.
    """

    def __init__(self, device: Device, path: Path | None = None) -> None:
        self.path = path or default_path()
        self._device, self._source = device_key(device), source_key()
        self._stamp: tuple[int, int] | None = None
        self._all: dict[str, OfDevice] = {}  # as the file has it
        self._known: dict[JobClass, dict[Way, Candidate]] = {}
        self._changed: dict[tuple[JobClass, Way], Candidate | None] = {}  # what the file lacks
        self.complaint = ""

    def of(self, kind: JobClass) -> tuple[Candidate, ...]:
        """Return every way measured for `kind`, in no order."""
        self._refresh()
        return tuple(self._known.get(kind, {}).values())

    def kinds(self) -> tuple[JobClass, ...]:
        """Return every class of jobs that something was measured for."""
        self._refresh()
        return tuple(kind for kind, ways in self._known.items() if ways)

    def add(self, kind: JobClass, candidate: Candidate) -> None:
        """Remember a measurement, in place of an earlier one of the same way; see `save`."""
        self._refresh()
        self._changed[kind, candidate.way] = candidate
        self._known.setdefault(kind, {})[candidate.way] = candidate

    def discard(self, kind: JobClass, way: Way) -> None:
        """Forget what was measured of a way: it was found wrong, or failed."""
        self._refresh()
        self._changed[kind, way] = None
        self._known.get(kind, {}).pop(way, None)

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
                self._write()
        except OSError as error:
            self._complain(f"What was measured cannot be kept in {self.path}: {error.strerror}.")

    def _write(self) -> None:
        """Write what the file has by now with what was changed here.  Raises OSError."""
        self._refresh()
        known = sorted((kind, ways) for kind, ways in self._known.items() if ways)
        kinds = tuple(Measured(kind, tuple(ways.values())) for kind, ways in known)
        self._all[self._device] = OfDevice(self._source, kinds)
        data = to_plain(MeasuredFile(VERSION, self._all))
        with replacing(self.path) as file:
            file.write(json.dumps(data, indent=1).encode())
        self._changed, self._stamp = {}, _stamp(self.path)

    def _refresh(self) -> None:
        """Read the file if there is another one than was read last."""
        stamp = _stamp(self.path)
        if stamp == self._stamp:
            return
        self._stamp, self._known = stamp, {}
        self._all = self._read() if stamp is not None else {}
        mine = self._all.get(self._device)
        if mine is not None and mine.source == self._source:
            self._known = ways_of(mine.kinds)
        for (kind, way), changed in self._changed.items():
            ways = self._known.setdefault(kind, {})
            ways.pop(way, None)
            if changed is not None:
                ways[way] = changed

    def _read(self) -> dict[str, OfDevice]:
        try:
            found = from_plain(MeasuredFile, parse_json(self.path.read_bytes()))
            for each in found.devices.values():
                ways_of(each.kinds)
        except (OSError, ValueError):
            self._complain(f"{self.path} could not be read; measuring starts afresh.")
            return {}
        if found.version == VERSION:
            return found.devices
        self._complain(f"{self.path} is from another version; measuring starts afresh.")
        return {}

    def _complain(self, sentence: str) -> None:
        self.complaint = sentence
        log.warning(sentence)


def default_path() -> Path:
    """Return the path in the cache folder."""
    return cache_folder() / "measurements.json"


def device_key(device: Device) -> str:
    """The device and its driver in words: equal cards under one driver are equally quick."""
    return (
        f"{device.name}, {device.multiprocessors} multiprocessors at {device.clock_khz} kHz, "
        f"{device.memory_bytes} B, driver {device.driver_version}, "
        f"runtime {device.runtime_version}"
    )


@cache
def source_key() -> str:
    """Return a hash of everything the ladder compiles: another text may be quicker or slower."""
    digest = hashlib.sha256()
    for rung in ladder():
        digest.update(f"{rung.key}\0{rung.text}\0".encode())
    return digest.hexdigest()[:16]


def ways_of(kinds: tuple[Measured, ...]) -> dict[JobClass, dict[Way, Candidate]]:
    """The ways of each class of jobs.  Raises ValueError where a time has no quartiles."""
    for each in (candidate for entry in kinds for candidate in entry.measured):
        if not 0 < each.low_ms <= each.median_ms <= each.high_ms:
            raise ValueError(f"{each} has no quartiles")
    return {entry.kind: {each.way: each for each in entry.measured} for entry in kinds}


def _stamp(path: Path) -> tuple[int, int] | None:
    """A stamp that changes with the file, even within a tick of its clock; None without one."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino  # each is written as a file of its own


PATH = Path(__file__).with_name("shipped_times.json")


@cache
def shipped_times() -> tuple[str, dict[JobClass, tuple[Candidate, ...]]]:
    """Read the file that `make tables` writes: the device, and the ways of each class."""
    data = json.loads(PATH.read_text(encoding="utf-8"))
    kinds = from_plain(tuple[Measured, ...], data["kinds"])
    return data["device"], {entry.kind: entry.measured for entry in kinds}


def nearest_shipped(kind: JobClass) -> JobClass | None:
    """The shipped class that is most like `kind`, of the same class of weights.

    First by pixel type; then each doubling of the samples counts half of one of K, as both
    change which rung is the quickest, K more so.
    """
    family = kind.weights.split()[0]  # of "rank 3" and "gradient after …" the first word
    alike = [each for each in shipped_times()[1] if each.weights.split()[0] == family]
    return min(alike, key=lambda each: _distance(each, kind), default=None)


def _distance(one: JobClass, other: JobClass) -> tuple[float, ...]:
    samples = one.size - other.size + log2(one.channels / other.channels)
    return (
        one.pixel_type != other.pixel_type,
        2 * abs(log2(one.ksize / other.ksize)) + abs(samples),
        one.channels != other.channels,
        one.border != other.border,
    )
