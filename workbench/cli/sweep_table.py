"""A plan and its results in a few lines of text: what varies down, implementations across."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kernels.core.cpu_load import disturbed_in_words
from kernels.core.statistics import CONFIDENCE, ENOUGH_SAMPLES
from kernels.sweeps.cell import Cell
from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Record, Session
from workbench.base import numbers
from workbench.base.columns import columns
from workbench.base.disturbed_words import star, why_starred
from workbench.report.tables import Baseline, baseline_of

MAX_REASONS = 8
# By what a row stands for, then by implementation.
Rows = dict[tuple[str, ...], dict[str, list[Record]]]
# Of Plan's lists: what one value, or several, are called, and what a cell has there.
Words = Callable[[Cell], str]
DOWN: dict[str, tuple[str, str, Words]] = {
    "pictures": ("picture", "kinds of picture", lambda cell: cell.picture),
    "sizes": ("size", "sizes", lambda cell: cell.size_in_words),
    "pixel_types": ("type", "pixel types", lambda cell: cell.pixel_type),
    "channels": ("channels", "numbers of channels", lambda cell: str(cell.channels)),
    "counts": ("pictures", "numbers of pictures", lambda cell: str(cell.count)),
    "filters": ("filter", "filters", lambda cell: cell.filter),
    "borders": ("border", "borders", lambda cell: cell.border),
    "ksizes": ("K", "kernel sizes", lambda cell: f"{cell.ksize}×{cell.ksize}"),
    "caches": ("L2", "states of the cache", lambda cell: cell.cache or ""),
    "devices": ("GPUs", "numbers of GPUs", lambda cell: str(cell.devices) if cell.cache else ""),
    "blocks": ("block", "block shapes", lambda cell: cell.block_in_words),
}


def opening_lines(plan: Plan, cells: Sequence[Cell]) -> Iterator[str]:
    """Yield what is about to be measured."""
    yield plan.title
    if plan.note:
        yield plan.note
    parts = [f"{len(getattr(plan, name))} {DOWN[name][1]}" for name in plan.varied if name in DOWN]
    if len(plan.implementations) > 1:
        parts.append(f"{len(plan.implementations)} implementations")
    made = f": {' × '.join(parts)}" if parts else ""
    yield f"{len(cells)} cell{'s' if len(cells) != 1 else ''}{made}."


def closing_lines(session: Session) -> Iterator[str]:
    """Yield medians of what was right, speed-ups, what disturbed, and why others have none."""
    plan, records = session.plan, session.records
    down = _dimensions_down(plan)
    shows_block = "blocks" in plan.varied and "blocks" not in down
    rows = _rows(records, down)
    keys = list(dict.fromkeys(record.cell.implementation for record in records))
    if rows:
        head = (*(DOWN[name][0] for name in down), *keys)
        body = [
            (*key, *(_time(found.get(each, ()), shows_block) for each in keys))
            for key, found in rows.items()
        ]
        yield ""
        yield columns([head, *body])
        yield from _speed_ups(session, rows, down, keys)
        yield from _disturbances(records)
    if plan.tolerance is not None:
        yield from _errors(records, plan.tolerance)
    yield from _reasons(records)


def _rows(records: Sequence[Record], down: Sequence[str]) -> Rows:
    """Return the records of each row by their implementation; only of rows with a verified time."""
    rows: Rows = {}
    for record in records:
        key = tuple(DOWN[name][2](record.cell) for name in down)
        rows.setdefault(key, {}).setdefault(record.cell.implementation, []).append(record)
    return {
        key: found
        for key, found in rows.items()
        if any(record.verified for each in found.values() for record in each)
    }


def _speed_ups(
    session: Session, rows: Rows, down: Sequence[str], keys: Sequence[str]
) -> Iterator[str]:
    """Yield how many times as fast as the baseline, with the interval of each ratio."""
    baseline = baseline_of(session)
    timed = {record.cell.implementation for record in session.records if record.verified}
    others = [key for key in keys if baseline and key != baseline.key and key in timed]
    if baseline is None or not others:
        return
    head = (*(DOWN[name][0] for name in down), *others)
    body = [
        (*key, *(_speed_up(_quickest(found.get(each, ())), baseline) for each in others))
        for key, found in rows.items()
    ]
    yield ""
    yield (
        f"Speed-up against {baseline.title}, and its {100 * CONFIDENCE:g} % interval where there "
        f"are {ENOUGH_SAMPLES} samples or rounds:"
    )
    yield columns([head, *body])


def _speed_up(record: Record | None, baseline: Baseline) -> str:
    found = baseline.speed_up(record) if record else None
    if found is None:
        return numbers.MISSING
    return numbers.speed_up_between(found.ratio, *(found.interval or 2 * (found.ratio,)))


def _disturbances(records: Sequence[Record]) -> Iterator[str]:
    """Yield what stands behind the stars."""
    measured = [found for each in records if (found := each.verified)]
    if words := disturbed_in_words(each.load for each in measured):
        yield ""
        yield f"* {words}"
    seen = (why for each in measured if each.health for why in each.health.disturbances)
    if words := why_starred(tuple(dict.fromkeys(seen))):
        yield ""
        yield words


def _errors(records: Sequence[Record], tolerance: float) -> Iterator[str]:
    """Return how the answers compare with what the plan accepts."""
    checks = [found.check for each in records if (found := each.verified) and found.check]
    if not checks:
        return
    off = sum(check.max_error > tolerance for check in checks)
    within = f"{off} of them are off by more" if off else "none is off by more"
    largest = max(check.max_error for check in checks)
    yield ""
    yield (
        f"{len(checks)} answers compared with the reference: the largest error is {largest:.3g}; "
        f"the plan accepts {tolerance:g}, and {within}."
    )


def _dimensions_down(plan: Plan) -> tuple[str, ...]:
    """Return what a row stands for.

    Block shapes have rows where nothing else varies; else the quickest shape stands beside its
    time.
    """
    varied = [name for name in plan.varied if name in DOWN]
    return tuple(varied) if varied == ["blocks"] else tuple(x for x in varied if x != "blocks")


def _time(records: Sequence[Record], shows_block: bool) -> str:
    """Return the quickest time that was found right; a dash where none was.

    A star: something disturbed it.
    """
    record = _quickest(records)
    if record is None or record.verified is None:
        return numbers.MISSING
    block = record.cell.block_in_words if shows_block else ""
    once = "once" if len(record.verified.kernel.samples_ms) == 1 else ""
    duration = numbers.duration(record.verified.kernel.median_ms)
    duration += star(record.verified.disturbances)
    return " ".join(filter(None, (duration, block, once)))


def _quickest(records: Sequence[Record]) -> Record | None:
    """Return the quickest of those that were found right."""
    verified = [(found.kernel.median_ms, each) for each in records if (found := each.verified)]
    return min(verified, key=lambda each: each[0])[1] if verified else None


def _reasons(records: Sequence[Record]) -> Iterator[str]:
    """Yield why cells have no time, the commonest first."""
    objections = [(each.cell.implementation, each.objection) for each in records if each.objection]
    if not objections:
        return
    counts = Counter(reason for _, reason in objections)
    yield ""
    for reason, count in counts.most_common(MAX_REASONS):
        whose = list(dict.fromkeys(key for key, each in objections if each == reason))
        names = ", ".join(whose) if len(whose) <= 3 else f"{len(whose)} implementations"
        yield f"{count} × no time of {names}: {reason}"
    if len(counts) > MAX_REASONS:
        rest = sum(counts.values()) - sum(n for _, n in counts.most_common(MAX_REASONS))
        yield f"{rest} × no time for other reasons: session.csv has them."
