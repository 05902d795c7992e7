"""Words for the place of a kernel of one's own on the ladder, by times of this session."""

from __future__ import annotations

from collections.abc import Iterator

from kernels.core.comparison import gives_speed_up
from kernels.core.timing import Timing
from kernels.cuda_child.gpu_trial import GpuTrial
from kernels.engine.engine import all_implementations
from kernels.rungs.rung import Rung
from workbench.base import numbers
from workbench.model.rung_times import RungTimes, Time
from workbench.panels.kernel.facts_card import FactRow

TIP = (
    "Medians of this session, of the same job with the same L2 cache: of the rung that it changes "
    "a thing about, and of the fastest one measured. The panel Implementation measures the others."
)
NONE_YET = "no rung was timed on this job yet"


def ladder_rows(tried: GpuTrial, rung: Rung, times: RungTimes) -> Iterator[FactRow]:
    """Yield how fast it is beside the ladder; nothing without a time of its own."""
    if tried.kernel is None or not tried.kernel.cache:
        return
    rungs = {each.key: each.title for each in all_implementations() if each.kind == "cuda"}
    known = {
        key: time
        for key, time in times.of_work(tried.job, tried.kernel.cache).items()
        if key in rungs and not time.is_wrong
    }
    fastest = min(known, key=lambda key: known[key].median_ms, default="")
    keys = dict.fromkeys(key for key in (rung.after, fastest) if key in known)
    parts = [_beside(tried.kernel, rungs[key], known[key]) for key in keys]
    words = "; ".join(filter(None, parts)) or NONE_YET
    yield FactRow("Beside the ladder", words, TIP)


def _beside(own: Timing, title: str, time: Time) -> str:
    """Return "1.9× as fast as Global memory (13.2 µs)"; empty where a time is of a single run."""
    if not gives_speed_up(own, time.timing):
        return ""
    ratio = numbers.times_as_fast(time.median_ms / own.median_ms)
    return f"{ratio} {title} ({numbers.duration(time.median_ms)})"
