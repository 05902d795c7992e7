"""The findings of `bench kernels`: of each cell, as text and as data, and of all together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kernels.core.job import Job, Result
from kernels.core.weights import gain
from kernels.engine.engine import Implementation
from kernels.oracle.checking import largest_finite
from kernels.rungs.rung import Rung
from workbench.base import numbers
from workbench.cli.benches.cells import (
    FFT,
    LAUNCH_EXTRA_MS,
    REDUCED_ERROR,
    Aim,
    BenchCell,
    Conditions,
    Precision,
)
from workbench.cli.benches.libraries import PeerTime, precision_of

PEER_AIM = 4.5
AUTO_AIM = 0.02


@dataclass(frozen=True, slots=True)
class RungTime:
    """The time of one rung in one cell.

    share         of the copy bandwidth, in percent
    registers     a thread, shared_bytes a block: the most of all its passes
    max_error     in sample values; error_limit is what the precision "reduced" allows
    why_not       the sentence why there is no time, or None
    """

    key: str
    ms: float | None = None
    quartiles: tuple[float, float] | None = None
    samples: int = 0
    share: float | None = None
    block_xy: tuple[int, int] | None = None
    passes: int = 0
    registers: int | None = None
    shared_bytes: int | None = None
    max_error: float | None = None
    error_limit: float | None = None
    precision: Precision = "float32"
    ok: bool = False
    why_not: str | None = None

    @classmethod
    def of(
        cls, implementation: Implementation, job: Job, outcome: Result | str, copy_ms: float
    ) -> RungTime:
        """Return the time that `outcome` gives, or why there is none."""
        if isinstance(outcome, str):
            return cls(implementation.key, why_not=outcome)
        check, ms = outcome.check, outcome.timed.median_ms
        assert check is not None
        reduced = isinstance(implementation, Rung) and implementation.reduced_precision
        if precision_of(check.max_error, job) != "float32":
            reduced = True  # whatever it says of itself
        return cls(
            key=implementation.key,
            ms=ms,
            quartiles=outcome.timed.quartiles_ms,
            samples=len(outcome.timed.samples_ms),
            share=100 * copy_ms / ms,
            block_xy=outcome.block_xy,
            passes=len(outcome.ran),
            registers=max((ran.registers or 0 for ran in outcome.ran), default=0),
            shared_bytes=max((ran.shared_bytes or 0 for ran in outcome.ran), default=0),
            max_error=check.max_error,
            error_limit=REDUCED_ERROR * gain(job.weights) * largest_finite(job.picture),
            precision="reduced" if reduced else "float32",
            ok=check.ok,
            why_not=None if check.ok else f"Its answer is {check}.",
        )

    def counts_as(self, precision: Precision) -> bool:
        """Return whether its answer is right, and as exact as `precision` asks for."""
        if not self.ok or self.max_error is None or self.error_limit is None:
            return False
        if precision == "float32":
            return self.precision == "float32"
        return self.precision == "float32" or self.max_error <= self.error_limit

    def __str__(self) -> str:
        block = f" {self.block_xy[0]}×{self.block_xy[1]}" if self.block_xy else ""
        return f"{self.key}{block}"


@dataclass(frozen=True, slots=True)
class CellReport:
    """One cell: its rungs' and peers' times.

    auto  what `auto` picks for it, as str(RungTime) has it
    """

    cell: BenchCell
    copy_ms: float
    rungs: tuple[RungTime, ...]
    peers: tuple[PeerTime, ...]
    conditions: Conditions
    took_s: float
    auto: str | None = None

    @property
    def auto_excess(self) -> float | None:
        """Return how much longer `auto`'s pick takes than the quickest exact rung: 0.02 is 2 %.

        None where either has no time.
        """
        best = self.best("float32")
        picked = next((each for each in self.rungs if str(each) == self.auto), None)
        if best is None or not best.ms or picked is None or not picked.counts_as("float32"):
            return None
        return (picked.ms or 0.0) / best.ms - 1

    def best(self, precision: Precision) -> RungTime | None:
        """Return the quickest rung that counts as `precision`; None without any."""
        able = [each for each in self.rungs if each.counts_as(precision)]
        return min(able, key=lambda each: each.ms or math.inf, default=None)

    def best_peer(self, precision: Precision) -> PeerTime | None:
        """Return the quickest peer that counts as `precision`; None without any."""
        able = [each for each in self.peers if each.counts_as(precision)]
        return min(able, key=lambda each: each.ms or math.inf, default=None)

    @property
    def precisions(self) -> list[Precision]:
        """Return those that are asked for, or the exact one."""
        return list(dict.fromkeys(aim.precision for aim in self.cell.aims)) or ["float32"]

    def limit_ms(self, aim: Aim) -> float | None:
        """Return the aim's time; None where it is made of something that was not measured."""
        if aim.target == FFT:
            found = [each.ms for each in self.peers if each.module == "cufft" and each.ms]
            return min(found, default=None)
        if (extra_ms := LAUNCH_EXTRA_MS.get(str(aim.target))) is not None:
            height, width = self.cell.size
            count = (
                2 * height * width * self.cell.channels * np.dtype(self.cell.pixel_type).itemsize
            )
            here = self.conditions
            return here.empty_launch_ms + here.memory_ms(count) + extra_ms
        return self.copy_ms / (float(aim.target) / 100)

    def met(self, aim: Aim) -> bool | None:
        """Return whether the aim is met; None: not measured."""
        best, limit_ms = self.best(aim.precision), self.limit_ms(aim)
        if best is None or best.ms is None or limit_ms is None:
            return None
        return best.ms <= limit_ms

    def lines(self) -> list[str]:
        """Yield the best of each precision with its aim, then the peers."""
        lines = []
        for precision in self.precisions:
            best = self.best(precision)
            aim = next((aim for aim in self.cell.aims if aim.precision == precision), None)
            lines.append(f"{f'{self.cell}{suffix(precision)}':<44}{self._in_words(best, aim)}")
            if peer := self.best_peer(precision):
                assert peer.ms is not None
                ratio = f", {peer.ms / best.ms:.2f} × ours" if best and best.ms else ""
                time = numbers.duration(peer.ms)
                lines.append(f"{'':<44}best peer: {peer.name} {time}{ratio}")
        wrong = [each.key for each in self.rungs if each.ms is not None and not each.ok]
        if wrong:
            lines.append(f"{'':<44}WRONG, and not counted: {', '.join(wrong)}")
        return lines

    def _in_words(self, best: RungTime | None, aim: Aim | None) -> str:
        if best is None or best.ms is None:
            return "nothing can run it, or all that did was wrong"
        words = (
            f"{best!s:<28}{numbers.duration(best.ms):>9}{best.share:7.1f} %  "
            f"error {best.max_error:.1e}"
        )
        if aim is None:
            return words
        verdict = {True: "met", False: "missed", None: "not measured"}[self.met(aim)]
        return f"{words}  aim {self._aim_in_words(aim)}: {verdict}"

    def _aim_in_words(self, aim: Aim) -> str:
        limit_ms = self.limit_ms(aim)
        if not isinstance(aim.target, str):
            return f"{aim.target:g} %"
        time = numbers.duration(limit_ms) if limit_ms else numbers.MISSING
        return f"{aim.target} = {time}"

    def to_data(self) -> dict[str, Any]:
        """Return what JSON can hold of it."""
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
        best, peer = self.best(aim.precision), self.best_peer(aim.precision)
        return {
            "precision": aim.precision,
            "aim": aim.target,
            "limit_ms": self.limit_ms(aim),
            "best": best.key if best else None,
            "ms": best.ms if best else None,
            "share": best.share if best else None,
            "max_error": best.max_error if best else None,
            "met": self.met(aim),
            "best_peer": peer.name if peer else None,
            "best_peer_ms": peer.ms if peer else None,
        }


