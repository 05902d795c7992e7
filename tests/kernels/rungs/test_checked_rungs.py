"""Every rung with each access checked, and faults that a right answer may hide."""

import pytest

from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.findings import Finding
from kernels.cuda_on_cpu.trial import finding_bug
from kernels.rungs.rung import Rung, ladder
from tests.kernels.cases import pairwise_cases
from tests.kernels.rungs.faults import FAULTS, HIDDEN_FAULTS, plant
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not())),
]
DEADLINE_S = 60.0


def quick_jobs(rung: Rung) -> list[Job]:
    """A job of every border, pixel type and number of channels that pairwise cases show."""
    seen: set[object] = set()
    chosen = []
    for case in sorted(pairwise_cases(), key=lambda case: case.ksize):
        job = case.job(rung.key)
        levels = {case.border, case.pixel_type, case.channels, case.block_xy}
        if case.ksize > 1 and job.picture.size > 900 and not rung.why_not(job, H200):
            chosen += [job] if levels - seen else []
            seen |= levels
    return chosen


def bug_of(rung: Rung, job: Job) -> Finding | None:
    *_, found = finding_bug(rung, job, deadline_s=DEADLINE_S)
    assert found is None or isinstance(found, Finding)
    return found


@pytest.mark.parametrize("key", RUNGS)
def test_a_rung_breaks_no_rule(key):
    jobs = quick_jobs(RUNGS[key])[:4]
    assert jobs
    assert [bug_of(RUNGS[key], job) for job in jobs] == [None] * len(jobs)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("reads below the last row", "bounds"),
        ("writes behind the tile", "bounds"),
        ("the second batch is not guarded", "bounds"),
        ("threads without a row go on", "bounds"),
        ("no barrier", "race"),
        ("all threads write one sample", "race"),
    ],
)
def test_a_hidden_fault_is_found(fault, kind):
    planted = (FAULTS | HIDDEN_FAULTS)[fault]
    rung = plant(planted, RUNGS[planted.rung])
    kinds = {found.kind for job in quick_jobs(rung) if (found := bug_of(rung, job))}
    assert kind in kinds
