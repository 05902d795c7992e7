"""Cells of `bench kernels`, their aims, and what was found in each and in all of them.

A cell is one job, of the table of aims, small or of a size between; aims are times for an H200.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from kernels.core.job import Job
from workbench.base import numbers
from workbench.cli import made_jobs
from workbench.cli.benches.ways import Measured, Precision, quickest

EXACT: Precision = "float32"
# A target is a share of the copy bandwidth in percent, FFT, or one of LAUNCH_EXTRA_MS.
Target = float | str
FFT = "cuFFT"  # no slower than that
# Milliseconds beyond an empty launch and the memory's time.
LAUNCH_EXTRA_MS = {"launch + memory + 2 µs": 0.002, "launch + memory + 3 µs": 0.003}
LAUNCH, LAUNCH_AND_MORE = LAUNCH_EXTRA_MS
KODAK = (512, 768)


@dataclass(frozen=True, slots=True)
class BenchCell:
    """One job to measure.

    weights  a filter's name or "random"
    size     (height, width)
    aims     targets with the precision that they require
    """

    weights: str
    pixel_type: str
    channels: int
    size: tuple[int, int]
    ksize: int
    aims: tuple[tuple[Precision, Target], ...] = ()

    @property
    def size_in_words(self) -> str:
        """The picture's size: "4096²" or "640×480"."""
        height, width = self.size
        return f"{width}²" if width == height else f"{width}×{height}"

    def __str__(self) -> str:
        kind = f"{self.weights} {self.pixel_type}×{self.channels}"
        return f"{kind} {self.size_in_words} K={self.ksize}"

    def job(self) -> Job:
        """Make the job, for no implementation yet."""
        return made_jobs.job(self.weights, self.ksize, self.size, self.channels, self.pixel_type)


LARGE, MIDDLE = (8192, 8192), (4096, 4096)
Group = tuple[str, str, int, tuple[int, int]]
GAUSSIAN: Group = ("gaussian", "float32", 1, LARGE)
RANDOM: Group = ("random", "float32", 1, LARGE)
Targets = dict[int, Target | None]  # by K
Row = tuple[Group, Precision, Targets]
SMALL: Targets = {3: LAUNCH, 5: LAUNCH, 7: LAUNCH, 15: LAUNCH_AND_MORE}
BETWEEN: tuple[Row, ...] = tuple(  # for how time grows with pixels; 8192² stands in the table
    ((weights, "float32", 1, (side, side)), "float32", {7: None})
    for weights in ("gaussian", "random")
    for side in (1024, 2048, 4096)
)
# What `auto` goes by as well: where another rung is the quickest than at the sizes with an aim.
SMALLER: tuple[Row, ...] = (
    (("gaussian", "float32", 1, (1024, 1024)), "float32", {15: None}),
    (("random", "float32", 1, (1024, 1024)), "float32", {15: None}),
    (("gaussian", "uint8", 3, (2048, 2048)), "float32", dict.fromkeys((3, 7, 15))),
    (("gaussian", "uint8", 3, KODAK), "float32", {9: None}),
)
# What the table of aims leaves out: where rungs made for other weights have their place.
OTHERS: tuple[Row, ...] = (
    (("box", "float32", 1, LARGE), "float32", dict.fromkeys((7, 31, 127))),
    (("laplacian_of_gaussian", "float32", 1, LARGE), "float32", {15: None}),
    (("gradient", "float32", 1, LARGE), "float32", {3: None}),
    (("edges", "float32", 1, LARGE), "float32", {7: None}),
)
BYTES: Targets = {3: 85, 5: 80, 7: 75, 9: 72, 15: 70, 31: 60, 63: 40, 127: 25}
WIDE: Targets = {15: 50, 31: 35, 63: 28, 127: 28}
TABLE: tuple[Row, ...] = (
    (GAUSSIAN, "float32", {3: 95, 5: 92, 7: 91, 9: 90, 15: 87, 31: 80, 63: 60, 127: 45}),
    (RANDOM, "float32", {3: 95, 5: 91, 7: 82, 9: 75, **WIDE}),
    (RANDOM, "reduced", WIDE),
    *((("gaussian", "uint8", channels, MIDDLE), "float32", BYTES) for channels in (3, 1, 4)),
    (
        ("random", "uint8", 3, MIDDLE),
        "float32",
        {3: 80, 5: 65, 7: 50, 9: 40, 15: 25, 31: FFT, 63: FFT},
    ),
    (("gaussian", "float16", 1, LARGE), "float32", {3: 90, 5: 86, 7: 82, 9: 80, 15: 75, 31: 65}),
    (("gaussian", "uint8", 3, KODAK), "float32", SMALL),
    (("gaussian", "uint8", 1, (256, 256)), "float32", SMALL),
    *BETWEEN,
    *SMALLER,
    *OTHERS,
)


