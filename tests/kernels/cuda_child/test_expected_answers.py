"""What is expected of a job: worked out once, kept from text to text, and no weaker for that."""

from concurrent.futures import Future

import numpy as np
import pytest

from kernels.core.job import Job, Sampling
from kernels.core.verdict import Check, Tolerance
from kernels.cuda_child import expected_answers as module
from kernels.cuda_child.expected_answers import ExpectedAnswers, put_back, taken
from kernels.oracle.reference import filtered
from tests.kernels.cuda_child.bad_texts import BLUR, a_job, text, tried

SAMPLING = Sampling(max_samples=3)
TOLERANCE = Tolerance(9)


@pytest.fixture(autouse=True)
def deadlines(long_deadlines):
    pass


@pytest.fixture(autouse=True)
def shelf():
    module.forget()
    yield
    module.forget()


def at_once(steps, in_turn=False):
    done = Future()
    *_, last = steps
    done.set_result(last)
    return done


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
    found = ExpectedAnswers(job, SAMPLING).reference(at_once)
    assert len(found) == -(-100 // rows)  # threads share it
    assert (whole(job, found) == filtered(job)).all()


def test_what_is_worked_out_before_is_one_picture_wholly_and_others_in_parts():
    expected = ExpectedAnswers(a_job(), SAMPLING)
    expected.begin(at_once)
    given = [expected.unseen(at_once, is_whole) for is_whole in (False, True, False, False, True)]
    pictures = [each.job.picture.tobytes() for each in given]
    assert len(set(pictures)) == 5
    for each in given:
        for (top, bottom, left, right), part in tiles(each.reference):
            assert (part == filtered(each.job, (top, bottom), (left, right))).all()
        assert np.isnan(whole(each.job, each.reference)).any() != each.is_whole


def test_an_answer_that_equals_one_that_passed_bit_by_bit_has_passed_and_no_other():
    expected = ExpectedAnswers(a_job(), SAMPLING)
    answer = np.ones((100, 120, 1), np.uint8)
    passed = Check(0.0, (0, 0, 0), 0, 0, 1.0, 12_000, 12_000)
    expected.note_passed(TOLERANCE, answer, passed)
    assert expected.passed(TOLERANCE, answer.copy()) is passed
    assert expected.passed(Tolerance(8), answer) is None
    other = answer.copy()
    other[99, 119] ^= 1
    assert expected.passed(TOLERANCE, other) is None


def test_what_is_known_of_a_job_is_kept_for_it_alone():
    job = a_job()
    expected = taken(job, SAMPLING)
    put_back(expected)
    assert taken(job, SAMPLING) is expected
    assert taken(job, SAMPLING) is not expected  # it is for one trial at a time
    for other in (a_job(), Job(job.picture, BLUR, "mirror", block_xy=(32, 8))):
        put_back(expected)
        assert taken(other, SAMPLING) is not expected
    put_back(expected)
    assert taken(job, Sampling(max_samples=4)) is not expected


def test_of_large_pictures_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    expected = ExpectedAnswers(a_job(), SAMPLING)
    expected.begin(at_once)
    assert expected.reference(at_once) == ()
    assert expected.unseen(at_once, True).reference == ()
    assert expected.unseen(at_once, False).reference
    put_back(expected)
    assert taken(a_job(), SAMPLING) is not expected


def test_the_reference_is_worked_out_once_for_all_texts_of_a_job(children, monkeypatch):
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