def suffix(precision: Precision) -> str:
    """Return what stands behind a reduced precision: ", 1e-4"; empty for the exact one."""
    return ", 1e-4" if precision == "reduced" else ""


def closing_lines(reports: Sequence[CellReport], conditions: Conditions) -> list[str]:
    """Yield how many aims are met, how time grows, what small pictures and peers say."""
    lines = [
        *_aims(reports),
        *_auto(reports),
        *_exponents(reports),
        *_small(reports),
        *_peers(reports),
    ]
    took_s = sum(each.took_s for each in reports)
    return [
        *lines,
        f"{len(reports)} cells in {took_s:.0f} s on {conditions.device.name}, copy "
        f"{conditions.copy_gb_s:,.0f} GB/s, empty launch "
        f"{numbers.duration(conditions.empty_launch_ms)}.",
    ]


def _aims(reports: Iterable[CellReport]) -> list[str]:
    verdicts = [
        (f"{report.cell}{suffix(aim.precision)}", report.met(aim))
        for report in reports
        for aim in report.cell.aims
    ]
    missed = [name for name, met in verdicts if met is False]
    unknown = [name for name, met in verdicts if met is None]
    lines = [f"Aims met: {sum(met is True for _, met in verdicts)} of {len(verdicts)}."]
    lines += [f"Missed: {'; '.join(missed)}."] if missed else []
    return lines + ([f"Not measured: {'; '.join(unknown)}."] if unknown else [])


