"""The jobs of a check find what kernels are wrong about, and the first wrong sample is said."""

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.job import PIXEL_TYPES
from kernels.core.verdict import Tolerance
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.headers import pitch_of
from kernels.rungs.rung import ladder
from workbench.batch.check_jobs import check_jobs, fitted
from workbench.batch.kernel_checks import first_wrong

JOBS = check_jobs(0)
NOISE = [each for each in JOBS if np.ptp(each.job.picture)]
ALL = pytest.mark.parametrize("each", NOISE, ids=lambda each: each.name)


def answer_of(job):
    return to_pixel_type(filtered(job), job.picture.dtype)


def test_they_have_every_border_every_type_and_a_picture_smaller_than_the_weights():
    jobs = [each.job for each in JOBS]
    assert {job.border for job in jobs} == set(BORDERS)
    assert {job.pixel_type for job in jobs} == set(PIXEL_TYPES)
    assert {job.channels for job in jobs} == {1, 3, 4}
    assert any(job.correlation.offset for job in jobs)
    assert {job.ksize for job in jobs} == {3, 5, 7, 15, JOBS[-1].job.ksize}
    assert max(job.width for job in jobs) > 1024 < max(job.height for job in jobs)
    assert any((job.correlation.weights == 0).any() for job in jobs)
    assert any(max(job.width, job.height) < job.ksize for job in jobs)
    assert any(job.width < job.radius for job in jobs if job.border == "wrap")
    assert any(np.isnan(job.picture).any() and np.isinf(job.picture).any() for job in jobs)


def test_samples_weights_sizes_and_a_type_are_drawn_by_the_seed():
    again, other = check_jobs(0), check_jobs(1)
    pairs = list(zip(JOBS, other, strict=True))
    assert [each.name for each in JOBS] == [each.name for each in again]
    drawn = [(one, two) for one, two in pairs if "drawn" in one.name]
    assert len(drawn) == 6
    assert len({check_jobs(seed)[-1].job.ksize for seed in range(9)}) > 1
    assert sum(one.name != two.name for one, two in drawn) >= 5
    types = {each.job.pixel_type for s in range(20) for each in check_jobs(s) if each.job.has_alpha}
    assert types == set(PIXEL_TYPES)
    for one, two in pairs:
        same = np.array_equal(one.job.picture, two.job.picture)
        assert same == (not np.ptp(one.job.picture))  # the black one and the white one
        same = np.array_equal(one.job.correlation.weights, two.job.correlation.weights)
        assert same == (not np.ptp(one.job.correlation.weights))


def unwritten(job, wrong):
    """The right output where a kernel that leaves samples alone writes, else what was before."""
    return np.where(wrong, 77, answer_of(job)).astype(job.picture.dtype)


def blocks_across(job, count):
    columns = np.arange(job.width * job.channels).reshape(1, job.width, job.channels)
    return unwritten(job, columns // job.block_xy[0] >= count)


def rounded(job):
    weights = np.rint(job.correlation.weights * 1024) / np.float32(1024)
    return answer_of(job.but(weights=weights))


def short_index(job):
    pitch = pitch_of(job.width, job.channels, job.picture.itemsize)
    at = np.arange(job.height)[:, None] * pitch + np.arange(job.width * job.channels)
    return unwritten(job, (at > 32767).reshape(job.picture.shape))


def turned(job):
    return job.but(weights=job.correlation.weights.T)


def away_from_the_edge(job, **others):
    """The output where pixels that need no border are done otherwise."""
    found, r = answer_of(job), job.radius
    inner = slice(r, job.height - r), slice(r, job.width - r)
    found[inner] = answer_of(job.but(**others))[inner]
    return found


@pytest.mark.parametrize(
    "answer",
    [
        lambda job: away_from_the_edge(job, offset=0.0),
        lambda job: answer_of(turned(job) if job.has_alpha else job),
        lambda job: unwritten(job, np.full(job.picture.shape, job.ksize > 11)),
        lambda job: np.nan_to_num(answer_of(job)),
        lambda job: unwritten(job, answer_of(job) == 0),
        lambda job: blocks_across(job, 9),
        lambda job: blocks_across(job, 16),
        lambda job: blocks_across(job, 40),
        lambda job: unwritten(job, np.full(job.picture.shape, job.width != JOBS[0].job.width)),
        short_index,
        rounded,
    ],
    ids=[
        "offset",
        "alpha",
        "large weights",
        "NaN",
        "zero never stored",
        "nine blocks",
        "sixteen blocks",
        "forty blocks",
        "width",
        "short index",
        "rounded",
    ],
)
def test_a_kernel_with_a_built_in_limit_is_wrong_in_some_job(answer):
    tensor = next(each for each in ladder() if each.error_factor > 1000)
    found = [first_wrong(each.job, answer(each.job), tensor.tolerance(each.job)) for each in JOBS]
    assert any(found)


@ALL
def test_a_right_answer_has_no_wrong_sample_and_a_mistake_has(each):
    job = each.job
    assert first_wrong(job, answer_of(job), Tolerance(job.ksize**2)) == ""
    mistakes = {
        "another border": job.but(border="clamp" if job.border != "clamp" else "zero"),
        "turned": job.but(weights=np.ascontiguousarray(job.correlation.weights[::-1, ::-1])),
        "transposed": job.but(weights=np.ascontiguousarray(job.correlation.weights.T)),
    }
    for what, other in mistakes.items():
        found = first_wrong(job, answer_of(other), Tolerance(job.ksize**2))
        is_uniform = np.ptp(job.correlation.weights) == 0
        assert bool(found) == (what == "another border" or not is_uniform), what


def test_the_first_wrong_sample_is_named_with_what_it_should_be():
    job = JOBS[0].job
    answer = answer_of(job)
    for y, x in ((4, 9), (4, 11), (5, 0)):
        answer[y, x, 2] ^= 64
    right = int(answer[4, 9, 2]) ^ 64
    assert first_wrong(job, answer, Tolerance(9)) == (
        f"x 9, y 4, blue is {answer[4, 9, 2]} and should be {right}; "
        f"3 of {answer.size} samples are wrong."
    )
    job = JOBS[2].job
    answer = answer_of(job)
    answer[0, 1] = np.nan
    assert first_wrong(job, answer, Tolerance(9)).startswith("x 1, y 0 is NaN and should be ")


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_every_rung_can_be_verified_with_some_of_them(rung):
    jobs = [fitted(each, rung) for each in JOBS]
    assert any(rung.why_not_anywhere(job) is None for job in jobs)
