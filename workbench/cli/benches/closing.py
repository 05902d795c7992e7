"""The findings of all cells of `bench kernels` together: aims met, how time grows, peers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from workbench.base import numbers
from workbench.cli.bench_cells import LAUNCH_EXTRA_MS, BenchCell
from workbench.cli.benches.cell_report import CellReport, suffix
from workbench.cli.benches.conditions import Conditions

PEER_AIM = 4.5
AUTO_AIM = 0.02


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
