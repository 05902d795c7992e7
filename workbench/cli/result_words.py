"""The result of one picture: a line, and the keys of `apply --json`."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernels import filters
from kernels.core.job import Result
from kernels.core.plain_data import to_plain, without_controls
from kernels.core.verdict import Check
from kernels.core.version import program_version
from kernels.rungs.own_kernels import is_own, text_hash
from kernels.sweeps.step_words import as_word
from workbench.base import numbers
from workbench.base.numbers import star, why_starred
from workbench.cli.output import complain
from workbench.model import intents
from workbench.model.speed_up import shares_in_words, single_in_words
from workbench.model.state import State
from workbench.model.step_files import asked_of

if TYPE_CHECKING:  # which a window has no need of
    from workbench.batch.filtering import Outcome, Recipe
    from workbench.batch.large_filtering import LargeAnswer


class Failures:
    """Says on stderr why pictures failed: a log once, the pages of a file in the end, as one."""

    def __init__(self) -> None:
        self._logs, self._kept = {""}, Counter[Path]()  # pages, by their file
        self._pages = defaultdict[tuple[Path, str], list[int]](list)  # failed, by that and why

    def add(self, outcome: Outcome) -> None:
        pair, said = outcome.pair, outcome.error
        if said is None:
            self._kept.update([pair.source] * (pair.page > 0))
        elif pair.page:
            self._pages[pair.source, said.removeprefix(f"{pair.name}: ")].append(pair.page)
        else:
            complain(said)
        if outcome.log not in self._logs:  # a hundred thousand pictures may have the same one
            self._logs.add(outcome.log)
            print(without_controls(outcome.log), file=sys.stderr)

    def close(self) -> None:
        for (source, why), pages in self._pages.items():
            named = f"page{'s'[: len(pages) - 1]} {', '.join(map(str, sorted(pages)))}"
            kept = f" (the other {self._kept[source]} kept)" if self._kept[source] else ""
            complain(f"{source.name}, {named}{kept}: {why}")


def list_in_words(state: State, *, titles: bool = False) -> str:
    """The steps that are taken, by their keys or titles: "gaussian 7×7 ▸ edges 3×3"."""
    words = []
    for each in intents.taken_in(state):
        name = filters.get(each.filter).title if titles else each.filter
        mix = "" if each.mix == 1 else f" mixed in at {numbers.percent(each.mix)}"
        words.append(f"{name} {each.ksize}×{each.ksize}{mix}")
    return " ▸ ".join(words)


def in_one_line(what: str, result: Result) -> str:
    """Describe a result of `what`: "gaussian 5×5, shared: time 13.2 µs (20 samples, cold), ..."."""
    name = _name(result)
    parts = [f"time {_time(result)}" if result.kernel else "no time"]
    if result.job.region is not None and result.kernel:
        parts.append("of the whole picture")
    if len(steps := [each.kernel.median_ms for each in result.steps if each.kernel]) > 1:
        parts.append(f"steps {' + '.join(map(numbers.duration, steps))}")
    if is_own(result.job.implementation):
        name = result.ran[0].function  # it says where as well
    elif result.device_name is not None and result.upload_ms is None:
        parts.append("resident")
    parts += filter(None, [intents.alpha_in_words(result.job)])
    moved = (("upload", result.upload_ms), ("download", result.download_ms))
    parts += [f"{way} {numbers.duration(ms)}" for way, ms in moved if ms is not None]
    if result.effective_gb_s is not None:
        parts.append(numbers.byte_rate(result.effective_gb_s))
    parts += [shares_in_words(result.shares)] if result.shares else []
    verdict = f"; {result.check}" if result.check is not None else ""
    why = f" {why_starred(result.disturbances)}" if result.disturbances else ""
    return f"{what}, {name}: {', '.join(parts)}{verdict}{why and '.'}{why}"


def _name(result: Result) -> str:
    """What ran; of several steps each, unless the one before is the same."""
    names = (each.name for each in result.steps or (result,))
    return " ▸ ".join(name for name, _ in groupby(names))


def _time(result: Result) -> str:
    """The time, starred if disturbed, and its samples: "13.2 µs* (20 samples, cold)"."""
    kernel = result.timed
    samples = single_in_words(result) if kernel.is_single else f"{len(kernel.samples_ms)} samples"
    cache = f", {kernel.cache}" if kernel.cache else ""
    return f"{numbers.duration(kernel.median_ms)}{star(result.disturbances)} ({samples}{cache})"


def large_in_one_line(what: str, large: LargeAnswer) -> str:
    """Describe a picture filtered in strips: "…, opencv: 40 strips in 61.2 s, 26.1 MP/s, ..."."""
    from workbench.batch.stage_times import IN_WORDS

    name = f", {_name(large.first)}" if large.first else ""
    parts = [
        f"{numbers.plural(large.strips, 'strip')} in {numbers.duration(large.took_s * 1e3)}",
        numbers.pixel_rate(large.megapixels_per_s),
    ]
    parts += filter(None, [intents.alpha_in_words(large.first.job) if large.first else ""])
    if large.resumed:
        parts.insert(0, f"{large.resumed:,} rows were finished before")
    if large.limit is not None:
        parts.append(f"{IN_WORDS[large.limit]} was the limit")
    verdict = f"; {large.check}" if large.check is not None else ""
    return f"{what}{name}: {', '.join(parts)}{verdict}"


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
        **asked_of(recipe.chosen),
        **_found(outcome.result),
        "runs": _runs(outcome.large.first if outcome.large else outcome.result, recipe.chosen),
        **(_of_strips(outcome.large) if outcome.large else {"strips": None}),
    }


def rows_record(outcome: Outcome) -> dict[str, Any]:
    """The progress of a picture that is filtered in strips."""
    done = outcome.strips
    rows = done and {"done": done.rows, "of": done.height, "left_s": done.left_s}
    return {"rows": rows and {"input": outcome.pair.source_shown, **rows}}


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
        "whole_ran": (result and result.list_way) or None,
        "why_other": (result and result.why_other) or None,
        "median_ms": kernel and kernel.median_ms,
        "quartiles_ms": kernel and list(kernel.quartiles_ms),
        "n": kernel and len(kernel.samples_ms),
        "ended": (kernel and kernel.ended) or None,
        "cache": kernel and kernel.cache,
        "disturbances": list(result.disturbances) if result else [],
        "check": _check(result.check if result else None),
    }


OF_RUN = (
    *("implementation", "asked", "block", "threads", "ran", "compile_ms"),
    *("median_ms", "quartiles_ms", "n", "check"),
)


def _runs(result: Result | None, state: State) -> list[dict[str, Any]]:
    """What ran for each step of a list, in order, each on its actual input; a filter may take two.

    A large picture's are those of its first strip.
    """
    if result is None or not result.steps:
        return []
    words = [
        as_word(each)
        for each in intents.taken_in(state)
        for _ in range(1 + filters.get(each.filter).gradient)
    ]
    pairs = zip(result.job.runs, map(_found, result.steps), strict=True)
    return [
        {"step": words[run.taken - 1], **{name: found[name] for name in OF_RUN}}
        for run, found in pairs
    ]


def _of_strips(large: LargeAnswer) -> dict[str, Any]:
    height, width, _ = large.shape
    without = ("median_ms", "quartiles_ms", "n", "ended", "cache", "compile_ms", "effective_gb_s")
    return {
        **(_found(large.first) if large.first else {}),
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
        "why": check.why or None,
        "words": str(check),
        "max_error": check.max_error,
        "wrong": check.wrong,
        "differing": check.differing,
        "checked_pixels": check.checked,
        "pixels": check.total,
    }
