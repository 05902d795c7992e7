"""The result of one picture: a line, and the keys of `apply --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernels import filters
from kernels.core.job import Result
from kernels.core.plain_data import to_plain
from kernels.core.verdict import Check
from kernels.core.version import program_version
from kernels.rungs.own_kernels import is_own, text_hash
from workbench.base import numbers
from workbench.base.numbers import star, why_starred
from workbench.model.speed_up import shares_in_words, single_in_words

if TYPE_CHECKING:  # which a window has no need of
    from workbench.batch.filtering import Outcome, Recipe
    from workbench.batch.large_filtering import LargeAnswer


def in_one_line(result: Result) -> str:
    """Describe a result: "5×5, shared: time 13.2 µs (20 samples, cold), ..."."""
    job, name = result.job, result.name
    parts = [f"time {_time(result)}" if result.kernel else "no time"]
    if is_own(job.implementation):
        name = result.ran[0].function  # it says where as well
    elif result.device_name is not None and result.upload_ms is None:
        parts.append("resident")
    moved = (("upload", result.upload_ms), ("download", result.download_ms))
    parts += [f"{way} {numbers.duration(ms)}" for way, ms in moved if ms is not None]
    if result.effective_gb_s is not None:
        parts.append(numbers.byte_rate(result.effective_gb_s))
    parts += [shares_in_words(result.shares)] if result.shares else []
    verdict = f"; {result.check}" if result.check is not None else ""
    why = f" {why_starred(result.disturbances)}" if result.disturbances else ""
    return f"{job.ksize}×{job.ksize}, {name}: {', '.join(parts)}{verdict}{why and '.'}{why}"


def _time(result: Result) -> str:
    """The time, starred if disturbed, and its samples: "13.2 µs* (20 samples, cold)"."""
    kernel = result.timed
    samples = single_in_words(result) if kernel.is_single else f"{len(kernel.samples_ms)} samples"
    cache = f", {kernel.cache}" if kernel.cache else ""
    return f"{numbers.duration(kernel.median_ms)}{star(result.disturbances)} ({samples}{cache})"


def large_in_one_line(large: LargeAnswer) -> str:
    """Describe a picture filtered in strips: "5×5, opencv: 40 strips in 61.2 s, 26.1 MP/s, ..."."""
    from workbench.batch.stage_times import IN_WORDS

    name = f", {large.first.name}" if large.first else ""
    parts = [
        f"{large.strips:,} strip{'' if large.strips == 1 else 's'} in "
        f"{numbers.duration(large.took_s * 1e3)}",
        numbers.pixel_rate(large.megapixels_per_s),
    ]
    if large.resumed:
        parts.insert(0, f"{large.resumed:,} rows were finished before")
    if large.limit is not None:
        parts.append(f"{IN_WORDS[large.limit]} was the limit")
    verdict = f"; {large.check}" if large.check is not None else ""
    return f"{large.job.ksize}×{large.job.ksize}{name}: {', '.join(parts)}{verdict}"


def record_of(outcome: Outcome, recipe: Recipe) -> dict[str, Any]:
    """The whole story of one picture; None for unknown values, and those that do not apply.

    All times are in milliseconds, rates in millions of pixels and 10⁹ bytes per second.
    """
    return {
        "version": program_version(),
        "status": outcome.status,
        "error": outcome.error,
        "input": outcome.pair.source_shown,
        "output": outcome.pair.target_shown,
        "remarks": [*outcome.remarks, *outcome.warnings],
        **asked_of(recipe),
        **_found(outcome.result),
        **(_of_strips(outcome.large) if outcome.large else {"strips": None}),
    }


def rows_record(outcome: Outcome) -> dict[str, Any]:
    """The progress of a picture that is filtered in strips."""
    done = outcome.strips
    rows = done and {"done": done.rows, "of": done.height, "left_s": done.left_s}
    return {"rows": rows and {"input": outcome.pair.source_shown, **rows}}


def asked_of(recipe: Recipe) -> dict[str, Any]:
    """The chosen filter and its parameters; None for those that it does not have."""
    state = recipe.chosen
    taken = {each.name for each in filters.get(state.filter).parameters}
    return {
        "filter": state.filter,
        "size": state.ksize,
        "sigma": state.sigma if "sigma" in taken else None,
        "amount": state.amount if "amount" in taken else None,
        "weights": state.matrix if "matrix" in taken else None,
        "offset": state.offset if "matrix" in taken else None,
        "border": state.border,
    }


# Keys of `apply --json` that a job, a result and its timing have by the same names.
OF_JOB = ("width", "height", "channels", "pixel_type")
OF_RESULT = (
    *("implementation", "compile_ms", "upload_ms", "download_ms"),
    *("megapixels_per_s", "effective_gb_s"),
)


def _found(result: Result | None) -> dict[str, Any]:
    """The same keys whether there is a result or not."""
    kernel = result.kernel if result else None
    job = result.job if result else None
    ran = result.ran if result else ()
    return {
        **{name: getattr(job, name, None) for name in OF_JOB},
        **{name: getattr(result, name, None) for name in OF_RESULT},
        "asked": job and job.implementation,
        "text_sha256": text_hash(job.own) if job and is_own(job.implementation) else None,
        "device": result and result.device_name,
        "shares": [to_plain(each) for each in result.shares] if result else [],
        "block": result and result.block_xy,
        "threads": ran[0].threads if ran else None,
        "ran": [str(each) for each in ran],
        "median_ms": kernel and kernel.median_ms,
        "quartiles_ms": kernel and list(kernel.quartiles_ms),
        "n": kernel and len(kernel.samples_ms),
        "ended": (kernel and kernel.ended) or None,
        "cache": kernel and kernel.cache,
        "disturbances": list(result.disturbances) if result else [],
        "check": _check(result.check if result else None),
    }


def _of_strips(large: LargeAnswer) -> dict[str, Any]:
    height, width, _ = large.shape
    found = {} if large.first is None else _found(large.first)
    without = ("median_ms", "quartiles_ms", "n", "ended", "cache", "compile_ms", "effective_gb_s")
    return {
        **found,
        **dict.fromkeys((*without, "upload_ms", "download_ms")),
        "disturbances": [],
        "width": width,
        "height": height,
        "megapixels_per_s": large.megapixels_per_s,
        "check": _check(large.check),
        "strips": large.strips,
    }


def _check(check: Check | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "ok": check.ok,
        "verified": check.is_verified,
        "bug": check.bug or None,
        "words": str(check),
        "max_error": check.max_error,
        "wrong": check.wrong,
        "differing": check.differing,
        "checked_pixels": check.checked,
        "pixels": check.total,
    }
