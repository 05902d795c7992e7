"""The unit of a whole column or table, said in its header: figures below each other compare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.base import numbers
from workbench.base.numbers import GAP


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a column.

    name   as it stands in a header
    scale  how many of the base unit (a millisecond, a megapixel per second) it is
    """

    name: str
    scale: float

    def title(self, what: str) -> str:
        """Return a header such as "Median (ms)"."""
        return f"{what} ({self.name})"

    def write(self, value: float | None) -> str:
        """Return `value`, given in the base unit, to three digits; nothing where there is none."""
        return "" if value is None else numbers.three_digits(value / self.scale)

    def write_range(self, low: float, high: float) -> str:
        """Return "1.20 – 1.31"."""
        return f"{self.write(low)}{GAP}–{GAP}{self.write(high)}"


MICROSECONDS, MILLISECONDS, SECONDS = Unit("µs", 1e-3), Unit("ms", 1.0), Unit("s", 1e3)
MEGAPIXELS, GIGAPIXELS = Unit("MP/s", 1.0), Unit("GP/s", 1e3)


def unit_of_times(ms: Iterable[float]) -> Unit:
    """Return seconds, milliseconds or microseconds, as suits all.

    Seconds where all are one at least, microseconds where all are below a millisecond, and
    milliseconds for what lies between or on both sides.
    """
    found = list(ms)
    if found and max(found) < 1:
        return MICROSECONDS
    return SECONDS if found and min(found) >= 1e3 else MILLISECONDS


def unit_of_rates(megapixels_per_s: Iterable[float]) -> Unit:
    """Return gigapixels per second where all are one at least, else megapixels."""
    found = list(megapixels_per_s)
    return GIGAPIXELS if found and min(found) >= 1e3 else MEGAPIXELS
