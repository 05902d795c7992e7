"""A Result in words: one line for a file, a table for the window drawn off screen."""

from __future__ import annotations

from collections.abc import Callable

from kernels.core.job import Result
from kernels.core.timing import Timing
from kernels.rungs.own_kernels import is_own
from workbench.base import numbers
from workbench.base.columns import aligned
from workbench.base.disturbed_words import star, why_starred
from workbench.model.share_words import shares_in_words
from workbench.model.speed_up import no_time_in_words, single_in_words


def in_one_line(result: Result) -> str:
    """Return a result for one file: "5×5, shared: time 13.2 µs (20 samples, cold), ..."."""
    job, name = result.job, result.name
    if is_own(job.implementation):
        name = result.ran[0].function  # it says where as well
    parts = [f"time {_time(result)}" if result.kernel else "no time"]
    if result.device_name is not None and not is_own(job.implementation):
        upload = _moved(result.upload_ms, result.upload_copy_ms)
        parts.append(f"upload {upload}" if upload else "resident")
    if download := _moved(result.download_ms, result.download_copy_ms):
        parts.append(f"download {download}")
    if result.effective_gb_s is not None:
        parts.append(numbers.byte_rate(result.effective_gb_s))
    parts += [shares_in_words(result.shares)] if result.shares else []
    verdict = f"; {result.check}" if result.check is not None else ""
    why = f" {why_starred(result.disturbances)}" if result.disturbances else ""
    return f"{job.ksize}×{job.ksize}, {name}: {', '.join(parts)}{verdict}{why and '.'}{why}"


def as_table(result: Result) -> str:
    """Return everything that the timing strip shows, a row each."""
    rows = [
        ("filter", f"{result.job.filter_title} {result.job.ksize}×{result.job.ksize}"),
        ("picture", _picture(result)),
        ("ran", "; ".join(map(str, result.ran))),
        ("time", _time(result) if result.kernel else no_time_in_words(result)),
        ("quartiles", _quartiles(result.kernel)),
        ("upload", _transfer(result, result.upload_ms, result.upload_copy_ms, "resident")),
        (
            "download",
            _transfer(result, result.download_ms, result.download_copy_ms, numbers.MISSING),
        ),
        ("total", _written(numbers.duration, result.total_ms)),
        ("throughput", _written(numbers.pixel_rate, result.megapixels_per_s)),
        ("bandwidth", _written(numbers.byte_rate, result.effective_gb_s)),
        ("check", str(result.check or "not checked")),
    ]
    if result.shares:
        rows.insert(-1, ("GPUs", shares_in_words(result.shares)))
    if result.disturbances:
        rows.append(("* disturbed", "; ".join(result.disturbances)))
    if result.picked is not None:
        rows.insert(2, ("picked", f"{result.name}: {result.picked.why}"))
    if result.device_name is not None:
        rows.insert(2, ("device", result.device_name))
    return aligned(rows)


def _written(write: Callable[[float], str], value: float | None) -> str:
    return numbers.MISSING if value is None else write(value)


def _quartiles(kernel: Timing | None) -> str:
    if kernel is None:
        return numbers.MISSING
    return numbers.duration_range(*kernel.quartiles_ms, kernel.median_ms)


def _time(result: Result) -> str:
    """Return the time, starred if disturbed, and its samples: "13.2 µs* (20 samples)"."""
    mark = star(result.disturbances)
    return f"{numbers.duration(result.timed.median_ms)}{mark} ({_samples(result)})"


def _samples(result: Result) -> str:
    kernel = result.timed
    words = single_in_words(result) if kernel.is_single else f"{len(kernel.samples_ms)} samples"
    return f"{words}, {kernel.cache}" if kernel.cache else words


def _picture(result: Result) -> str:
    job = result.job
    return f"{job.width}×{job.height}, {job.channels} × {job.pixel_type}"


def _transfer(result: Result, ms: float | None, copy_ms: float | None, otherwise: str) -> str:
    if result.device_name is None:
        return "none, on the CPU"
    return _moved(ms, copy_ms) or otherwise


def _moved(ms: float | None, copy_ms: float | None) -> str:
    """Return a transfer: "384 µs (the copy 28.1 µs)"; empty where nothing was moved."""
    if ms is None:
        return ""
    alone = "" if copy_ms is None else f" (the copy {numbers.duration(copy_ms)})"
    return f"{numbers.duration(ms)}{alone}"
