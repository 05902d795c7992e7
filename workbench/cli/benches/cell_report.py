"""The findings of `bench kernels`: of each cell, as text and as data, and of all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workbench.base import numbers
from workbench.cli.benches.cells import FFT, LAUNCH_EXTRA_MS, BenchCell
from workbench.cli.benches.ways import Measured, Precision, quickest

PEER_AIM = 4.5
AUTO_AIM = 0.02
VERDICTS = {True: "met", False: "missed", None: "not measured"}
INDENT = " " * 44


@dataclass(frozen=True, slots=True)
class Finding:
    """The quickest rung and library of one precision in a cell.

    target    of the aim, as `cells.Aim` has it; None: there is no aim
    limit_ms  the aim as a time; None where it depends on something that was not measured
    """

    name: str
    precision: Precision
    best: Measured | None
    peer: Measured | None
    target: float | str | None = None
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
        yield f"{self.name:<44}{self._best_in_words()}"
        if self.peer and self.peer.ms:
            ours = f", {self.peer_ratio:.2f} × ours" if self.peer_ratio else ""
            yield f"{INDENT}best peer: {self.peer.name} {numbers.duration(self.peer.ms)}{ours}"

    def _best_in_words(self) -> str:
        best = self.best
        if best is None or best.ms is None:
            return "nothing can run it, or all outputs were wrong"
        words = (
            f"{best!s:<28}{numbers.duration(best.ms):>9}{best.share:7.1f} %  "
            f"error {best.max_error:.1e}"
        )
        if self.target is None:
            return words
        target = f"{self.target:g} %" if not isinstance(self.target, str) else self.target
        if isinstance(self.target, str):
            limit = numbers.duration(self.limit_ms) if self.limit_ms else numbers.MISSING
            target += f" = {limit}"
        return f"{words}  aim {target}: {VERDICTS[self.met]}"

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

    conditions  of the bench, as `cells.conditions_of` has them
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
        targets = {aim.precision: aim.target for aim in self.cell.aims}
        found = []
        for precision in targets or (EXACT,):
            name = str(self.cell) if precision == EXACT else f"{self.cell}, 1e-4"
            best, peer = (quickest(each, precision) for each in (self.rungs, self.peers))
            target = targets.get(precision)
            found.append(Finding(name, precision, best, peer, target, self._limit_ms(target)))
        return found

    def _limit_ms(self, target: float | str | None) -> float | None:
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


EXACT: Precision = "float32"


def closing_lines(reports: Sequence[CellReport], conditions: dict[str, Any]) -> list[str]:
    """Summarise aims, `auto`, the growth of times, small pictures and libraries."""
    took_s = sum(each.took_s for each in reports)
    findings = [each for report in reports for each in report.findings]
    aims = [each for each in findings if each.target is not None]
    return [
        *_aims(aims),
        *_auto(reports),
        *_slopes(reports, "pixels", lambda c: math.prod(c.size), lambda c: f"K={c.ksize}"),
        *_slopes(reports, "K", lambda c: c.ksize, lambda c: c.size_in_words),
        *(
            f"{each.name}: {each.best} {numbers.duration(each.best.ms)}, {each.target} is "
            f"{numbers.duration(each.limit_ms)}."
            for each in aims
            if each.target in LAUNCH_EXTRA_MS and each.best and each.best.ms and each.limit_ms
        ),
        # cuFFT alone is no comparison of libraries.
        *(_peers(findings) if any(len(each.peers) > 1 for each in reports) else ()),
        f"{len(reports)} cells in {took_s:.0f} s on {conditions['device']['name']}, copy "
        f"{conditions['copy_gb_s']:,.0f} GB/s, empty launch "
        f"{numbers.duration(conditions['empty_launch_ms'])}.",
    ]


def _aims(aims: Sequence[Finding]) -> Iterator[str]:
    met, missed, unknown = (
        [each.name for each in aims if each.met is verdict] for verdict in VERDICTS
    )
    yield f"Aims met: {len(met)} of {len(aims)}."
    if missed:
        yield f"Missed: {'; '.join(missed)}."
    if unknown:
        yield f"Not measured: {'; '.join(unknown)}."


def _auto(reports: Iterable[CellReport]) -> Iterator[str]:
    """Compare `auto`'s picks with the quickest exact rungs."""
    known = {each.cell: each.auto_excess for each in reports if each.auto_excess is not None}
    if not known:
        return
    missed = [
        f"{cell} {numbers.percent(excess, 1)}"
        for cell, excess in known.items()
        if excess > AUTO_AIM
    ]
    yield (
        f"auto is within {numbers.percent(AUTO_AIM)} of the quickest exact rung in "
        f"{len(known) - len(missed)} of {len(known)} cells, at most "
        f"{numbers.percent(max(known.values()), 1)} off."
    )
    if missed:
        yield f"Further off: {'; '.join(missed)}."


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
