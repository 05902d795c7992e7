"""Cells of `bench kernels`: those of the table of aims, small pictures, and sizes between.

A cell is one job; its aims say how quick it should be on an H200.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kernels.core.job import Job
from workbench.cli import made_jobs

# Which answers count: those with float32's error, or also those within 1e-4 · Σ|w| · max|p|.
Precision = Literal["float32", "reduced"]
REDUCED_ERROR = 1e-4
FFT = "fft"  # for an aim: no slower than cuFFT
LAUNCH = "launch"  # for an aim: an empty launch, the memory's time and two microseconds
LAUNCH_EXTRA_MS = 0.002
KODAK = (512, 768)


@dataclass(frozen=True, slots=True)
class Aim:
    """An aim of the table.

    target  percent of the copy bandwidth, FFT or LAUNCH
    """

    precision: Precision
    target: float | str


@dataclass(frozen=True, slots=True)
class BenchCell:
    """One job to measure.  weights: a filter's name or "random"; size: (height, width)."""

    weights: str
    pixel_type: str
    channels: int
    size: tuple[int, int]
    ksize: int
    aims: tuple[Aim, ...] = ()

    @property
    def size_in_words(self) -> str:
        """Return the picture's size: "4096²" or "640×480"."""
        height, width = self.size
        return f"{width}²" if width == height else f"{width}×{height}"

    def __str__(self) -> str:
        return (
            f"{self.weights} {self.pixel_type}×{self.channels} {self.size_in_words} K={self.ksize}"
        )

    def job(self) -> Job:
        """Return the job, for no implementation yet."""
        return made_jobs.job(self.weights, self.ksize, self.size, self.channels, self.pixel_type)


def all_cells() -> tuple[BenchCell, ...]:
    """Return every cell once, in the order of the table; aims that share a job stand together."""
    found: dict[BenchCell, list[Aim]] = {}
    for (weights, pixel_type, channels, size), precision, targets in TABLE:
        for ksize, target in targets.items():
            cell = BenchCell(weights, pixel_type, channels, size, ksize)
            aims = found.setdefault(cell, [])
            if target is not None:
                aims.append(Aim(precision, target))
    return tuple(
        BenchCell(cell.weights, cell.pixel_type, cell.channels, cell.size, cell.ksize, tuple(aims))
        for cell, aims in found.items()
    )


LARGE, MIDDLE = (8192, 8192), (4096, 4096)
Group = tuple[str, str, int, tuple[int, int]]
GAUSSIAN: Group = ("gaussian", "float32", 1, LARGE)
RANDOM: Group = ("random", "float32", 1, LARGE)
Row = tuple[Group, Precision, dict[int, float | str | None]]
SMALL_KSIZES = (3, 5, 15)
BETWEEN: tuple[Row, ...] = tuple(  # for how time grows with pixels; 8192² stands in the table
    ((weights, "float32", 1, (side, side)), "float32", {7: None})
    for weights in ("gaussian", "random")
    for side in (1024, 2048, 4096)
)
# Bytes: `auto` goes by the nearest of these, first in K, and small pictures want another rung than
# large ones.
BYTES: tuple[Row, ...] = (
    (("gaussian", "uint8", 3, MIDDLE), "float32", dict.fromkeys((9, 15))),
    (("gaussian", "uint8", 3, (2048, 2048)), "float32", dict.fromkeys((3, 7, 15))),
    (("gaussian", "uint8", 3, KODAK), "float32", dict.fromkeys((7, 9))),
    (("gaussian", "uint8", 1, MIDDLE), "float32", dict.fromkeys((3, 5, 7, 15))),
    (("gaussian", "uint8", 1, (256, 256)), "float32", {7: None}),
)
# What the table of aims leaves out: where rungs made for other weights have their place.
OTHERS: tuple[Row, ...] = (
    (("box", "float32", 1, LARGE), "float32", dict.fromkeys((7, 31, 127))),
    (("laplacian_of_gaussian", "float32", 1, LARGE), "float32", {15: None}),
    (("gradient", "float32", 1, LARGE), "float32", {3: None}),
    (("edges", "float32", 1, LARGE), "float32", {7: None}),
)
TABLE: tuple[Row, ...] = (
    (GAUSSIAN, "float32", {3: 95, 5: 92, 7: 90, 9: 88, 15: 87, 31: 70, 63: 42, 127: 20}),
    (RANDOM, "float32", {3: 95, 5: 91, 7: 80, 9: 62, 15: 25, 31: FFT, 63: FFT, 127: FFT}),
    (RANDOM, "reduced", {15: 50, 31: 28, 63: 10, 127: FFT}),
    (("gaussian", "uint8", 3, MIDDLE), "float32", {3: 85, 5: 78, 7: 70}),
    (("gaussian", "float16", 1, LARGE), "float32", {3: 90, 5: 86, 7: 82}),
    (("gaussian", "uint8", 3, KODAK), "float32", dict.fromkeys(SMALL_KSIZES, LAUNCH)),
    (("gaussian", "uint8", 1, (256, 256)), "float32", dict.fromkeys(SMALL_KSIZES, LAUNCH)),
    *BETWEEN,
    *BYTES,
    *OTHERS,
)
