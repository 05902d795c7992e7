"""Verification beside a child: references computed once and kept, checks shared by threads."""

from concurrent.futures import CancelledError
from threading import Event

import numpy as np
import pytest

from kernels.core.job import Job, Sampling
from kernels.core.verdict import Tolerance
from kernels.cuda_child import verification as module
from kernels.cuda_child.verification import Verification, fresh, put_back, take
from kernels.oracle.checking import checking, largest_finite
from kernels.oracle.reference import filtered, to_pixel_type
from tests.kernels.cuda_child.bad_texts import BLUR, a_job, text, tried

SAMPLING, TOLERANCE = Sampling(max_samples=3), Tolerance(9)


@pytest.fixture(autouse=True)
def deadlines(long_deadlines):
    pass


@pytest.fixture(autouse=True)
def shelf():
    module.forget()
    yield
    module.forget()


def right(job):
    return to_pixel_type(filtered(job), job.picture.dtype)


def test_an_answer_compared_by_several_threads_has_the_check_of_one_that_is_compared_at_once(
    monkeypatch,
):
    monkeypatch.setattr(module, "STRIP_SAMPLES", 7 * 120)
    job = a_job()
    made = Verification(job, SAMPLING)
    answer = right(job)
    answer[3, 5] ^= 1
    answer[99, 119] ^= 0x80
    for reference in (made.whole(), ()):
        made.add(job, answer, TOLERANCE, reference)
    made.wait(60)
    *_, at_once = checking(job, answer, TOLERANCE)
    assert made.done == [at_once, at_once]
    assert (at_once.wrong, at_once.is_full, made.left) == (2, True, 0)


def tiles(reference):
    return [tile for each in reference for tile in each.result().items()]


def whole(job, reference):
    answer = np.full(job.picture.shape, np.nan)
    for (top, bottom, left, right), part in tiles(reference):
        answer[top:bottom, left:right] = part
    return answer


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_the_reference_of_a_picture_is_all_of_it(monkeypatch, rows):
    job = a_job()
    monkeypatch.setattr(module, "STRIP_SAMPLES", rows * 120)
    found = Verification(job, SAMPLING).whole()
    assert len(found) == -(-100 // rows)  # threads share it
    assert (whole(job, found) == filtered(job)).all()


def test_what_is_computed_before_is_one_picture_wholly_and_others_in_parts():
    verification = Verification(a_job(), SAMPLING)
    verification.begin()
    given = [verification.unseen() for _ in range(5)]
    pictures = [each.job.picture.tobytes() for each in given]
    assert len(set(pictures)) == 5
    assert [each.is_whole for each in given[:3]].count(True) == 1
    for each in given:
        for (top, bottom, left, right), part in tiles(each.reference):
            assert (part == filtered(each.job, (top, bottom), (left, right))).all()
        assert np.isnan(whole(each.job, each.reference)).any() != each.is_whole


def test_what_is_known_of_a_job_is_kept_for_it_alone():
    job = a_job()

    def known():
        verification = take(job, SAMPLING)
        tiles(verification.whole())
        put_back(verification)
        return verification

    verification = known()
    assert take(job, SAMPLING) is verification
    assert take(job, SAMPLING) is not verification  # it is for one trial at a time
    for other in (a_job(), Job.of(job.picture, BLUR, "mirror", block_xy=(32, 8))):
        verification = known()
        assert take(other, SAMPLING) is not verification
    verification = known()
    assert take(job, Sampling(max_samples=4)) is not verification


def test_what_is_cancelled_is_not_kept(monkeypatch):
    may_go_on = Event()

    def waiting(*arguments):
        assert may_go_on.wait(60)
        return filtered(*arguments)

    monkeypatch.setattr(module, "STRIP_SAMPLES", 120)
    monkeypatch.setattr(module, "filtered", waiting)
    verification = Verification(a_job(), SAMPLING)
    reference = verification.whole()
    put_back(verification)
    may_go_on.set()
    with pytest.raises(CancelledError):
        reference[-1].result(60)
    assert take(verification.job, SAMPLING) is not verification


def test_of_large_pictures_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    verification = Verification(a_job(), SAMPLING)
    verification.begin()
    assert verification.whole() == ()
    assert not verification.unseen().is_whole
    put_back(verification)
    assert take(verification.job, SAMPLING) is not verification


def test_the_reference_is_computed_once_for_all_texts_of_a_job(children, monkeypatch):
    jobs = []

    def seen(job, *part):
        jobs.append(job)
        return filtered(job, *part)

    monkeypatch.setattr(module, "filtered", seen)
    job = a_job()
    for number in range(3):
        assert tried(children, f"{text()}// {number}\n", job).kernel is not None
        count = sum(each is job for each in jobs)
        assert count == 1
    assert tried(children, text(run="wrong"), job).check.ok is False
    assert tried(children, text(run="right_at_first"), job).kernel is None


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("is_flat", [False, True])
def test_every_row_and_every_answer_is_another_one(dtype, is_flat):
    random = np.random.default_rng(3)
    shape = (40, 50) if is_flat else (40, 50, 3)
    job = Job.of(random.integers(1, 200, shape).astype(dtype), BLUR)
    before = job.picture.copy()
    seen = [job]
    for _ in range(4):
        seen.append(fresh(job, random))
    assert (job.picture == before).all()
    for at, one in enumerate(seen):
        assert one.picture.shape == job.picture.shape
        assert (one.picture.dtype, one.is_flat) == (job.picture.dtype, is_flat)
        for other in seen[at + 1 :]:
            assert (one.picture != other.picture).any((1, 2)).all()
            answers = [to_pixel_type(filtered(each), one.picture.dtype) for each in (one, other)]
            assert (answers[0] != answers[1]).any((1, 2)).all()


def test_floats_grow_no_larger_and_what_is_not_finite_stays():
    random = np.random.default_rng(3)
    picture = random.normal(size=(30, 40, 2)).astype(np.float32)
    picture[3, 4, 0], picture[5, 6, 1] = np.nan, np.inf
    job = fresh(Job.of(picture, BLUR), random)
    assert largest_finite(job.picture) <= largest_finite(picture)
    assert np.isnan(job.picture).sum() == np.isinf(job.picture).sum() == 1
