"""What a list costs in each way to run it as a whole: bytes moved, and operations done twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kernels.core.cache import blank
from kernels.core.job import Job
from kernels.core.step import OUTPUT
from kernels.cuda.listed_run import is_wide, rows_in_l2, why_no_strips
from kernels.engine.list_ways import GRAPH, LIST_RUNGS, STRIPS
from kernels.rungs.headers import Facts
from kernels.rungs.rung import ladder, work_of

PLAIN = ("global", "separable", "gradient_fused")  # whose operations a step is counted with


@dataclass(frozen=True, slots=True)
class WayWork:
    """The work of a list in one way; a model, as the rungs' headers have it.

    area           pixels across and down of the output that are made together
    read_bytes     of memory, with those that are asked for more than once
    written_bytes  to memory
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
    flops = [_flops(job, number, limits) for number in range(len(job.runs))]
    read, written = _bytes_between(job)
    size = job.width, job.height
    only = why_no_strips(job, ()) if job.is_one_launch else ""
    found: dict[str, WayWork | str] = {
        GRAPH: WayWork(size, read, written, 0, sum(flops), 0.0),
        STRIPS: why_no_strips(job, ()),
        **{key: only or rung.why_never(job) or "" for key, rung in LIST_RUNGS.items()},
    }
    own, between = job.picture.nbytes, read + written - 2 * job.picture.nbytes
    for way in (way for way, each in found.items() if not each):
        across, loaded, down = _area(way, job, limits)
        rows = [min(down + 2 * halo, job.height) / down for halo in job.halos]
        # Of tiles each step makes less than that before it; a warp has all of its lanes make.
        wide = [(loaded - 2 * (job.halos[0] - halo) * job.channels) / across for halo in job.halos]
        wide = wide if way == "list_tiles" else [loaded / across] * len(rows)
        made = [x * y for x, y in zip(wide, rows, strict=True)]
        counts = flops if any(flops) else [1] * len(flops)
        done = sum(n * more for n, more in zip(counts, made[1:], strict=True)) / sum(counts)
        samples = work_of(job, LIST_RUNGS[way], 1).picture_loads if way in LIST_RUNGS else None
        read = samples * job.picture.itemsize if samples else round(own * made[0])
        cached = round(between * done) if way == STRIPS else 0
        area = across // job.channels, down
        found[way] = WayWork(area, read, own, cached, round(sum(flops) * done), done - 1)
    return found


def _flops(job: Job, number: int, limits: Mapping[str, int]) -> int:
    """Operations of one of the runs: those of the rung of PLAIN that takes the fewest."""
    part = replace(job.part(job.runs[number], blank(job.picture.shape, "float32")), devices=1)
    rungs = [each for each in ladder() if each.key in PLAIN and not each.why_never(part)]
    return min((work_of(part, e, limits["multiprocessors"]).flops or 0 for e in rungs), default=0)


def _bytes_between(job: Job) -> tuple[int, int]:
    """Bytes read and written where each step is a launch: as `listed_run` has them."""
    own = job.picture.nbytes
    is_widened = is_wide(job) and not job.is_one_launch
    each = 4 * job.picture.size if is_widened else own
    blends = sum(run.blend != OUTPUT for run in job.runs)
    ends = (own + each) * is_widened  # widened before, narrowed after
    return (len(job.runs) + 2 * blends) * each + ends, (len(job.runs) + blends) * each + ends


def _area(way: str, job: Job, limits: Mapping[str, int]) -> tuple[int, int, int]:
    """Samples of a row that are made together and that are read for these, and rows of them."""
    facts, row = Facts(job), job.width * job.channels
    facts["MULTIPROCESSORS"] = limits["multiprocessors"]
    if way == STRIPS:
        return row, row, min(rows_in_l2(job, limits["l2_bytes"]), job.height)
    if way == "list_tiles" or facts.value("IS_ALL_EDGE"):
        across, down = map(facts.value, LIST_RUNGS["list_tiles"].passes[0].covers)
        return across, across + 2 * job.reach * job.channels, down
    across, lanes = facts.value("RING_MADE"), facts.value("4 * 32 * RING_SAMPLES")
    return across, lanes, facts.value("parts(HEIGHT, RING_DOWN)")
