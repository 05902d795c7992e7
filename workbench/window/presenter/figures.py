"""The few figures that a room is shown, in words; a speed only beside a passed check."""

from __future__ import annotations

from dataclasses import dataclass

from kernels import filters
from kernels.core.job import Result
from workbench.base import numbers
from workbench.base.numbers import MISSING
from workbench.model import intents
from workbench.model.speed_up import single_in_words, speed_up_of
from workbench.model.state import State


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one result, in words.

    verdict   one line: whether the answer is right
    is_right  None: not known yet
    work      filter and size
    how       implementation and block shape
    speedup   how many times as fast as the CPU, or slower: the note says which, or why none
    """

    time: str = MISSING
    time_note: str = "kernel time"
    speedup: str = MISSING
    speedup_note: str = ""
    verdict: str = ""
    is_right: bool | None = None
    work: str = ""
    how: str = ""

    @property
    def in_words(self) -> str:
        """Return all figures in words, for screen readers."""
        parts = (
            f"{self.time_note} {self.time}",
            f"{self.speedup} {self.speedup_note}" if self.speedup_note else "",
            *(self.verdict, self.work, self.how),
        )
        return ", ".join(part for part in parts if part)


def figures_of(
    state: State, result: Result | None, baseline: Result | None, *, is_refused: bool = False
) -> Figures:
    """Return the figures of `result` if it answers `state`; else only what is asked for.

    baseline    the CPU's result of the same work; None while it is not known
    is_refused  whether what is asked for cannot be run, so that no result will come
    """
    work = f"{_filter(state)} {state.ksize}×{state.ksize}"
    if result is None or not intents.is_answer(result, state):
        how = _how(state, None)
        if is_refused:
            return Figures(work=work, how=how, verdict="✗ this cannot be run", is_right=False)
        return Figures(work=work, how=how, verdict="working …")
    how, check = _how(state, result), result.check
    time = numbers.duration(result.kernel.median_ms)
    if check is not None and not check.ok:
        verdict = "✗ the answer is wrong" if check.wrong else "✗ the answer cannot be checked"
        return Figures(verdict=verdict, is_right=False, work=work, how=how)
    note = f"kernel time, L2 {result.kernel.cache}" if result.kernel.cache else "time on the CPU"
    note += f", {single_in_words(result)}" if result.kernel.is_single else ""
    speedup, against = _speedup(result, baseline)
    verdict = "checking …" if check is None else "✓ verified"
    is_right = None if check is None else True
    return Figures(time, note, speedup, against, verdict, is_right, work, how)


def _speedup(result: Result, baseline: Result | None) -> tuple[str, str]:
    if baseline is None or baseline.check is None:
        return MISSING, "the CPU's time is still to come"
    if baseline.job.implementation == result.implementation:
        return MISSING, "others are compared with this"
    found = speed_up_of(result, baseline)
    return found.times, found.against or found.detail


def _filter(state: State) -> str:
    return filters.get(state.filter).title


def _how(state: State, result: Result | None) -> str:
    title = intents.title_with_pick(state.implementation, result.picked if result else None)
    block = result.block_xy if result else None
    return f"{title} · {block[0]}×{block[1]}" if block else title
