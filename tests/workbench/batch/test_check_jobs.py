"""The jobs of a check find what kernels are wrong about, and the first wrong sample is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.verdict import Tolerance
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.rung import ladder
from workbench.batch.check_jobs import check_jobs, fitted
from workbench.batch.first_wrong import first_wrong

ALL = pytest.mark.parametrize("each", check_jobs(), ids=lambda each: each.name)


def answer_of(job):
    return to_pixel_type(filtered(job), job.picture.dtype)


def test_they_have_every_border_every_type_and_a_picture_smaller_than_the_weights():
    jobs = [each.job for each in check_jobs()]
    assert {job.border for job in jobs} == set(BORDERS)
    kinds = {("uint8", 3), ("uint8", 4), ("float32", 1), ("uint16", 3), ("float16", 1)}
    assert {(job.pixel_type, job.channels) for job in jobs} == kinds
    assert any(job.offset for job in jobs)
    assert {job.ksize for job in jobs} == {3, 7}
    assert any(max(job.width, job.height) < job.ksize for job in jobs)


@ALL
def test_a_right_answer_has_no_wrong_sample_and_a_mistake_has(each):
    job = each.job
    assert first_wrong(job, answer_of(job), Tolerance(job.ksize**2)) == ""
    mistakes = {
        "another border": replace(job, border="clamp" if job.border != "clamp" else "zero"),
        "turned": replace(job, weights=np.ascontiguousarray(job.weights[::-1, ::-1])),
        "transposed": replace(job, weights=np.ascontiguousarray(job.weights.T)),
    }
    for what, other in mistakes.items():
        found = first_wrong(job, answer_of(other), Tolerance(job.ksize**2))
        is_uniform = np.ptp(job.weights) == 0
        assert bool(found) == (what == "another border" or not is_uniform), what


def test_the_first_wrong_sample_is_named_with_what_it_should_be():
    job = check_jobs()[0].job
    answer = answer_of(job)
    for y, x in ((4, 9), (4, 11), (5, 0)):
        answer[y, x, 2] ^= 64
    right = int(answer[4, 9, 2]) ^ 64
    assert first_wrong(job, answer, Tolerance(9)) == (
        f"x 9, y 4, channel 2 is {answer[4, 9, 2]} and should be {right}; "
        f"3 of {answer.size} samples are wrong."
    )
    job = check_jobs()[2].job
    answer = answer_of(job)
    answer[0, 1] = np.nan
    assert first_wrong(job, answer, Tolerance(9)).startswith("x 1, y 0 is nan and should be ")


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_every_rung_can_be_verified_with_some_of_them(rung):
    jobs = [fitted(each, rung) for each in check_jobs()]
    assert any(rung.why_not_anywhere(job) is None for job in jobs)
