"""A speed-up in words: how many times as fast, how sure that is, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kernels.core.device import DeviceShare
from kernels.core.job import Result
from kernels.core.timing import CONFIDENCE, NO_INTERVAL, TOO_NOISY, Comparison, compare
from workbench.base import numbers
from workbench.base.numbers import MISSING, star, why_starred
from workbench.model.intents import implementation, keys_of

BASELINE = "baseline"  # what stands in place of the speed-up of the baseline itself


@dataclass(frozen=True, slots=True)
class SpeedUpWords:
    """The words of a speed-up, for a large value and the small print beside it."""

    text: str = MISSING  # "20.1×", "29.4× slower", or BASELINE
    against: str = ""  # what follows: "as fast as OpenCV, 16 threads", or why there is none
    interval: str = ""  # of the ratio: "19.6–20.7"; empty of too few samples for one
    sentence: str = ""  # all of it, for a tooltip; empty where there is none

    @property
    def is_known(self) -> bool:
        return self.text not in (MISSING, BASELINE)


def speed_up_of(result: Result, baseline: Result | None) -> SpeedUpWords:
    """Return in words how fast `result` is against `baseline`.

    A wrong baseline, a single run of either, and a baseline of other work give no speed-up.
    Neither has to be checked already.
    """
    if baseline is None or not baseline.job.same_work(result.job):
        return SpeedUpWords(against="no CPU time yet")
    name = baseline_name(baseline)
    if {each.implementation for each in result.steps or (result,)} == set(keys_of(baseline.job)):
        return SpeedUpWords(BASELINE, "others are compared with this")
    if baseline.check is not None and not baseline.check.ok:
        return SpeedUpWords(against=f"{name} is wrong")
    if result.kernel is None:
        return SpeedUpWords(against=no_time_in_words(result))
    if ran_once(result):
        return SpeedUpWords(against=f"none from {single_in_words(result)}")
    if ran_once(baseline):
        return SpeedUpWords(against=f"{name} has run only once")
    return _in_words(compare(result.kernel, baseline.timed), result, baseline)


def single_in_words(result: Result) -> str:
    """Name the only sample of `result`: "a single run", or "a sum of 4 strips", steps or runs."""
    if is_sum(result):
        is_single = all(each.timed.is_single for each in result.steps)
        return f"a sum of {len(result.steps)} {'single runs' if is_single else 'steps'}"
    return f"a sum of {result.strips} strips" if result.strips > 1 else "a single run"


def no_time_in_words(result: Result) -> str:
    """Reason why a user kernel has no time (yet)."""
    if result.device_name is None:
        return "no time on the CPU runtime"
    return "no time without a right output" if result.is_wrong else "timed once verified"


def is_sum(result: Result) -> bool:
    """Return True where a list's time is that of its steps, each of which was timed alone."""
    times = [each.kernel.median_ms for each in result.steps if each.kernel is not None]
    return len(times) > 1 and result.kernel is not None and result.kernel.median_ms == sum(times)


def ran_once(result: Result) -> bool:
    """Return True for a single run, or a list with a step that is one: any might be disturbed."""
    runs = result.steps if is_sum(result) else (result,)
    return any(each.timed.is_single for each in runs)


def baseline_name(baseline: Result) -> str:
    """A baseline's name with its threads: "OpenCV, 2 threads"."""
    threads = max((ran.threads or 1 for ran in baseline.ran), default=1)
    title = implementation(baseline.job.implementation).title
    return f"{title}, {numbers.plural(threads, 'thread')}"


def _in_words(found: Comparison, result: Result, baseline: Result) -> SpeedUpWords:
    if is_slower := found.verdict == "slower":
        found = found.turned
    disturbances = [*dict.fromkeys((*result.disturbances, *baseline.disturbances))]
    times = f"{numbers.fine_ratio(found.ratio)}{star(disturbances)}"
    interval = "–".join(map(numbers.three_digits, found.interval or ()))
    equal = found.in_words if found.verdict == "same" else ""
    to = "from" if equal == TOO_NOISY else "to"
    how = "than" if is_slower else f"{equal} {to}" if equal else "as fast as"
    name, counts = baseline_name(baseline), [len(r.timed.samples_ms) for r in (result, baseline)]
    text = f"{times} slower" if is_slower else times
    sure = f"{100 * CONFIDENCE:g} % interval of the ratio of their medians"
    sentence = (
        f"{times} {'as long as' if is_slower else 'as fast as'} {name}{equal and f': {equal}'}. "
        f"The {sure} is {interval or f'unknown ({NO_INTERVAL})'}, "
        f"from {counts[0]} and {counts[1]} samples."
        f" {why_starred(disturbances)}".rstrip()
    )
    return SpeedUpWords(text, f"{how} {name}", interval, sentence)


PATHS = {"peer": "copied from GPU to GPU", "host": "copied through the computer's memory"}


def shares_in_words(shares: Sequence[DeviceShare]) -> str:
    """Format "GPU 0: 13.2 µs, GPU 1: 13.4 µs; halo rows: 2, in up to 4.1 µs, copied …"."""
    times = ", ".join(f"GPU {each.index}: {numbers.duration(each.total_ms)}" for each in shares)
    slowest = max(shares, key=lambda each: each.halo_ms)
    if not slowest.halo_rows:
        return times
    rows = max(each.halo_rows for each in shares)
    path = PATHS["host" if any(each.halo_path == "host" for each in shares) else "peer"]
    return f"{times}; halo rows: {rows}, in up to {numbers.duration(slowest.halo_ms)}, {path}"
