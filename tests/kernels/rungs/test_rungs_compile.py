"""Every rung compiles for every card that it is for, and keeps its values in registers."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kernels.core.cache import blank
from kernels.core.job import Job
from kernels.core.nonlinear import Rank
from kernels.core.step import LENGTH, Correlation, Step
from kernels.cuda.nvrtc import compiler_for
from kernels.cuda_on_cpu.device_code import functions_of
from kernels.rungs.headers import Facts
from kernels.rungs.rung import ladder, list_ladder
from tests.kernels.cases import Case
from tests.kernels.rungs import compiled
from tests.kernels.runners import in_a_block_it_takes
from tests.made_up import H200

ARCHITECTURES = (61, 75, 80, 86, 89, 90, 120)
REGISTERS_A_BLOCK = 65_536  # on all of them
# Small and unrolled, large, and the largest there is.
CASES = (
    Case("clamp", "float32", 1, (1, 1), 3, (32, 32)),
    Case("mirror", "uint8", 3, (1, 1), 5, (32, 8)),
    Case("reflect", "uint16", 4, (1, 1), 15, (7, 5)),
    Case("clamp", "uint8", 4, (1, 1), 15, (32, 8)),
    Case("zero", "uint8", 2, (1, 1), 31, (32, 32)),
    Case("zero", "float16", 1, (1, 1), 9, (32, 8)),
    Case("wrap", "float32", 1, (1, 1), 127, (16, 16)),
)
SUM = Step(Correlation(np.arange(1, 10, dtype=np.float32).reshape(3, 3) ** 2))
GREY_LENGTH = Step(Correlation(np.full((1, 1), 2, np.float32))), replace(LENGTH, is_grey=True)
MEDIAN, MIXED = Step(Rank(3)), replace(SUM, mix=0.5, threshold=1.0)
# Lists with as much as rings keep, with alpha and without, and a short one.
LISTS = (
    (GREY_LENGTH * 3, "float32", 1),
    ((SUM,) * 8, "uint8", 4),
    ((SUM,) * 8, "float32", 1),
    ((MIXED,) * 5, "float32", 4),
    ((MIXED,) * 7, "uint8", 3),
    ((MEDIAN,) * 5, "float32", 3),
    ((MEDIAN,) * 4, "uint8", 4),
    ((SUM, LENGTH, MEDIAN), "uint16", 3),
)
LARGE = 8192, 8192
# What may spill, in bytes over all functions of a rung, at most and why; nothing else may.  Launch
# bounds of the medians leave fewer registers than these want, for more warps; others have room for
# four times 64 registers, and their compilers stay there by themselves.
SPILLS = {
    "median_columns": 16,  # on 12.0 alone, at 72 registers of 255
    "median_pairs": 888,  # at the 168 of its bounds on 6.1, of large mirrored RGB; else 156, on 7.5
    "median_tiles": 1016,  # at the 64, 80 or 128 of its bounds; on 9.0 it is 96, of float32
    "median_halves": 88,  # at the 80 of its bounds, on 6.1 alone, of size 7
    "rank_tile": 100,  # on 6.1 and 7.5 alone, whose blocks have no room for its shared memory
    "extreme_ring": 52,  # on 7.5 alone, of size 127; of size 7 it is 24
    "extreme_copies": 8,  # on 9.0 alone, of bytes with alpha
    "morphology_ring": 252,  # of bytes at K = 31, where 60 rows are kept, but on 9.0 and 12.0
    "morphology_rings": 48,  # on 7.5 alone, of size 7: both launches are as extreme_ring
    "list_ring": 68,  # of five medians in colour on 12.0 alone; of two 7×7 on 8.x and 12.0 it is 30
}


def compilations() -> Iterator[Any]:
    """Each rung for all cases that it takes on one architecture, for one of them, by turns, on each
    other; the rest is for `-m full`."""
    lists = [Job(np.zeros((1, 1, channels), of), steps) for steps, of, channels in LISTS]
    for rung in (*ladder(), *list_ladder()):
        alone = (case.job(rung.key) for case in CASES)
        taken = lists if rung.filter == "list" else [in_a_block_it_takes(each) for each in alone]
        if rung.weights == "median":  # of large pictures they have another text
            taken += [
                each.but(picture=blank((*LARGE, each.channels), each.pixel_type)) for each in taken
            ]
        for number, architecture in enumerate(ARCHITECTURES):
            card = replace(H200, compute_capability=divmod(architecture, 10))
            jobs = [job for job in taken if not rung.why_not(job, card)]
            for place, job in enumerate(jobs):
                is_usual = architecture == 90 or place == number % len(jobs)
                yield pytest.param(
                    *(rung, job, architecture),
                    marks=() if is_usual else pytest.mark.full,
                    id=f"{rung.key}-{job.pixel_type}-{job.channels}ch-k{job.ksize}-{architecture}"
                    + f"-{place}" * (rung.filter == "list"),
                )


@pytest.mark.parametrize(("rung", "job", "architecture"), list(compilations()))
def test_a_rung_compiles_without_spills(rung, job, architecture):
    if compiler_for(architecture) is None:
        pytest.skip(f"no NVRTC that compiles for sm_{architecture} is installed")
    found = compiled.compile_rung(rung, job, architecture).resources
    assert {each.function for each in found} == set(functions_of(rung))
    assert sum(each.spill_bytes for each in found) <= SPILLS.get(rung.key, 0)
    registers = max(each.registers for each in found)
    facts = Facts(job)
    threads = max(facts.value(x) * facts.value(y) for x, y in (each.block for each in rung.passes))
    assert registers * threads <= REGISTERS_A_BLOCK


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_what_was_kept_of_a_compiler_is_what_it_says(architecture):
    if compiler_for(architecture) is None:
        pytest.skip(f"no NVRTC that compiles for sm_{architecture} is installed")
    rung = ladder()[0]
    made = compiled.compile_anew(rung, CASES[0].job(rung.key), architecture).resources
    assert compiled.compile_rung(rung, CASES[0].job(rung.key), architecture).resources == made


def test_a_changed_rung_another_job_and_another_card_are_compiled():
    rung, job = ladder()[0], CASES[0].job("global")
    digests = [
        compiled.digest(rung, job, 90),
        compiled.digest(rung, job, 80),
        compiled.digest(rung, CASES[1].job("global"), 90),
        compiled.digest(replace(rung, source=f"{rung.source}\n"), job, 90),
    ]
    assert len({*digests}) == len(digests)
