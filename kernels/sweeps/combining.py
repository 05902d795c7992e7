"""Measurements of several pictures as one: what they cost one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kernels.core.health import health_of_all
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.cuda.transfers import Transfers
from kernels.sweeps.record import Measurement


def one_after_another(parts: Sequence[Measurement]) -> Measurement:
    """Return the timing of all of `parts`, at least one, run in turn.

    Sample i is the sum of their samples i, as far as all have it.

    What ran, and the occupancy, are those of the first; why sampling ended, of the shortest.
    """
    first, shortest = parts[0], min(parts, key=lambda each: len(each.kernel.samples_ms))
    if len(parts) == 1:
        return first
    samples_ms = tuple(map(sum, zip(*(each.kernel.samples_ms for each in parts), strict=False)))
    compile_ms = [each.compile_ms for each in parts if each.compile_ms is not None]
    return replace(
        first,
        kernel=replace(shortest.kernel, samples_ms=samples_ms),
        check=_all_checks([each.check for each in parts if each.check is not None]),
        compile_ms=sum(compile_ms) if compile_ms else None,
        health=health_of_all(each.health for each in parts),
        compulsory_bytes=sum(each.compulsory_bytes for each in parts),
    )


def repeated(transfers: Transfers, count: int) -> Transfers:
    """Return the transfers of `count` pictures, from those of one."""

    def times(timing: Timing) -> Timing:
        return replace(timing, samples_ms=tuple(count * each for each in timing.samples_ms))

    return Transfers(
        picture_bytes=count * transfers.picture_bytes,
        pageable_up=times(transfers.pageable_up),
        pageable_down=times(transfers.pageable_down),
        pinned_up=times(transfers.pinned_up),
        pinned_down=times(transfers.pinned_down),
    )


def _all_checks(checks: Sequence[Check]) -> Check | None:
    """Return one verdict on many answers: the worst place of any, and all that was looked at."""
    if not checks:
        return None
    worst = max(checks, key=lambda each: (not each.ok, each.max_error))
    return replace(
        worst,
        differing=sum(each.differing for each in checks),
        wrong=sum(each.wrong for each in checks),
        bound=max(each.bound for each in checks),
        checked=sum(each.checked for each in checks),
        total=sum(each.total for each in checks),
        levels=max(each.levels for each in checks),
        samples=sum(each.samples for each in checks),
        library=next((each.library for each in checks if each.library), ""),
    )
