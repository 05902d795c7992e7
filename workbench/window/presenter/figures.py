"""The few figures that a room is shown, in words; a speed only beside a passed check."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernels import filters
from kernels.core.errors import KernelError
from kernels.core.job import Result
from workbench.base import numbers
from workbench.base.disturbed_words import star, why_starred
from workbench.base.numbers import MISSING
from workbench.model import intents
from workbench.model.recorded_times import CACHE, RecordedTimes
from workbench.model.speed_up import no_time_in_words, single_in_words, speed_up_of
from workbench.model.state import State
from workbench.window.presenter.ladder_so_far import LadderBar


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one result, in words.

    verdict   one line: whether the answer is right
    is_right  None: not known yet
    work      filter and size
    how       implementation and block shape
    time_more  what disturbed the time, for a tooltip; empty where nothing did
    speedup   how many times as fast as the CPU, or slower; the note names what is compared with, or
              says why there is none
    """

    time: str = MISSING
    time_note: str = "filter time"
    speedup: str = MISSING
    speedup_note: str = ""
    verdict: str = ""
    is_right: bool | None = None
    work: str = ""
    how: str = ""
    time_more: str = ""

    @property
    def in_words(self) -> str:
        """Return all figures in words, for screen readers."""
        parts = (
            f"{self.time_note} {self.time}",
            f"{self.speedup} {self.speedup_note}" if self.speedup_note else "",
            *(self.verdict, self.work, self.how, self.time_more),
        )
        return ", ".join(part for part in parts if part)


def short_name(device: str) -> str:
    """Return a GPU's name for a room: neither who makes it nor its memory."""
    return re.sub(r" \d+ ?GB.*", "", device.removeprefix("NVIDIA "))


def figures_of(
    state: State, result: Result | None, baseline: Result | None, *, is_refused: bool = False
) -> Figures:
    """Return the figures of `result` if it answers `state`; else only what is asked for.

    baseline    the CPU's result of the same work; None while it is not known
    is_refused  whether what is asked for cannot be run, so that no result will come
    """
    work = _work(state)
    if result is None or not intents.is_answer(result, state):
        how = _how(state, None)
        if is_refused:
            return Figures(work=work, how=how, verdict="✗ this cannot be run", is_right=False)
        return Figures(work=work, how=how, verdict="working …")
    how, check = _how(state, result), result.check
    if check is not None and not check.ok:
        unknown = "✗ not verified" if check.bug else "✗ the answer cannot be checked"
        verdict = "✗ the answer is wrong" if check.wrong else unknown
        return Figures(verdict=verdict, is_right=False, work=work, how=how)
    time, note = _time(result)
    speedup, against = _speedup(result, baseline)
    is_right = None if check is None or not check.is_verified else True
    open_verdict = "right, not verified" if check else "verifying …"
    verdict = "✓ verified" if is_right else open_verdict
    why = why_starred(result.disturbances)
    return Figures(time, note, speedup, against, verdict, is_right, work, how, why)


def _time(result: Result) -> tuple[str, str]:
    """Return the time and what it is of; a kernel of the user's own may have none."""
    kernel = result.kernel
    if kernel is None:
        return MISSING, no_time_in_words(result)
    note = f"filter time, L2 {kernel.cache}" if kernel.cache else "filter time on the CPU"
    note += f", {single_in_words(result)}" if kernel.is_single else ""
    note += ", * disturbed" if result.disturbances else ""
    return f"{numbers.duration(kernel.median_ms)}{star(result.disturbances)}", note


def recorded_figures(state: State, recorded: RecordedTimes) -> Figures | None:
    """Return the figures that came with the program for what `state` asks for; None: none did.

    Time and speed-up are of the machine that they were recorded on, and say so.
    """
    try:
        job = intents.job_for(state)
    except KernelError:
        return None
    times = recorded.of_work(job) if job is not None else {}
    if (time := times.get(state.implementation)) is None:
        return None
    title = intents.title_with_pick(state.implementation, None)
    block = f" · {time.block_xy[0]}×{time.block_xy[1]}" if time.block_xy else ""
    speedup, against = MISSING, ""
    if (baseline := times.get("opencv")) is not None and state.implementation != "opencv":
        ratio = baseline.median_ms / time.median_ms
        speedup = numbers.speed_up(ratio, numbers.fine_ratio)
        is_slower = numbers.is_slower(ratio, numbers.fine_ratio)
        against = f"{'than' if is_slower else 'as fast as'} OpenCV there"
    return Figures(
        numbers.duration(time.median_ms),
        f"recorded on an {short_name(recorded.device)}, L2 {CACHE}",
        speedup,
        against,
        "✓ verified when recorded",
        True,
        _work(state),
        f"{title}{block}",
    )


def bar_of(state: State, result: Result | None, recorded: RecordedTimes) -> LadderBar | None:
    """Return the ladder's bar for what `state` asks for; None while there is no right answer.

    recorded  taken where there is no result
    """
    title = intents.title_with_pick(state.implementation, None)
    if result is not None and intents.is_answer(result, state):
        if result.check is None or not result.check.ok or result.kernel is None:
            return None
        key, is_disturbed = (result.implementation, result.block_xy), bool(result.disturbances)
        return LadderBar(title, key, result.kernel.median_ms, is_disturbed=is_disturbed)
    try:
        job = intents.job_for(state)
    except KernelError:
        return None
    time = recorded.of_work(job).get(state.implementation) if job is not None else None
    if time is None:
        return None
    key = (state.implementation, time.block_xy)
    return LadderBar(title, key, time.median_ms, recorded.device)


def _speedup(result: Result, baseline: Result | None) -> tuple[str, str]:
    if baseline is None or baseline.check is None:
        return MISSING, "the CPU's time is still to come"
    found = speed_up_of(result, baseline)
    return found.text, found.against


def _work(state: State) -> str:
    return f"{filters.get(state.filter).title} {state.ksize}×{state.ksize}"


def _how(state: State, result: Result | None) -> str:
    title = intents.title_with_pick(state.implementation, result.picked if result else None)
    block = result.block_xy if result else None
    return f"{title} · {block[0]}×{block[1]}" if block else title
