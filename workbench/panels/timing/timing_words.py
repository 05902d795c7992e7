"""The figures of a result in words, and its verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kernels.core.job import Result
from kernels.core.verdict import Check
from kernels.rungs.own_kernels import is_own
from workbench.base import numbers
from workbench.base.numbers import GAP, MISSING, star, why_starred
from workbench.base.paths import asset_table
from workbench.model.intents import alpha_in_words, work_in_words
from workbench.model.speed_up import (
    is_sum,
    no_time_in_words,
    ran_once,
    shares_in_words,
    single_in_words,
    speed_up_of,
)

UNCHECKED = "not verified yet"
STEP_BY_STEP = ("✓ verified step by step", "✓ step by step")


@dataclass(frozen=True, slots=True)
class Figure:
    """One value in words."""

    text: str = MISSING
    detail: str = ""  # small print that belongs to it
    note: str = ""  # a word beside its caption
    unsure: str = ""  # why it is unreliable; empty where it is not
    more: str = ""  # the tooltip's words on this value


# How a list ran as a whole, where that is more than its launches one after another.
WHOLE = {
    "graph": "list as a graph",
    "strips": "list in strips",
    "list_tiles": "list by tiles",
    "list_ring": "list by a ring",
}


def filter_time(result: Result) -> Figure:
    """The median, its quartiles, and the number of samples."""
    if (kernel := result.kernel) is None:
        return Figure(detail=no_time_in_words(result))
    count = f"n{GAP}={GAP}{len(kernel.samples_ms)}"
    if kernel.is_single and kernel.ended:
        count = f"{count}, {single_in_words(result)}"
    if len(result.steps) > 1:
        times = [each.kernel.median_ms for each in result.steps if each.kernel is not None]
        words = [single_in_words(result)]
        if not is_sum(result):
            how = WHOLE.get(result.list_way, "list")
            words = [f"{how}; sum of steps {numbers.duration(sum(times))}", count]
        detail = "  ·  ".join((*words, *["rounded between steps"] * result.job.is_rounded))
    elif kernel.is_single:
        detail = count
    else:
        detail = f"{numbers.duration_range(*kernel.quartiles_ms, kernel.median_ms)}  ·  {count}"
    shares = shares_in_words(result.shares) if result.shares else ""
    more = (
        shares,
        _steps_in_words(result),
        (alpha := alpha_in_words(result.job)) and f"Colours are weighted by alpha; {alpha}.",
        result.why_other,
        why_starred(result.disturbances),
        _why_single(result),
    )
    return Figure(
        numbers.duration(kernel.median_ms) + star(result.disturbances),
        detail,
        note=f"L2 {kernel.cache}" if kernel.cache else "CPU",
        unsure=_unsure(result),
        more="\n\n".join(filter(None, more)),
    )


def _steps_in_words(result: Result) -> str:
    return "\n".join(
        f"{number}. {work_in_words(each.job)}: {numbers.duration(each.kernel.median_ms)}"
        for number, each in enumerate(result.steps, 1)
        if each.kernel is not None
    )


def upload(result: Result) -> Figure:
    """The time of the transfer to the GPU; "resident" where the picture was there already."""
    otherwise = "resident" if _on_gpu(result) else MISSING
    return _transfer(result, result.upload_ms, result.upload_copy_ms, otherwise)


def download(result: Result) -> Figure:
    """The time of the transfer back from the GPU."""
    return _transfer(result, result.download_ms, result.download_copy_ms, MISSING)


def total(result: Result) -> Figure:
    """Filter time and transfers together; none on the CPU."""
    ms = result.total_ms if _on_gpu(result) else None
    return Figure() if ms is None else Figure(numbers.duration(ms))


def compiling(result: Result) -> Figure:
    """The time to compile, or "cached"."""
    if result.compile_ms is not None:
        return Figure(numbers.duration(result.compile_ms))
    return Figure("cached" if _on_gpu(result) else MISSING)


def throughput(result: Result) -> Figure:
    """Pixels per second; none beside a wrong output."""
    return _speed(result, numbers.pixel_rate, result.megapixels_per_s)


def bandwidth(result: Result) -> Figure:
    """Bytes per second, each read and written once; none beside a wrong output."""
    return _speed(result, numbers.byte_rate, result.effective_gb_s)


def speed_up(result: Result, baseline: Result | None) -> Figure:
    """The speed-up against `baseline`, unsure until both are verified."""
    check = result.check
    if check is not None and not check.ok:
        return Figure(detail="the output is wrong" if check.wrong else "the output is not verified")
    found = speed_up_of(result, baseline)
    is_unchecked = found.is_known and None in (check, baseline and baseline.check)
    return Figure(
        found.text,
        found.against,
        note="verifying" if is_unchecked else found.interval,
        unsure=UNCHECKED if is_unchecked else "",
        more=found.sentence,
    )


def judged(result: Result) -> tuple[tuple[str, ...], Check | None]:
    """The verdict in words, as of `verdict`, and the check that it is.

    Of a list that of the first step that is wrong; where no bound of the error can be carried to
    the end, it is as right as its steps.
    """
    checks = [each.check for each in result.steps]
    for each in result.steps:
        if each.check is not None and each.check.wrong:
            return tuple(f"{words}: {each.job.title}" for words in verdict(each.check)), each.check
    whole, are_right = result.check, all(each and each.is_verified for each in checks)
    if whole is not None and not math.isfinite(whole.bound) and checks and are_right:
        return STEP_BY_STEP, checks[-1]
    return verdict(whole), whole


def verdict(check: Check | None) -> tuple[str, ...]:
    """Describe the check's finding, in wordings from the longest to the shortest."""
    if check is None:
        return ("verifying …",)
    if not math.isfinite(check.bound):
        return f"✗ {check}", "✗ not verified"
    if check.bug:
        return f"✗ not verified: {check.bug}", "✗ not verified"
    if not check.ok:
        wrong = f"✗ WRONG in {numbers.plural(check.wrong, 'sample')}"
        worst = f"{wrong}, largest error {check.max_error:.3g} at {check.worst_place}"
        why = check.why.removesuffix(".")
        told = (f"{worst}. {why}", f"✗ WRONG: {why}") if why else (worst,)
        return *told, wrong, "✗ WRONG"
    where = "all pixels" if check.is_full else f"{check.checked:,} of {check.total:,} pixels"
    if check.unsearched:
        return f"right in {where}, {check.unsearched}", "right, not verified", "right"
    verified = "✓ verified" if check.is_full else "✓ verified in part"
    unseen = f", {check.unseen}" if check.unseen else ""
    return f"✓ verified {where}, {_error(check)}{unseen}", f"✓ verified {where}", verified


