"""The few figures that a room is shown, in words; a speed only beside a passed check."""

from __future__ import annotations

import re
import weakref
from dataclasses import dataclass

from kernels import filters
from kernels.core.errors import KernelError
from kernels.core.job import Result
from kernels.core.timing import SAME_WITHIN
from workbench.base import numbers
from workbench.base.numbers import MISSING, star, why_starred
from workbench.model import intents
from workbench.model.rung_times import CACHE, RecordedTimes
from workbench.model.speed_up import no_time_in_words, single_in_words, speed_up_of
from workbench.model.state import State


@dataclass(frozen=True, slots=True)
class LadderBar:
    """One step's time.

    key     what was timed: an implementation and its blocks
    source  where: here, or the name of the machine that a recorded time is from
    """

    name: str
    key: tuple[object, ...]
    median_ms: float
    source: str = ""
    is_disturbed: bool = False

    @property
    def time(self) -> str:
        """The time, with a star where something disturbed it."""
        return f"{numbers.duration(self.median_ms)}{'*' if self.is_disturbed else ''}"

    def beside(self, before: LadderBar | None) -> str:
        """Format "1.9× the step before", or how much slower; empty where they do not compare."""
        if before is None or before.source != self.source:
            return ""
        ratio = before.median_ms / self.median_ms
        if abs(ratio - 1) < SAME_WITHIN:
            return "as fast as before"
        words = numbers.speed_up(ratio, numbers.fine_ratio)
        return f"{words} the step before" if ratio > 1 else words


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one result, in words.

    work       filter and size; `how`: implementation and block shape
    verdict    one line: whether the answer is right
    is_right   None: not known yet
    speedup    how many times as fast as the CPU, or slower; the note names what it is compared
               with, or why there is none
    time_more  what disturbed the time, for a tooltip; empty where nothing did
    bar        of the ladder; None while there is no right answer
    """

    work: str = ""
    how: str = ""
    verdict: str = ""
    is_right: bool | None = None
    time: str = MISSING
    time_note: str = "filter time"
    speedup: str = MISSING
    speedup_note: str = ""
    time_more: str = ""
    bar: LadderBar | None = None

    @property
    def in_words(self) -> str:
        """All figures in words, for screen readers."""
        speedup = f"{self.speedup} {self.speedup_note}" if self.speedup_note else ""
        parts = (f"{self.time_note} {self.time}", speedup, self.verdict, self.work, self.how)
        return ", ".join(filter(None, (*parts, self.time_more)))


def short_name(device: str) -> str:
    """A GPU's name for a room: neither who makes it nor its memory."""
    return re.sub(r" \d+ ?GB.*", "", device.removeprefix("NVIDIA "))


def figures_of(
    state: State, result: Result | None, baseline: Result | None, *, is_refused: bool = False
) -> Figures:
    """Make the figures of `result` if it answers `state`; else only the work is named.

    baseline    the CPU's result of the same work; None while it is not known
    is_refused  the state's job cannot be run, so that no result will come
    """
    work, title = _work(state), intents.title_with_pick(state.implementation, None)
    if result is None or not intents.is_answer(result, state):
        verdict = "✗ this cannot be run" if is_refused else "working …"
        return Figures(work, title, verdict, False if is_refused else None)
    how = _with_block(intents.title_with_pick(state.implementation, result.picked), result.block_xy)
    check, kernel = result.check, result.kernel
    if check is not None and not check.ok:
        unknown = "✗ not verified" if check.bug else "✗ the answer cannot be checked"
        verdict = "✗ the answer is wrong" if check.wrong else unknown
        return Figures(work, how, verdict, False)
    time, note = MISSING, no_time_in_words(result) if kernel is None else ""
    bar, speedup, against = None, MISSING, "the CPU's time is still to come"
    if kernel is not None:
        time = f"{numbers.duration(kernel.median_ms)}{star(result.disturbances)}"
        note = f"filter time, L2 {kernel.cache}" if kernel.cache else "filter time on the CPU"
        note += f", {single_in_words(result)}" if kernel.is_single else ""
        note += ", * disturbed" if result.disturbances else ""
    if kernel is not None and check is not None:
        key, is_disturbed = (result.implementation, result.block_xy), bool(result.disturbances)
        bar = LadderBar(title, key, kernel.median_ms, is_disturbed=is_disturbed)
    if baseline is not None and baseline.check is not None:
        found = speed_up_of(result, baseline)
        speedup, against = found.text, found.against
    is_right = True if check is not None and check.is_verified else None
    verdict = "✓ verified" if is_right else "right, not verified" if check else "verifying …"
    more = why_starred(result.disturbances)
    return Figures(work, how, verdict, is_right, time, note, speedup, against, more, bar)


def recorded_figures(state: State, recorded: RecordedTimes) -> Figures | None:
    """Make the figures that came with the program for the job of `state`; None: none did.

    Time and speed-up are of the machine that they were recorded on, and say so.
    """
    try:
        job = intents.job_for(state)
    except KernelError:
        return None
    times = recorded.of_work(job) if job is not None else {}
    if (time := times.get(state.implementation)) is None:
        return None
    title, speedup, against = intents.title_with_pick(state.implementation, None), MISSING, ""
    if (baseline := times.get("opencv")) is not None and state.implementation != "opencv":
        ratio = baseline.median_ms / time.median_ms
        speedup = numbers.speed_up(ratio, numbers.fine_ratio)
        is_slower = numbers.is_slower(ratio, numbers.fine_ratio)
        against = f"{'than' if is_slower else 'as fast as'} OpenCV there"
    return Figures(
        *(_work(state), _with_block(title, time.block_xy), "✓ verified when recorded", True),
        numbers.duration(time.median_ms),
        f"recorded on an {short_name(recorded.device)}, L2 {CACHE}",
        *(speedup, against),
        bar=LadderBar(
            title, (state.implementation, time.block_xy), time.median_ms, recorded.device
        ),
    )


class Ladder:
    """The bars of one presentation: the steps shown so far, by their numbers."""

    def __init__(self) -> None:
        self._steps: dict[int, tuple[object, LadderBar | None]] = {}  # what was filtered there

    def up_to(
        self, step: int, state: State, bar: LadderBar | None
    ) -> tuple[list[LadderBar], LadderBar | None]:
        """Note a step's bar; list those of the steps up to it that filtered the same, and its own.

        Each implementation has one bar: where it came first, with its newest time.
        """
        picture = state.picture and weakref.ref(state.picture)  # it may be large
        work = (state.filter, state.ksize, state.sigma, state.border, picture)
        known, before = self._steps.get(step, (None, None))
        bar = bar or (before if known == work else None)
        self._steps[step] = work, bar
        same = (self._steps[n] for n in sorted(self._steps) if n <= step)
        bars = (each for found, each in same if found == work and each is not None)
        return list({(*each.key, each.source): each for each in bars}.values()), bar


def _work(state: State) -> str:
    return f"{filters.get(state.filter).title} {state.ksize}×{state.ksize}"


def _with_block(title: str, block: tuple[int, int] | None) -> str:
    return f"{title} · {block[0]}×{block[1]}" if block else title
