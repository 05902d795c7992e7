"""The steps of one block of a kernel's text, recorded to be walked through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernels.core.job import Progress
from kernels.cuda_on_cpu.stepping import Stepped, stepping
from kernels.rungs.rung import Rung
from workbench.imaging.display import Display, show, to_display
from workbench.session.kernel_trial import Ended, KernelText, Refused, Step, rung_of


@dataclass(frozen=True, slots=True)
class Followed:
    """The steps of a block, or why there are none, with the pictures that it ran on and made."""

    rung: Rung
    stepped: Stepped
    before: Display | None = None
    after: Display | None = None


def following(asked: KernelText, number: int | None) -> Iterator[Step | Followed]:
    """Yield the steps of the block that stores the pixel looked at.

    number  of the pass; None: the last
    """
    rung = rung_of(asked)
    if isinstance(rung, Refused):
        yield rung
    else:
        for step in stepping(rung, asked.job, at=asked.at, number=number):
            yield step if isinstance(step, Progress) else _shown(rung, step, asked)
    yield Ended()


def _shown(rung: Rung, stepped: Stepped, asked: KernelText) -> Followed:
    before = to_display(np.ascontiguousarray(stepped.job.picture), asked.levels)
    if stepped.answer is None:
        return Followed(rung, stepped, before)
    return Followed(rung, stepped, before, show(stepped.answer, asked.look))