@cache
def all_cells() -> tuple[BenchCell, ...]:
    """List every cell once, in the order of the table, with all of its aims."""
    found: dict[BenchCell, tuple[tuple[Precision, Target], ...]] = {}
    for (weights, pixel_type, channels, size), precision, targets in TABLE:
        for ksize, target in targets.items():
            cell = BenchCell(weights, pixel_type, channels, size, ksize)
            aims = () if target is None else ((precision, target),)
            found[cell] = found.get(cell, ()) + aims
    return tuple(replace(cell, aims=aims) for cell, aims in found.items())


# -- what was found

PEER_AIM = 4.5
AUTO_AIM = 0.02
VERDICTS = {True: "met", False: "missed", None: "not measured"}
INDENT = " " * 44


@dataclass(frozen=True, slots=True)
class Finding:
    """The quickest rung and library of one precision in a cell.

    target    None: there is no aim
    limit_ms  the aim as a time; None where it depends on something that was not measured
    """

    name: str
    precision: Precision
    best: Measured | None
    peer: Measured | None
    target: Target | None = None
    limit_ms: float | None = None

    @property
    def met(self) -> bool | None:
        """True if the aim is met; None: not measured."""
        if self.best is None or self.best.ms is None or self.limit_ms is None:
            return None
        return self.best.ms <= self.limit_ms

    @property
    def peer_ratio(self) -> float | None:
        """The best library's time over ours."""
        best, peer = self.best, self.peer
        return peer.ms / best.ms if best and best.ms and peer and peer.ms else None

    def lines(self) -> Iterator[str]:
        """Describe the best rung with its aim, then the best library."""
        best, peer, target = self.best, self.peer, self.target
        words = "nothing can run it, or all outputs were wrong"
        if best and best.ms:
            words = f"{best!s:<28}{numbers.duration(best.ms):>9}{best.share:7.1f} %  "
            words += f"error {best.max_error:.1e}"
            if isinstance(target, str):
                limit = numbers.duration(self.limit_ms) if self.limit_ms else numbers.MISSING
                words += f"  aim {target} = {limit}: {VERDICTS[self.met]}"
            elif target is not None:
                words += f"  aim {target:g} %: {VERDICTS[self.met]}"
        yield f"{self.name:<44}{words}"
        if peer and peer.ms:
            ours = f", {self.peer_ratio:.2f} × ours" if self.peer_ratio else ""
            yield f"{INDENT}best peer: {peer.name} {numbers.duration(peer.ms)}{ours}"

    def to_data(self) -> dict[str, Any]:
        """The aim and what came of it as JSON."""
        best, peer = self.best, self.peer
        return {
            "precision": self.precision,
            "aim": self.target,
            "limit_ms": self.limit_ms,
            "best": best and best.key,
            "ms": best and best.ms,
            "share": best and best.share,
            "max_error": best and best.max_error,
            "met": self.met,
            "best_peer": peer and peer.name,
            "best_peer_ms": peer and peer.ms,
        }


@dataclass(frozen=True, slots=True)
class CellReport:
    """The times of one cell's rungs and libraries.

    conditions  of the bench, as `kernels.conditions_of` has them
    auto        the pick of `auto`, as str(Measured) has it
    """

    cell: BenchCell
    copy_ms: float
    rungs: tuple[Measured, ...]
    peers: tuple[Measured, ...]
    conditions: dict[str, Any]
    took_s: float
    auto: str | None = None

    @property
    def findings(self) -> list[Finding]:
        """One for each aim, or for the exact precision without any."""
        targets = dict(self.cell.aims)
        found = []
        for precision in targets or (EXACT,):
            name = str(self.cell) if precision == EXACT else f"{self.cell}, 1e-4"
            best, peer = (quickest(each, precision) for each in (self.rungs, self.peers))
            target = targets.get(precision)
            found.append(Finding(name, precision, best, peer, target, self._limit_ms(target)))
        return found

    def _limit_ms(self, target: Target | None) -> float | None:
        if target == FFT:
            found = [each.ms for each in self.peers if each.key == "cufft" and each.ms]
            return min(found, default=None)
        if (extra_ms := LAUNCH_EXTRA_MS.get(str(target))) is not None:
            samples = math.prod(self.cell.size) * self.cell.channels
            moved_bytes = 2 * samples * np.dtype(self.cell.pixel_type).itemsize
            memory_ms = moved_bytes / 1e6 / self.conditions["copy_gb_s"]
            return float(self.conditions["empty_launch_ms"] + memory_ms + extra_ms)
        return None if target is None else self.copy_ms / (float(target) / 100)

    @property
    def auto_excess(self) -> float | None:
        """The longer time of `auto`'s pick than of the quickest exact rung: 0.02 is 2 %.

        None where either has no time.
        """
        best = quickest(self.rungs, EXACT)
        picked = next((each for each in self.rungs if str(each) == self.auto), None)
        if best is None or not best.ms or picked is None or not picked.counts_as(EXACT):
            return None
        return (picked.ms or 0.0) / best.ms - 1

    def lines(self) -> Iterator[str]:
        """Describe each finding, and name rungs with wrong outputs."""
        for finding in self.findings:
            yield from finding.lines()
        wrong = [each.key for each in self.rungs if each.ms is not None and not each.ok]
        if wrong:
            yield f"{INDENT}WRONG, and not counted: {', '.join(wrong)}"

    def to_data(self) -> dict[str, Any]:
        """The report as JSON."""
        height, width = self.cell.size
        return {
            "pixel_type": self.cell.pixel_type,
            "channels": self.cell.channels,
            "size": width if width == height else f"{width}x{height}",
            "height": height,
            "width": width,
            "ksize": self.cell.ksize,
            "weights": self.cell.weights,
            "copy_ms": self.copy_ms,
            "took_s": round(self.took_s, 2),
            "auto": self.auto,
            "auto_excess": self.auto_excess,
            "rungs": [asdict(each) for each in self.rungs],
            "peers": [asdict(each) for each in self.peers],
            "aims": [each.to_data() for each in self.findings if each.target is not None],
        }


