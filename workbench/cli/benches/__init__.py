"""Benches, one module each.

Those of the window have

TITLE                what is measured, and how
measure(arguments)   -> Iterator of `BenchRow`s, as they are known

and that of the kernels has `run(arguments)`, which prints for itself and needs no Qt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.base import numbers


@dataclass(frozen=True, slots=True)
class BenchRow:
    """A line of a bench's table: what was measured, and the samples or a single figure.

    limit_ms  what each sample is to stay below; None: there is no such limit
    """

    what: str
    samples_ms: Sequence[float] = ()
    figure: str = ""
    limit_ms: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the row's cells.

        What, median, 99th percentile, largest, count, how many kept the limit; or what and
        the figure.
        """
        if not self.samples_ms:
            return (self.what, self.figure, "", "", "", "")
        median, high, largest = np.percentile(self.samples_ms, (50, 99, 100))
        times = (numbers.duration(each) for each in (median, high, largest))
        return (self.what, *times, str(len(self.samples_ms)), self._within_limit())

    def _within_limit(self) -> str:
        if self.limit_ms is None:
            return ""
        kept = np.mean(np.asarray(self.samples_ms) <= self.limit_ms)
        return f"{numbers.percent(float(kept), 1)} within {numbers.duration(self.limit_ms)}"


HEADER = ("what", "median", "p99", "largest", "n", "")


def peak_memory() -> BenchRow:
    """Return the most memory that this process has had so far, as a row."""
    peak = peak_bytes()
    figure = "not known on this system" if peak is None else numbers.byte_count(peak)
    return BenchRow("peak memory of the process", figure=figure)


def peak_bytes() -> int | None:
    """Return the most memory that this process has had so far; None where nobody knows."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
