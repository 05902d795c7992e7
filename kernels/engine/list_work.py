"""What a list costs in each way to run it as a whole: bytes moved, and operations done twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernels.core.cache import blank
from kernels.core.job import Job
from kernels.core.step import OUTPUT, StepRun
from kernels.cuda.listed_run import rows_in_l2, why_no_strips
from kernels.engine.list_ways import GRAPH, LIST_RUNGS, STRIPS
from kernels.rungs.headers import Expression, Facts
from kernels.rungs.rung import ladder, work_of

PLAIN = ("global", "separable", "gradient_fused")  # whose operations a step is counted with
RING = Expression("RING_MADE // 4"), Expression("parts(HEIGHT, RING_DOWN)")  # of a warp


@dataclass(frozen=True, slots=True)
class WayWork:
    """The work of a list in one way; a model, as the rungs' headers have it.

    area           pixels across and down of the output that are made together
    read_bytes     of memory, with those that are asked for more than once
    cached_bytes   read and written between the steps, in the L2 cache
    flops          additions and multiplications; comparisons are none
    again          how many of them are done anew: 0.2 is a fifth more than needed
    """

    area: tuple[int, int]
    read_bytes: int
    written_bytes: int
    cached_bytes: int
    flops: int
    again: float

    def memory_ms(self, ceilings: Mapping[str, float]) -> float:
        """The least time for its bytes; those in the L2 cache move beside those of memory."""
        moved = (self.read_bytes + self.written_bytes) / ceilings["copy_gb_s"]
        return 1e-6 * max(moved, self.cached_bytes / ceilings["l2_read_gb_s"])

    def compute_ms(self, ceilings: Mapping[str, float]) -> float:
        """The least time for its operations."""
        return 1e-9 * self.flops / ceilings["fma_tflop_s"]


def list_work(job: Job, limits: Mapping[str, int]) -> dict[str, WayWork | str]:
    """The work of `job` in each of `list_ways.WAYS`, or the reason why it cannot run so.

    limits  of a GPU by their names in Device
    The picture's samples play no part.
    """
    flops = [_flops(job, run, limits) for run in job.runs]
    own, count, size = job.picture.nbytes, len(job.runs), (job.width, job.height)
    is_widened = job.is_wide and not job.is_one_launch  # launches as `listed_run` has them
    each = 4 * job.picture.size if is_widened else own
    blends = sum(run.blend != OUTPUT for run in job.runs)
    ends = (own + each) * is_widened  # widened before, narrowed after
    once = job.wide_from * own + (count - job.wide_from) * each  # by all steps
    read, written = once + 2 * blends * each + ends, once + blends * each + ends
    graph = WayWork(size, read, written, 0, sum(flops), 0.0)
    found: dict[str, WayWork | str] = {GRAPH: graph, STRIPS: why_no_strips(job, ())}
    for key, rung in LIST_RUNGS.items():
        found[key] = (job.is_one_launch and found[STRIPS]) or rung.why_never(job) or ""
    for way in (way for way, known in found.items() if not known):
        area = across, down = _area(way, job, limits)
        wider = [(min(across + 2 * h, size[0]), min(down + 2 * h, size[1])) for h in job.halos]
        more = [x * y / (across * down) for x, y in wider]
        counts = flops if any(flops) else [1] * len(flops)
        again = sum(n * x for n, x in zip(counts, more[1:], strict=True)) / sum(counts) - 1
        said = work_of(job, LIST_RUNGS[way], 1).loaded_bytes if way in LIST_RUNGS else None
        loaded = said or round(own * more[0])  # what lies beyond the picture is said as well
        cached = round((read + written - 2 * own) * (1 + again)) if way == STRIPS else 0
        found[way] = WayWork(area, loaded, own, cached, round(sum(flops) * (1 + again)), again)
    return found


def _flops(job: Job, run: StepRun, limits: Mapping[str, int]) -> int:
    """Operations of a run: those of the rung of PLAIN that takes the fewest."""
    part = replace(job.part(run, blank(job.picture.shape, "float32")), devices=1)
    rungs = [each for each in ladder() if each.key in PLAIN and not each.why_never(part)]
    return min((work_of(part, e, limits["multiprocessors"]).flops or 0 for e in rungs), default=0)


def _area(way: str, job: Job, limits: Mapping[str, int]) -> tuple[int, int]:
    """Pixels across and down of the output that are made together."""
    if way == STRIPS:
        return job.width, min(rows_in_l2(job, limits["l2_bytes"]), job.height)
    facts, only = Facts(job), LIST_RUNGS[way].passes[0]
    facts["MULTIPROCESSORS"] = limits["multiprocessors"]
    covers = RING if only.grid else only.covers  # of rings, whose edges are left to tiles
    across, down = map(facts.value, covers)
    return min(across // job.channels, job.width), min(down, job.height)