def _auto(reports: Iterable[CellReport]) -> list[str]:
    """Return how far `auto`'s pick is from the quickest exact rung."""
    known = [(each.cell, each.auto_excess) for each in reports if each.auto_excess is not None]
    if not known:
        return []
    missed = [f"{cell} {numbers.percent(excess, 1)}" for cell, excess in known if excess > AUTO_AIM]
    within = f"{len(known) - len(missed)} of {len(known)} cells"
    largest = max(excess for _, excess in known)
    return [
        f"auto is within {numbers.percent(AUTO_AIM)} of the quickest exact rung in {within}, at "
        f"most {numbers.percent(largest, 1)} off.",
        *([f"Further off: {'; '.join(missed)}."] if missed else []),
    ]


def _exponents(reports: Iterable[CellReport]) -> list[str]:
    """Return slopes of straight lines through log(time), where there are three points or more."""
    reports = list(reports)
    return [
        *_slopes(reports, "pixels", lambda c: c.size[0] * c.size[1], lambda c: c.ksize),
        *_slopes(reports, "K", lambda c: c.ksize, lambda c: c.size_in_words),
    ]


def _slopes(
    reports: list[CellReport],
    what: str,
    x_of: Callable[[BenchCell], int],
    fixed: Callable[[BenchCell], Any],
) -> list[str]:
    series: dict[tuple[Any, ...], dict[int, float]] = {}
    for report in reports:
        cell, best = report.cell, report.best("float32")
        if best is not None and best.ms is not None:
            name = (cell.weights, f"{cell.pixel_type}×{cell.channels}", fixed(cell))
            series.setdefault(name, {})[x_of(cell)] = best.ms
    return [
        f"{weights} {type_}, {'K=' if what == 'pixels' else ''}{held}: time grows as "
        f"{what}^{exponent(points):.2f} from {min(points):,} to {max(points):,}."
        for (weights, type_, held), points in series.items()
        if len(points) >= 3
    ]


def exponent(points: dict[int, float]) -> float:
    """Return the slope of the straight line nearest to log(time) over log(x)."""
    xs, times = np.log(list(points)), np.log(list(points.values()))
    return float(np.polyfit(xs, times, 1)[0])


def _small(reports: Iterable[CellReport]) -> list[str]:
    lines = []
    for report in reports:
        for aim in report.cell.aims:
            best, limit_ms = report.best(aim.precision), report.limit_ms(aim)
            if aim.target in LAUNCH_EXTRA_MS and best is not None and best.ms and limit_ms:
                lines.append(
                    f"{report.cell}: {best} {numbers.duration(best.ms)}, "
                    f"{aim.target} is {numbers.duration(limit_ms)}."
                )
    return lines


def _peers(reports: Iterable[CellReport]) -> list[str]:
    """Compare with peers over the cells where a peer's answer counted."""
    ratios: dict[str, float] = {}
    for report in reports:
        for precision in report.precisions:
            best, peer = report.best(precision), report.best_peer(precision)
            if best is not None and best.ms and peer is not None and peer.ms:
                ratios[f"{report.cell}{suffix(precision)}"] = peer.ms / best.ms
    if not ratios or all(len(each.peers) <= 1 for each in reports):
        return []  # cuFFT alone is no comparison of libraries
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    slower = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < 1]
    lines = [
        f"Best peer's time over ours: geometric mean {mean:.2f} over {len(ratios)} cells "
        f"(aim {PEER_AIM:g}), at least as fast in {len(ratios) - len(slower)} of them."
    ]
    return lines + ([f"A library was quicker at {'; '.join(slower)}."] if slower else [])