def what_ran(result: Result) -> str:
    """Describe Auto's pick, the launches, and the pixel type."""
    launches = "  +  ".join(map(str, result.ran)) + f"  ·  {result.job.pixel_type}"
    if result.strips > 1:
        launches += f"  ·  in {result.strips} strips"
    if result.shares:
        launches += f"  ·  {shares_in_words(result.shares)}"
    if result.picked is None:
        return launches
    return f"{result.name} ({result.picked.why})  ·  {launches}"


def tip(figure: Figure, any_value: str) -> str:
    """A tooltip on this value, then on `any_value`."""
    return f"{figure.more}\n\n{any_value}" if figure.more else any_value


def verdict_tip(check: Check | None) -> str:
    is_bounded = check is not None and math.isfinite(check.bound)
    return TIPS["verdict"] + (TIPS["allowed"].format(check.bound) if check and is_bounded else "")


def _error(check: Check) -> str:
    if check.own_rounding:
        said = check.own_rounding.replace("own rounding", "rounding").replace(" of samples", "")
        return f"{said} (allowed)"
    return f"largest error {check.max_error:.3g}{' (allowed)' if check.max_error else ''}"


def _speed(result: Result, written: Callable[[float], str], value: float | None) -> Figure:
    if value is None or (result.check is not None and not result.check.ok):
        return Figure()
    unsure = _unsure(result) if result.check is not None and result.check.is_verified else UNCHECKED
    return Figure(written(value), note="?" if unsure else "", unsure=unsure)


def _transfer(result: Result, ms: float | None, copy_ms: float | None, otherwise: str) -> Figure:
    if ms is None:
        return Figure(otherwise)
    more, size = "", result.job.picture.nbytes
    if copy_ms:
        rate = numbers.byte_rate(size / 1e6 / copy_ms)
        copied = f"The copies over the bus alone took {numbers.duration(copy_ms)}, {rate}."
        more = f"{numbers.byte_count(size)}, once (n = 1). {copied}"
    # A small tile has no room for the count: it is spoken, and in the tooltip.
    return Figure(numbers.duration(ms), f"n{GAP}={GAP}1", more=more)


def _unsure(result: Result) -> str:
    return single_in_words(result) if ran_once(result) else ""


def _why_single(result: Result) -> str:
    if result.strips > 1:
        return (
            f"The sum of {result.strips} strips of the picture, which as a whole does not fit into "
            "the GPU's memory; each was timed once, after a warm-up. Transfers are sums, too."
        )
    if not ran_once(result) or not result.timed.ended:
        return ""
    return "A single run, which anything may have disturbed: it is timed again when nothing waits."


def _on_gpu(result: Result) -> bool:
    """The picture stays on the GPU; each run of a user kernel uploads it again."""
    return not is_own(result.job.implementation) and any(ran.grid is not None for ran in result.ran)


TIPS: dict[str, str] = asset_table("tips.toml")["timing"]
