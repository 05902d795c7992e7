"""On a GPU: tuning fills what `auto` picks from, and a profiler finds a single launch."""

import numpy as np
import pytest

from kernels import Engine, Job, filters
from kernels.core.device import NoDevice
from kernels.core.job import Sampling
from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.engine.auto import Candidate, job_class_of
from kernels.engine.job_comparison import Trial, tuning

QUICK = Sampling(max_samples=3, max_seconds=0.1)


@pytest.fixture
def engine(tmp_path, monkeypatch) -> Engine:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    made = Engine()
    if isinstance(made.device, NoDevice):
        pytest.skip(made.device.reason)
    return made


@pytest.fixture
def job() -> Job:
    picture = np.random.default_rng().integers(0, 256, (96, 130, 3), np.uint8)
    picture.flags.writeable = False
    return Job.of(picture, filters.get("gaussian").weights(5), implementation="auto")


def test_auto_picks_what_tuning_found_to_be_the_quickest(engine, job):
    before = engine.run(job, QUICK)
    assert "not measured here yet" in before.picked.why
    assert before.check.ok
    trials = [each for each in tuning(engine, [lambda: job], shapes=False) if type(each) is Trial]
    times = {
        each.implementation: each.outcome for each in trials if type(each.outcome) is Candidate
    }
    result = engine.run(job, QUICK)
    best = min(times.values(), key=lambda each: each.median_ms)
    assert times[result.implementation].median_ms <= best.high_ms
    assert result.picked.why == f"the quickest of {len(times)} measured here"
    assert result.check.ok
    assert {each.implementation for each in engine.picker.measurements.of(job_class_of(job))} == {
        *times
    }


def test_a_launch_for_a_profiler_runs_what_was_asked_for(engine, job):
    (ran,) = engine.launch_once(job.but(implementation="shared"))
    assert ran.function == "shared.convolve"
