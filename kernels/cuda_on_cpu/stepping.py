"""Step through one block of a rung: run it once on a small picture, and write down all it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Job, Progress
from kernels.cuda_on_cpu.block_steps import BlockSteps
from kernels.cuda_on_cpu.building import BuildError
from kernels.cuda_on_cpu.children import borrowed_child
from kernels.cuda_on_cpu.compile_errors import first_error
from kernels.cuda_on_cpu.compiler import why_not
from kernels.cuda_on_cpu.cpu_device import DEVICE
from kernels.cuda_on_cpu.cpu_runs import built, run_stepped
from kernels.cuda_on_cpu.regions import Region, cropped, region_of, small_size
from kernels.cuda_on_cpu.run_words import ended_in_words
from kernels.cuda_on_cpu.shared_run import StepAt
from kernels.cuda_on_cpu.shim import TriedShim
from kernels.cuda_on_cpu.step_points import told
from kernels.cuda_on_cpu.step_trace import MAX_STEPS
from kernels.cuda_on_cpu.stepped import SteppedShim
from kernels.rungs.rung import Rung

DEADLINE_S = 20.0  # of the CPU's time: each step takes a hundred times as long
TOO_LONG = (
    f"The block takes more than {MAX_STEPS:,} steps, which is all there is room for: "
    "choose a smaller kernel size, or a block of fewer threads."
)
NO_STEPS = "No thread of this block comes to a statement that can be shown."
NOT_FOLLOWED = "This text cannot be stepped through, though it compiles: {sentence}"


@dataclass(frozen=True, slots=True, eq=False)
class Stepped:
    """The steps of a block, or why there are none.

    region   of the job's picture, that it was run on; `job` is the job on that part
    pixel    (x, y) in that part, whose samples the block stores
    steps    None: the sentence `problem` says why not
    problem  with steps: what ended the run, after the last of them
    answer   (H, W, C) of the whole run, where it came to its end
    """

    job: Job
    region: Region
    pixel: tuple[int, int]
    steps: BlockSteps | None = None
    problem: str = ""
    line: int | None = None
    answer: NDArray[Any] | None = None


def stepping(
    rung: Rung,
    job: Job,
    *,
    at: tuple[int, int] | None = None,
    number: int | None = None,
    deadline_s: float = DEADLINE_S,
) -> Iterator[Progress | Stepped]:
    """Write down the steps of the block that stores a pixel; the last that is yielded is those.

    Whoever stops driving this ends the compiler and the run.

    at      (x, y) of the pixel; None: the one in the middle
    number  of the pass; None: the last one
    """
    region = region_of(job, small_size(job), at)
    part = cropped(job, region)
    x, y = at or (job.width // 2, job.height // 2)
    pixel = min(x, job.width - 1) - region.left, min(y, job.height - 1) - region.top
    own = [place for place, each in enumerate(rung.passes) if not each.library]
    number = own[-1] if number is None or number not in own else number
    if reason := why_not() or rung.why_not(part, DEVICE):
        yield Stepped(part, region, pixel, problem=reason)
        return
    library = yield from built(SteppedShim, rung, part)
    if isinstance(library, BuildError):
        sentence, line = first_error(str(library), rung)
        plain = yield from built(TriedShim, rung, part)
        if not isinstance(plain, BuildError):
            sentence, line = NOT_FOLLOWED.format(sentence=sentence), None
        yield Stepped(part, region, pixel, problem=sentence, line=line)
        return
    where = StepAt(number, pixel[1], pixel[0] * job.channels)
    with borrowed_child() as child:
        ended = yield from run_stepped(child, rung, part, library, deadline_s, where)
        if ended.answer is None and ended.trace is not None and not len(ended.trace.steps):
            where = replace(where, is_sought=False)  # it came to no block that stores there
            ended = yield from run_stepped(child, rung, part, library, deadline_s, where)
    sentence, line = ended_in_words(rung, ended)
    trace = ended.trace
    assert trace is not None
    if trace.is_cut or not len(trace.steps):
        problem = TOO_LONG if trace.is_cut else sentence or NO_STEPS
        yield Stepped(part, region, pixel, problem=problem, line=line)
        return
    yield Progress("putting the steps in order")
    steps = BlockSteps(rung, part, number, trace, told(rung))
    yield Stepped(part, region, pixel, steps, sentence, line, ended.answer)
