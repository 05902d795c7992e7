"""Checks that wait their turn: shared by threads, put together again, their memory used again."""

from threading import Event, current_thread
from weakref import ref

import pytest

from kernels.core.job import Sampling
from kernels.core.verdict import Tolerance
from kernels.cuda_child import check_queue
from kernels.cuda_child import expected_answers as module
from kernels.cuda_child.check_queue import CheckQueue
from kernels.cuda_child.expected_answers import ExpectedAnswers
from kernels.oracle.checking import checking
from kernels.oracle.reference import filtered, to_pixel_type
from tests.kernels.cuda_child.bad_texts import a_job

SAMPLING, TOLERANCE = Sampling(max_samples=3), Tolerance(9)


@pytest.fixture
def checks(monkeypatch):
    monkeypatch.setattr(module, "STRIP_SAMPLES", 7 * 120)
    job = a_job()
    made = CheckQueue(lambda _: TOLERANCE, ExpectedAnswers(job, SAMPLING), SAMPLING)
    yield job, made
    made.close()


def right(job):
    return to_pixel_type(filtered(job), job.picture.dtype)


def test_an_answer_compared_by_several_threads_has_the_check_of_one_that_is_compared_at_once(
    checks,
):
    job, made = checks
    answer = right(job)
    answer[3, 5] ^= 1
    answer[99, 119] ^= 0x80
    made.begin(job.picture)
    made.add(job, answer)
    made.wait(60)
    *_, at_once = checking(job, answer, TOLERANCE)
    assert made.done == [at_once]
    assert (at_once.wrong, at_once.is_full) == (2, True)


def test_the_memory_of_an_answer_is_used_again_once_it_is_checked_and_the_users_own_never(checks):
    job, made = checks
    assert made.room() is None
    unseen = made.unseen(is_whole=True)
    answer = right(unseen.job)
    made.add_unseen(unseen, answer, is_whole=True)
    made.add(job, right(job))
    made.wait(60)
    assert made.room() is answer
    assert made.room() is None
    assert [each.ok for each in made.done] == [True, True]
    assert made.left == 0


def test_the_memory_of_an_answer_is_not_used_again_while_it_is_compared(checks, monkeypatch):
    _, made = checks
    may_go_on = Event()

    def waiting(*arguments):
        assert may_go_on.wait(60)
        yield from checking(*arguments)

    monkeypatch.setattr(check_queue, "checking", waiting)
    unseen = made.unseen(is_whole=False)
    answer = right(unseen.job)
    for is_whole in (False, True):  # twice: the second one compares all of it
        made.add_unseen(unseen, answer, is_whole)
    assert made.room() is None
    may_go_on.set()
    made.wait(60)
    assert made.room() is answer
    assert made.room() is None


def test_the_reference_of_a_picture_that_is_checked_is_not_kept(checks):
    _, made = checks
    unseen = made.unseen(is_whole=True)
    made.add_unseen(unseen, right(unseen.job), is_whole=True)
    references = [ref(each) for each in unseen.reference]
    made.wait(60)
    del unseen
    assert references
    assert not any(each() for each in references)


def test_small_tiles_are_worked_out_in_one_thread_beside_those_that_share_a_picture(
    checks, monkeypatch
):
    job, made = checks
    threads = {True: set(), False: set()}

    def noted(job, rows, columns=None):
        threads[columns is not None].add(current_thread().name)
        return filtered(job, rows, columns)

    monkeypatch.setattr(module, "filtered", noted)
    made.begin(job.picture)
    for is_whole in (True, False, False):
        unseen = made.unseen(is_whole)
        made.add_unseen(unseen, right(unseen.job), is_whole)
    made.wait(60)
    assert [each.ok for each in made.done] == [True, True, True]
    assert threads[True] == {"checks-in-turn_0"}
    assert threads[False]
    assert not threads[True] & threads[False]