def closing_lines(reports: Sequence[CellReport], conditions: dict[str, Any]) -> list[str]:
    """Summarise aims, `auto`, the growth of times, small pictures and libraries."""
    took_s = sum(each.took_s for each in reports)
    findings = [each for report in reports for each in report.findings]
    aims = [each for each in findings if each.target is not None]
    verdicts = [(each.met, each.name) for each in aims]
    met, missed, unknown = ([n for found, n in verdicts if found is v] for v in VERDICTS)
    return [
        f"Aims met: {len(met)} of {len(aims)}.",
        *_listed("Missed", missed),
        *_listed("Not measured", unknown),
        *_auto(reports),
        *_slopes(reports, "pixels", lambda c: math.prod(c.size), lambda c: f"K={c.ksize}"),
        *_slopes(reports, "K", lambda c: c.ksize, lambda c: c.size_in_words),
        # cuFFT alone is no comparison of libraries.
        *(_peers(findings) if any(len(each.peers) > 1 for each in reports) else ()),
        f"{len(reports)} cells in {took_s:.0f} s on {conditions['device']['name']}, copy "
        f"{conditions['copy_gb_s']:,.0f} GB/s, empty launch "
        f"{numbers.duration(conditions['empty_launch_ms'])}.",
    ]


def _listed(title: str, names: Sequence[str]) -> list[str]:
    return [f"{title}: {'; '.join(names)}."] if names else []


def _auto(reports: Iterable[CellReport]) -> Iterator[str]:
    """Compare `auto`'s picks with the quickest exact rungs."""
    known = {each.cell: each.auto_excess for each in reports if each.auto_excess is not None}
    if not known:
        return
    over = {cell: excess for cell, excess in known.items() if excess > AUTO_AIM}
    missed = [f"{cell} {numbers.percent(excess, 1)}" for cell, excess in over.items()]
    yield (
        f"auto is within {numbers.percent(AUTO_AIM)} of the quickest exact rung in "
        f"{len(known) - len(missed)} of {len(known)} cells, at most "
        f"{numbers.percent(max(known.values()), 1)} off."
    )
    yield from _listed("Further off", missed)


def _slopes(
    reports: Iterable[CellReport],
    what: str,
    x_of: Callable[[BenchCell], int],
    fixed: Callable[[BenchCell], str],
) -> Iterator[str]:
    """Fit straight lines through log(time), where there are three points or more."""
    series: dict[str, dict[int, float]] = {}
    for report in reports:
        cell, best = report.cell, quickest(report.rungs, EXACT)
        if best is not None and best.ms is not None:
            name = f"{cell.weights} {cell.pixel_type}×{cell.channels}, {fixed(cell)}"
            series.setdefault(name, {})[x_of(cell)] = best.ms
    for name, points in series.items():
        if len(points) >= 3:
            slope = np.polyfit(np.log(list(points)), np.log(list(points.values())), 1)[0]
            ends = f"from {min(points):,} to {max(points):,}"
            yield f"{name}: time grows as {what}^{slope:.2f} {ends}."


def _peers(findings: Iterable[Finding]) -> Iterator[str]:
    """Compare with libraries over the cells in which one's output counted."""
    ratios = {each.name: ratio for each in findings if (ratio := each.peer_ratio)}
    if not ratios:
        return
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    slower = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < 1]
    yield (
        f"Best peer's time over ours: geometric mean {mean:.2f} over {len(ratios)} cells "
        f"(aim {PEER_AIM:g}), at least as fast in {len(ratios) - len(slower)} of them."
    )
    if slower:
        yield f"A library was quicker at {'; '.join(slower)}."
