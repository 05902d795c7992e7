"""Sentences on one step of a block: how many threads are there, and what one of them does."""

from __future__ import annotations

from collections.abc import Sequence

from kernels.cuda_on_cpu.stepping import WARP, BlockSteps, Touch

MAX_TOUCHES = 4  # that are told one by one
NOT_HERE = "is not here: it waits, went another way, or has ended."


def step_words(steps: BlockSteps, step: int) -> str:
    """Return which step it is, at which line, and with how many threads."""
    here, barriers = len(steps.threads_at(step)), steps.barriers_before(step)
    passed = "no barrier passed" if not barriers else f"{_counted(barriers, 'barrier')} passed"
    return (
        f"Step {step + 1:,} of {steps.count:,}, line {steps.point(step).line}: {here:,} of "
        f"{_counted(steps.threads, 'thread')} of block {steps.block}, {passed}."
    )


def thread_words(steps: BlockSteps, step: int, thread: int) -> str:
    """Return what a thread does at a step."""
    across = steps.block_xy[0]
    name = f"Thread {(thread % across, thread // across)}, {lane_words(thread)},"
    if thread not in steps.threads_at(step):
        return f"{name} {NOT_HERE}"
    done = touch_words(steps.touches(step, thread))
    return f"{name} {done}." if done else f"{name} touches no memory here."


def touch_words(touches: Sequence[Touch]) -> str:
    """Return loads and stores in their order; empty: there are none."""
    told = "; ".join(_touch(each) for each in touches[:MAX_TOUCHES])
    more = len(touches) - MAX_TOUCHES
    return f"{told}; and {more:,} more" if more > 0 else told


def lane_words(thread: int) -> str:
    """Return the lane and the warp that a thread is."""
    return f"lane {thread % WARP} of warp {thread // WARP}"


def number_words(value: float) -> str:
    """Return a number of memory in a few letters."""
    return f"{value:.4g}".replace("-", "−")


def _touch(each: Touch) -> str:
    if each.is_store:
        return f"stores {number_words(each.value)} to {each.array}, {each.where}"
    return f"loads {number_words(each.value)} from {each.array}, {each.where}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
