"""A list of steps as device code has it: see steps.cuh."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.errors import CannotRunError
from kernels.core.job import Job
from kernels.core.nonlinear import ORDER, Morphology, Rank
from kernels.core.step import OUTPUT, Blend, Correlation, Filter, Length
from kernels.core.verdict import Tolerance
from kernels.core.weights import separate

RANKS = {0.0: "LEAST", 100.0: "GREATEST"}


@dataclass(frozen=True, slots=True)
class ListStep:
    """One filter of a list: a StepOf of steps.cuh, in words.

    filter   an enumerator of its Filter
    size     of its window
    weights  all of them, or the column and then the row
    """

    filter: str
    size: int
    weights: tuple[float, ...] = ()
    offset: float = 0.0
    blend: Blend = OUTPUT
    is_whole: bool = True  # or the first of two that are one step

    @property
    def is_separable(self) -> bool:
        """True where its weights are a column and a row."""
        return self.filter == "SUM" and len(self.weights) == 2 * self.size

    @property
    def rows(self) -> int:
        """Rows of samples that a ring keeps of it; two of a median's are up to twice as wide."""
        radius = self.size // 2
        sums = 4 if self.filter in ("LENGTH", "MEDIAN") else 2 * radius
        return sums + radius * (self.blend != OUTPUT)


def steps_of(job: Job) -> tuple[ListStep, ...]:
    """The filters of `job`; an opening is two.  Raises CannotRunError for what none of them is."""
    if job.opaque is not None:
        raise CannotRunError("Colours weighted by alpha are no work for a launch of a whole list.")
    if job.region is not None:
        raise CannotRunError("A part of a picture is no work for a launch of a whole list.")
    found: list[ListStep] = []
    for run in job.runs:
        *before, last = (each for step in run.steps for each in _filters(step.filter, job))
        before = [each for each in before if each.weights != (1.0,)]  # which change nothing
        if before and (run.blend.mix, run.blend.threshold) != OUTPUT[:2]:
            raise CannotRunError(
                "A gradient, an opening or a closing that is mixed with its input, or has a "
                "threshold, is no work for a launch of a whole list."
            )
        found += [
            *(replace(each, is_whole=False) for each in before),
            replace(last, blend=run.blend),
        ]
    return tuple(found)


def _filters(chosen: Filter, job: Job) -> tuple[ListStep, ...]:
    match chosen:
        case Correlation():
            return (_sum(chosen),)
        case Length():
            return (ListStep("LENGTH", 3),)
        case Rank(percentile=50.0, ksize=3, is_disk=False) if job.border != "crop":
            return (ListStep("MEDIAN", 3),)
        case Rank(percentile=rank, is_disk=False) if rank in RANKS and job.border != "crop":
            return (ListStep(RANKS[rank], chosen.ksize),)
        case Morphology(kind=kind, is_disk=False) if kind in ORDER and job.border != "crop":
            return tuple(ListStep(RANKS[each], chosen.ksize) for each in ORDER[kind])
    raise CannotRunError(
        "A whole list in one launch takes weighted sums, gradients, medians of size 3, and minima, "
        "maxima, openings and closings of squares; with crop weighted sums and gradients alone."
    )


def _sum(chosen: Correlation) -> ListStep:
    pair = separate(chosen.weights)
    weights = np.concatenate(pair) if pair is not None and chosen.ksize > 1 else chosen.weights
    return ListStep("SUM", chosen.ksize, tuple(map(float, weights.ravel())), chosen.offset)


def list_operands(job: Job) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """WEIGHTS of all steps, AMOUNTS of each, and the knobs that say what each step is."""
    steps, first, texts, amounts = steps_of(job), 0, [], []
    for each in steps:
        mix, threshold, _, is_grey, _ = each.blend
        amounts.append((each.offset, threshold, mix))
        has = each.is_separable, each.offset != 0, each.is_whole, is_grey, threshold > 0, mix != 1
        texts.append(f"{{{each.filter}, {each.size}, {first}, {', '.join(map(_word, has))}}}")
        first += len(each.weights)
    weights = [weight for each in steps for weight in each.weights] or [0.0]
    rows = sum(each.rows for each in steps)
    knobs = {"LIST": ", ".join(texts), "LIST_WEIGHTS": len(weights), "LIST_ROWS": rows}
    both = {"WEIGHTS": weights, "AMOUNTS": amounts}
    constants = {name: np.array(values, np.float32) for name, values in both.items()}
    # The first step's offset is among the others.
    knobs |= {"HAS_OFFSET": 0, "OFFSET": "float(0.0f)", "ROUNDS_BETWEEN": int(job.is_rounded)}
    return constants, knobs


def tolerances(job: Job) -> tuple[Tolerance, ...]:
    """The errors that a launch of a whole list may make in each run: one rounding a tap."""
    return tuple(Tolerance(run.steps[0].filter.taps) for run in job.runs)


def _word(value: bool) -> str:
    return "true" if value else "false"
