"""A speed-up in words: how many times as fast, how sure that is, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.core.comparison import Comparison, compare
from kernels.core.job import Result
from kernels.core.statistics import CONFIDENCE
from workbench.base import numbers
from workbench.base.numbers import MISSING
from workbench.model.intents import implementation


@dataclass(frozen=True, slots=True)
class SpeedUpWords:
    """The words of a speed-up, for a tile and its tooltip.

    times     "20.1×"; MISSING where there is none
    unit      "slower" where the baseline is the faster one: 29.4× slower
    against   the words that follow `times`: "as fast as OpenCV, 16 threads", "slower than …"
    interval  of `times`: "19.6–20.7"
    detail    "vs OpenCV, 16 threads", or why there is none
    sentence  all of it, for a tooltip; empty where there is none
    """

    times: str = MISSING
    unit: str = ""
    against: str = ""
    interval: str = ""
    detail: str = ""
    sentence: str = ""

    @property
    def text(self) -> str:
        """Return times and unit: "20.1×", "29.4× slower"."""
        return f"{self.times} {self.unit}".rstrip()


def speed_up_of(result: Result, baseline: Result | None) -> SpeedUpWords:
    """Return in words how fast `result` is against `baseline`.

    A wrong baseline, a single run of either, and a baseline of other work give no speed-up.
    Neither has to be checked already.
    """
    if baseline is None or not baseline.job.same_work(result.job):
        return SpeedUpWords(detail="no CPU time yet")
    name = baseline_name(baseline)
    if baseline.job.implementation == result.implementation:
        return SpeedUpWords(detail="this is the baseline")
    if baseline.check is not None and not baseline.check.ok:
        return SpeedUpWords(detail=f"{name} is wrong")
    if result.kernel.is_single:
        return SpeedUpWords(detail=f"none from {single_in_words(result)}")
    if baseline.kernel.is_single:
        return SpeedUpWords(detail=f"{name} has run only once")
    counts = len(result.kernel.samples_ms), len(baseline.kernel.samples_ms)
    return _in_words(compare(result.kernel, baseline.kernel), name, counts)


def single_in_words(result: Result) -> str:
    """Return what the only sample of `result` is: "a single run", or "a sum of 4 strips"."""
    return f"a sum of {result.strips} strips" if result.strips > 1 else "a single run"


def baseline_name(baseline: Result) -> str:
    """Return a baseline's name with its threads, which always go with it: "OpenCV, 2 threads"."""
    threads = max((ran.threads or 1 for ran in baseline.ran), default=1)
    title = implementation(baseline.job.implementation).title
    return f"{title}, {threads} thread{'s' if threads > 1 else ''}"


def _in_words(found: Comparison, name: str, counts: tuple[int, int]) -> SpeedUpWords:
    is_slower = found.verdict != "same" and found.ratio < 1
    ratio, low, high = found.ratio, found.low, found.high
    if is_slower:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
    times, unit = f"{numbers.three_digits(ratio)}×", "slower" if is_slower else ""
    interval = f"{numbers.three_digits(low)}–{numbers.three_digits(high)}"
    against = f"slower than {name}" if is_slower else f"as fast as {name}"
    equal = found.in_words if found.verdict == "same" else ""
    how = "as long as" if is_slower else "as fast as"
    sentence = (
        f"{times} {how} {name}{equal and f': {equal}'}. The {100 * CONFIDENCE:g} % interval of the "
        f"ratio of their medians is {interval}, from {counts[0]} and {counts[1]} samples."
    )
    detail = f"{equal} to {name}" if equal else f"vs {name}"
    return SpeedUpWords(times, unit, against, interval, detail, sentence)
