"""Tuning measures what can run, checks it, gives up on the hopeless, and loses nothing."""

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.engine.auto import Measurements, job_class_of
from kernels.engine.job_comparison import Trial, block_grid, tuning
from kernels.rungs.rung import ladder
from tests.kernels.made_up_gpu import TimedEngine
from tests.made_up import H200

WEIGHTS = np.random.default_rng(3).standard_normal((5, 5), np.float32)
PICTURE = np.random.default_rng(5).integers(0, 256, (40, 50, 1), np.uint8)
JOB = Job.of(PICTURE, WEIGHTS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "measurements.json"


def trials(engine, **how):
    return [each for each in tuning(engine, [lambda: JOB], **how) if isinstance(each, Trial)]


def test_every_rung_that_can_run_is_measured_and_remembered(path):
    engine = TimedEngine(path)
    found = trials(engine, shapes=False)
    able = {rung.key for rung in ladder() if engine.picker.may_run(rung, JOB)}
    assert {each.implementation for each in found} == able
    assert len(Measurements(H200, path).of(job_class_of(JOB))) == len(able)


def test_what_honours_the_picker_is_tried_in_other_shapes(path):
    engine = TimedEngine(path, {("shared", (64, 4)): 1.0})
    found = [each for each in trials(engine) if each.implementation == "shared"]
    assert {each.block_xy for each in found} == set(block_grid(H200))
    assert next(engine.picks(JOB)).block_xy == (64, 4)


def test_the_hopeless_are_not_tried_in_other_shapes(path):
    engine = TimedEngine(path, {"shared": 1.0, "global": 3.1, "constant": 2.9})
    shapes = {}
    for each in trials(engine):
        shapes.setdefault(each.implementation, set()).add(each.block_xy)
    assert len(shapes["global"]) == 1
    assert len(shapes["constant"]) > 1


def test_a_wrong_answer_does_not_count(path):
    engine = TimedEngine(path, {"shared": 1.0, "constant": 2.0}, wrong=("shared",))
    found = [each for each in trials(engine) if each.implementation == "shared"]
    assert len(found) == 1
    assert "WRONG" in found[0].outcome
    assert next(engine.picks(JOB)).implementation == "constant"


def test_what_is_found_wrong_now_is_forgotten_in_every_shape(path):
    trials(TimedEngine(path, {"shared": 1.0, "constant": 2.0}))
    engine = TimedEngine(path, {"shared": 1.0, "constant": 2.0}, wrong=("shared",))
    trials(engine, shapes=False)
    known = Measurements(H200, path).of(job_class_of(JOB))
    assert "shared" not in {each.implementation for each in known}
    assert (64, 4) in {each.block_xy for each in known}
    assert next(engine.picks(JOB)).implementation == "constant"
