"""The findings of `bench kernels`: of each cell, as text and as data, and of all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kernels.core.job import Job, Result
from kernels.engine.engine import Implementation
from kernels.rungs.rung import Rung
from workbench.base import numbers
from workbench.cli.benches.cells import FFT, LAUNCH_EXTRA_MS, Aim, BenchCell, Conditions
from workbench.cli.benches.ways import Measured, Precision, precision_of, quickest

PEER_AIM = 4.5
AUTO_AIM = 0.02
VERDICTS = {True: "met", False: "missed", None: "not measured"}
INDENT = " " * 44


def measured_rung(
    implementation: Implementation, job: Job, outcome: Result | str, copy_ms: float
) -> Measured:
    """Describe a rung's outcome, or the reason for having none.

    copy_ms  of the picture, device to device
    """
    if isinstance(outcome, str):
        return Measured(implementation.key, why_not=outcome)
    check, ms = outcome.check, outcome.timed.median_ms
    assert check is not None
    precision = precision_of(check.max_error, job)
    is_reduced = isinstance(implementation, Rung) and implementation.reduced_precision
    return Measured(
        key=implementation.key,
        ms=ms,
        quartiles=outcome.timed.quartiles_ms,
        samples=len(outcome.timed.samples_ms),
        max_error=check.max_error,
        precision="reduced" if is_reduced and precision else precision,
        ok=check.ok,
        why_not=None if check.ok else f"Its output is {check}.",
        share=100 * copy_ms / ms,
        block_xy=outcome.block_xy,
        passes=len(outcome.ran),
        registers=max((ran.registers or 0 for ran in outcome.ran), default=0),
        shared_bytes=max((ran.shared_bytes or 0 for ran in outcome.ran), default=0),
    )


@dataclass(frozen=True, slots=True)
class CellReport:
    """The times of one cell's rungs and peers.

    auto  the pick of `auto`, as str(Measured) has it
    """

    cell: BenchCell
    copy_ms: float
    rungs: tuple[Measured, ...]
    peers: tuple[Measured, ...]
    conditions: Conditions
    took_s: float
    auto: str | None = None

    @property
    def auto_excess(self) -> float | None:
        """The longer time of `auto`'s pick than of the quickest exact rung: 0.02 is 2 %.

        None where either has no time.
        """
        best = quickest(self.rungs, "float32")
        picked = next((each for each in self.rungs if str(each) == self.auto), None)
        if best is None or not best.ms or picked is None or not picked.counts_as("float32"):
            return None
        return (picked.ms or 0.0) / best.ms - 1

    @property
    def precisions(self) -> list[Precision]:
        """The precisions of its aims, or the exact one."""
        return list(dict.fromkeys(aim.precision for aim in self.cell.aims)) or ["float32"]

    def named(self, precision: Precision) -> str:
        """Name the cell and the precision, unless that is the exact one."""
        return f"{self.cell}, 1e-4" if precision == "reduced" else str(self.cell)

    def limit_ms(self, aim: Aim) -> float | None:
        """The aim as a time; None where it depends on something that was not measured."""
        if aim.target == FFT:
            found = [each.ms for each in self.peers if each.key == "cufft" and each.ms]
            return min(found, default=None)
        if (extra_ms := LAUNCH_EXTRA_MS.get(str(aim.target))) is not None:
            samples = math.prod(self.cell.size) * self.cell.channels
            moved_bytes = 2 * samples * np.dtype(self.cell.pixel_type).itemsize
            here = self.conditions
            return here.empty_launch_ms + moved_bytes / 1e6 / here.copy_gb_s + extra_ms
        return self.copy_ms / (float(aim.target) / 100)

    def met(self, aim: Aim) -> bool | None:
        """True if the aim is met; None: not measured."""
        best, limit_ms = quickest(self.rungs, aim.precision), self.limit_ms(aim)
        if best is None or best.ms is None or limit_ms is None:
            return None
        return best.ms <= limit_ms

    def peer_ratio(self, precision: Precision) -> float | None:
        """The best peer's time over ours."""
        best, peer = quickest(self.rungs, precision), quickest(self.peers, precision)
        return peer.ms / best.ms if best and best.ms and peer and peer.ms else None

    def lines(self) -> Iterator[str]:
        """Describe the best rung of each precision with its aim, then the best peer."""
        for precision in self.precisions:
            aim = next((aim for aim in self.cell.aims if aim.precision == precision), None)
            yield f"{self.named(precision):<44}{self._best_in_words(precision, aim)}"
            if (peer := quickest(self.peers, precision)) and peer.ms:
                ratio = self.peer_ratio(precision)
                ours = f", {ratio:.2f} × ours" if ratio else ""
                yield f"{INDENT}best peer: {peer.name} {numbers.duration(peer.ms)}{ours}"
        wrong = [each.key for each in self.rungs if each.ms is not None and not each.ok]
        if wrong:
            yield f"{INDENT}WRONG, and not counted: {', '.join(wrong)}"

    def _best_in_words(self, precision: Precision, aim: Aim | None) -> str:
        best = quickest(self.rungs, precision)
        if best is None or best.ms is None:
            return "nothing can run it, or all outputs were wrong"
        words = (
            f"{best!s:<28}{numbers.duration(best.ms):>9}{best.share:7.1f} %  "
            f"error {best.max_error:.1e}"
        )
        if aim is None:
            return words
        target = f"{aim.target:g} %" if not isinstance(aim.target, str) else aim.target
        if isinstance(aim.target, str):
            limit_ms = self.limit_ms(aim)
            target += f" = {numbers.duration(limit_ms) if limit_ms else numbers.MISSING}"
        return f"{words}  aim {target}: {VERDICTS[self.met(aim)]}"

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
            "aims": [self._aim_to_data(aim) for aim in self.cell.aims],
        }

    def _aim_to_data(self, aim: Aim) -> dict[str, Any]:
        best, peer = quickest(self.rungs, aim.precision), quickest(self.peers, aim.precision)
        return {
            "precision": aim.precision,
            "aim": aim.target,
            "limit_ms": self.limit_ms(aim),
            "best": best and best.key,
            "ms": best and best.ms,
            "share": best and best.share,
            "max_error": best and best.max_error,
            "met": self.met(aim),
            "best_peer": peer and peer.name,
            "best_peer_ms": peer and peer.ms,
        }


