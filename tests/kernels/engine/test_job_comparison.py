"""Jobs take turns, a sample each; what is wrong, slow or refused is out, and says why."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.core.errors import DeviceLostError, OutOfMemoryError
from kernels.core.job import Job, Progress, Result, Sampled, Sampling
from kernels.core.timing import Timing
from kernels.engine.engine import Engine
from kernels.engine.job_comparison import Snapshot, comparing
from kernels.pictures.generated import noise

PICTURE = noise(20, 30)
SAMPLING = Sampling(max_samples=4, min_samples=4, max_seconds=10.0)


def a_job(block_xy, implementation="opencv"):
    weights = np.ones((3, 3), np.float32) / 9
    return Job.of(PICTURE, weights, implementation=implementation, block_xy=block_xy)


RIGHT = Engine(use_gpu=False).run(a_job((32, 8))).picture


class Turns(Engine):
    """Takes as long for a block shape as `times_ms` says, and writes down whose turn it was.

    wrong  shapes whose answer is wrong
    fails        shape -> what is raised at its second sample
    """

    def __init__(self, times_ms=None, wrong=(), wrong_later=(), fails=None):
        super().__init__(use_gpu=False)
        self.times_ms, self.fails = times_ms or {}, fails or {}
        self.wrong, self.wrong_later = wrong, wrong_later
        self.log, self.open = [], 0

    def filtering(self, job, sampling=None):
        assert not sampling.check  # it is held against an oracle worked out once
        shape, samples = job.block_xy, []
        self.open += 1
        try:
            yield Progress("preparing")
            yield Progress("filtering")
            yield self._result(job, (9.0,), is_wrong=shape in self.wrong)
            for number in range(sampling.max_samples):
                yield Sampled("timing", Timing(tuple(samples) or (9.0,)))
                self.log.append(shape)
                if number == 1 and shape in self.fails:
                    raise self.fails[shape]
                samples.append(self.times_ms.get(shape, 1.0) * (1 + number / 1000))
            yield self._result(job, samples, is_wrong=shape in self.wrong_later)
        finally:
            self.open -= 1

    def _result(self, job, samples, *, is_wrong):
        picture = 255 - RIGHT if is_wrong else RIGHT.copy()
        return Result(job, picture, Timing(tuple(samples), ended="samples"), ())


def rounds(engine, jobs, **options):
    ticks = iter(range(10**6))
    steps = comparing(jobs, engine, SAMPLING, clock=lambda: float(next(ticks)), **options)
    return [step for step in steps if isinstance(step, Snapshot)]


def test_jobs_take_turns_a_sample_each():
    engine, jobs = Turns(), [a_job((8, 8)), a_job((16, 16)), a_job((32, 8))]
    rounds(engine, jobs)
    assert engine.log == [(8, 8), (16, 16), (32, 8)] * 4
    assert engine.open == 0


@pytest.mark.parametrize("when", ["wrong", "wrong_later"])
def test_a_wrong_answer_has_no_speed(when):
    times = {(8, 8): 0.1, (16, 16): 1.0}
    last = rounds(Turns(times, **{when: [(8, 8)]}), [a_job(shape) for shape in times])[-1]
    assert last.standings[0].check.wrong > 0
    assert not last.standings[0].counts
    assert last.groups == ((1,),)


def test_what_fails_is_out_and_the_others_go_on():
    engine = Turns(fails={(8, 8): OutOfMemoryError("There is too little memory.")})
    last = rounds(engine, [a_job((8, 8)), a_job((16, 16))])[-1]
    assert last.standings[0].reason == "There is too little memory."
    assert last.standings[0].timing is None
    assert engine.log.count((16, 16)) == 4


def test_a_lost_device_and_a_stop_end_all_and_leave_nothing_open():
    engine = Turns(fails={(8, 8): DeviceLostError("The GPU is gone.")})
    with pytest.raises(DeviceLostError):
        rounds(engine, [a_job((8, 8)), a_job((16, 16))])
    assert engine.open == 0
    engine = Turns()
    steps = comparing([a_job((8, 8)), a_job((16, 16))], engine, SAMPLING)
    for _ in range(8):
        next(steps)
    assert engine.open
    steps.close()
    assert engine.open == 0


def test_more_than_there_is_room_for_go_in_groups():
    engine, shapes = Turns(), [(8, 8), (16, 16), (32, 8)]
    room = 2 * 2 * PICTURE.nbytes
    rounds(engine, [a_job(each) for each in shapes], held_bytes=room)
    assert engine.log == [(8, 8), (16, 16)] * 4 + [(32, 8)] * 4


def test_real_implementations_are_compared_by_the_rule_of_all_measurements():
    engine = Engine(use_gpu=False)
    jobs = [a_job((1, 1), key) for key in ("opencv", "sequential")]
    plan = replace(SAMPLING, max_samples=6, min_samples=6)
    (*_, last) = comparing(jobs, engine, plan)
    assert [len(each.timing.samples_ms) for each in last.standings] == [6, 6]
    assert all(each.counts and each.ran[0].threads for each in last.standings)
