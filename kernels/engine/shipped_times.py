"""Times measured on one GPU that ship with the program, for `auto` until measured here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from math import log2
from pathlib import Path

from kernels.core.job_class import JobClass
from kernels.engine.measurements import Candidate, measured_from

PATH = Path(__file__).with_name("shipped_times.json")


@dataclass(frozen=True, slots=True)
class ShippedTimes:
    """The times of one device: for each class of jobs the quickest ways first."""

    device: str
    ways: dict[JobClass, tuple[Candidate, ...]]

    def nearest(self, kind: JobClass) -> JobClass | None:
        """Return the class measured that is most like `kind`, of the same class of weights.

        First by pixel type; then each doubling of the samples counts half of one of K, as both
        change which rung is the quickest, K more so.
        """
        alike = [each for each in self.ways if _family(each) == _family(kind)]
        return min(alike, key=lambda each: _distance(each, kind), default=None)


@cache
def shipped_times() -> ShippedTimes:
    """Read the file that `make tables` writes."""
    data = json.loads(PATH.read_text(encoding="utf-8"))
    ways = {entry.kind: entry.measured for entry in measured_from(data["kinds"])}
    return ShippedTimes(data["device"], ways)


def _family(kind: JobClass) -> str:
    """Return the class of weights: "rank 3" and "gradient after …" without the rest."""
    return kind.weights.split()[0]


def _distance(one: JobClass, other: JobClass) -> tuple[float, ...]:
    samples = one.size - other.size + log2(one.channels / other.channels)
    return (
        one.pixel_type != other.pixel_type,
        2 * abs(log2(one.ksize / other.ksize)) + abs(samples),
        one.channels != other.channels,
        one.border != other.border,
    )