def closing_lines(reports: Sequence[CellReport], conditions: Conditions) -> list[str]:
    """Summarise aims, `auto`, the growth of times, small pictures and peers."""
    took_s = sum(each.took_s for each in reports)
    return [
        *_aims(reports),
        *_auto(reports),
        *_slopes(reports, "pixels", lambda c: math.prod(c.size), lambda c: f"K={c.ksize}"),
        *_slopes(reports, "K", lambda c: c.ksize, lambda c: c.size_in_words),
        *_small(reports),
        *_peers(reports),
        f"{len(reports)} cells in {took_s:.0f} s on {conditions.device.name}, copy "
        f"{conditions.copy_gb_s:,.0f} GB/s, empty launch "
        f"{numbers.duration(conditions.empty_launch_ms)}.",
    ]


def _aims(reports: Iterable[CellReport]) -> Iterator[str]:
    names: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    for report in reports:
        for aim in report.cell.aims:
            names[report.met(aim)].append(report.named(aim.precision))
    yield f"Aims met: {len(names[True])} of {sum(map(len, names.values()))}."
    if names[False]:
        yield f"Missed: {'; '.join(names[False])}."
    if names[None]:
        yield f"Not measured: {'; '.join(names[None])}."


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
        cell, best = report.cell, quickest(report.rungs, "float32")
        if best is not None and best.ms is not None:
            name = f"{cell.weights} {cell.pixel_type}×{cell.channels}, {fixed(cell)}"
            series.setdefault(name, {})[x_of(cell)] = best.ms
    for name, points in series.items():
        if len(points) >= 3:
            slope = np.polyfit(np.log(list(points)), np.log(list(points.values())), 1)[0]
            ends = f"from {min(points):,} to {max(points):,}"
            yield f"{name}: time grows as {what}^{slope:.2f} {ends}."


def _small(reports: Iterable[CellReport]) -> Iterator[str]:
    for report in reports:
        for aim in report.cell.aims:
            best, limit_ms = quickest(report.rungs, aim.precision), report.limit_ms(aim)
            if aim.target in LAUNCH_EXTRA_MS and best is not None and best.ms and limit_ms:
                time, limit = numbers.duration(best.ms), numbers.duration(limit_ms)
                yield f"{report.cell}: {best} {time}, {aim.target} is {limit}."


def _peers(reports: Sequence[CellReport]) -> Iterator[str]:
    """Compare with peers over the cells in which a peer's output counted."""
    ratios = {
        report.named(precision): ratio
        for report in reports
        for precision in report.precisions
        if (ratio := report.peer_ratio(precision))
    }
    if not ratios or all(len(each.peers) <= 1 for each in reports):
        return  # cuFFT alone is no comparison of libraries
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    slower = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < 1]
    yield (
        f"Best peer's time over ours: geometric mean {mean:.2f} over {len(ratios)} cells "
        f"(aim {PEER_AIM:g}), at least as fast in {len(ratios) - len(slower)} of them."
    )
    if slower:
        yield f"A library was quicker at {'; '.join(slower)}."
