"""The outcome of one picture of `apply --json`: the keys that docs/command-line.md describes."""

from __future__ import annotations

from typing import Any

from kernels import Result, filters
from kernels.core.plain_data import to_plain
from kernels.core.verdict import Check
from kernels.core.version import program_version
from kernels.rungs.own_kernels import is_own, text_hash
from workbench.batch.filtering import Outcome, Recipe
from workbench.batch.large_filtering import LargeAnswer
from workbench.model import intents


def record_of(outcome: Outcome, recipe: Recipe) -> dict[str, Any]:
    """Return the whole story of one picture; what is not known, or does not apply, is None.

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
    """Return how far a picture is that is filtered in strips."""
    done = outcome.strips
    rows = done and {"done": done.rows, "of": done.height, "left_s": done.left_s}
    return {"rows": rows and {"input": outcome.pair.source_shown, **rows}}


def asked_of(recipe: Recipe) -> dict[str, Any]:
    """Return what filtering was asked for; None for what the filter does not know."""
    chosen, state = filters.get(recipe.chosen.filter), recipe.chosen

    def of_filter(name: str) -> Any:
        return getattr(state, name) if intents.has_parameter(chosen, name) else None

    return {
        "filter": state.filter,
        "size": state.ksize,
        "sigma": of_filter("sigma"),
        "amount": of_filter("amount"),
        "weights": of_filter("matrix"),
        "offset": state.offset if intents.has_parameter(chosen, "matrix") else None,
        "border": state.border,
    }


def _found(result: Result | None) -> dict[str, Any]:
    """Return the same keys whether there is a result or not."""
    kernel = result.kernel if result else None
    job = result.job if result else None
    low, high = kernel.quartiles_ms if kernel else (None, None)
    ran = result.ran if result else ()
    return {
        "width": job and job.width,
        "height": job and job.height,
        "channels": job and job.channels,
        "pixel_type": job and job.pixel_type,
        "asked": job and job.implementation,
        "implementation": result and result.implementation,
        "text_sha256": text_hash(job.own) if job and is_own(job.implementation) else None,
        "device": result and result.device_name,
        "shares": [to_plain(each) for each in result.shares] if result else [],
        "block": result and result.block_xy,
        "threads": ran[0].threads if ran else None,
        "ran": [str(each) for each in ran],
        "median_ms": kernel and kernel.median_ms,
        "quartiles_ms": [low, high] if kernel else None,
        "n": kernel and len(kernel.samples_ms),
        "ended": (kernel and kernel.ended) or None,
        "cache": kernel and kernel.cache,
        "disturbances": list(result.disturbances) if result else [],
        "compile_ms": result and result.compile_ms,
        "upload_ms": result and result.upload_ms,
        "download_ms": result and result.download_ms,
        "megapixels_per_s": result and result.megapixels_per_s,
        "effective_gb_s": result and result.effective_gb_s,
        "check": _check(result.check if result else None),
    }


def _of_strips(large: LargeAnswer) -> dict[str, Any]:
    """Return what is otherwise of a picture that was filtered in strips: there is no filter time.

    Its throughput is that of reading, filtering and writing together.
    """
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
