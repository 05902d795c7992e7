"""One module a bench: of the window each with

TITLE                what is measured, and how
measure(arguments)   -> Iterator of `Row`s, as they are known

and that of the kernels with `run(arguments)`, which prints for itself and needs no Qt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench import numbers


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a bench's table: what was measured, and the samples or a single figure."""

    what: str
    samples_ms: Sequence[float] = ()
    figure: str = ""

    def cells(self) -> tuple[str, ...]:
        """What, median, 99th percentile, largest, count; or what and the figure."""
        if not self.samples_ms:
            return (self.what, self.figure, "", "", "")
        median, high, largest = np.percentile(self.samples_ms, (50, 99, 100))
        times = (numbers.duration(each) for each in (median, high, largest))
        return (self.what, *times, str(len(self.samples_ms)))


HEADER = ("what", "median", "p99", "largest", "n")


def peak_memory() -> Row:
    """The most memory this process has had so far."""
    try:
        import resource
    except ImportError:  # Windows
        return Row("peak memory", figure="not known on this system")
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return Row("peak memory of the process", figure=numbers.byte_count(peak))
