"""The engine as a script, the command line or the window meets it, on a computer without a GPU."""

import gc
import re
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from kernels import Engine, Job, Progress, Result, Sampling, Step, filters
from kernels.core.device import NoDevice
from kernels.core.errors import CannotRunError, DeviceLostError
from kernels.core.nonlinear import Rank
from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.cuda_on_cpu.regions import TRIED_SIZE
from kernels.engine import engine as engine_module
from kernels.engine.auto import AUTO
from kernels.oracle.reference import correlate, to_pixel_type
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from tests.kernels.runners import ON_HOST
from tests.made_up import H200

QUICK = Sampling(max_samples=3, max_seconds=0.01)


@pytest.fixture
def engine():
    return Engine(use_gpu=False)


def job_of(implementation="sequential", shape=(50, 60, 3)):
    picture = np.random.default_rng(5).integers(0, 256, shape, np.uint8)
    return Job.of(picture, filters.get("gaussian").weights(5), implementation=implementation)


@pytest.mark.parametrize("implementation", [*ON_HOST, AUTO.key])
def test_an_array_without_channels_comes_back_without_channels(engine, implementation):
    picture = np.random.default_rng(5).integers(0, 256, (23, 31), np.uint8)
    weights = filters.get("gaussian").weights(5)
    job = Job.of(picture, weights, "mirror", implementation)
    steps = [step for step in engine.filtering(job, QUICK) if isinstance(step, Result)]
    assert {each.picture.shape for each in steps} == {(23, 31)}
    assert steps[-1].check.ok
    assert steps[-1].check.is_full
    assert not steps[-1].picture.flags.writeable
    as_one = engine.run(job.but(picture=picture[:, :, np.newaxis], is_flat=False), QUICK)
    assert as_one.picture.shape == (23, 31, 1)
    np.testing.assert_array_equal(steps[-1].picture, as_one.picture[:, :, 0])


@pytest.mark.parametrize("implementation", ON_HOST)
def test_a_result_holds_the_right_picture_its_time_and_its_check(engine, implementation):
    job = job_of(implementation)
    result = engine.run(job, QUICK)
    right = to_pixel_type(
        correlate(job.picture, job.correlation.weights, job.border), np.dtype(np.uint8)
    )
    off = np.abs(result.picture.astype(int) - right)
    assert off.max() <= (1 if implementation == "opencv" else 0)  # it rounds in its own way
    assert not result.picture.flags.writeable
    assert result.kernel.samples_ms
    assert min(result.kernel.samples_ms) > 0
    assert result.kernel.cache is None
    assert result.check.ok
    assert result.check.is_full
    assert result.ran[0].threads >= 1
    assert (result.upload_ms, result.download_ms, result.device_name) == (None, None, None)
    assert re.fullmatch(rf"<Result: .*, 50×60×3 uint8, {implementation}, .* ms; .*>", repr(result))
    assert len(repr(result)) < 200


@pytest.mark.parametrize("implementation", ON_HOST)
def test_a_long_job_can_be_stopped_between_its_steps(engine, implementation, monkeypatch):
    """Each yield is a chance to stop; a superseded job must not run to its end."""
    # On many cores there are fewer steps.
    monkeypatch.setattr("kernels.cpu.parallel.threads_for", lambda job: 1)
    picture = np.zeros((2048, 2048, 3), np.float32)
    weights = np.random.default_rng(0).random((31, 31), np.float32)
    steps = engine.filtering(Job.of(picture, weights, implementation=implementation), QUICK)
    count = 2 if implementation == "opencv" else 4  # its bands are large: see test_opencv.py
    assert all(isinstance(step, Progress) for step in islice(steps, count))
    steps.close()


def test_without_a_gpu_its_implementations_refuse_with_the_reason(engine):
    job = job_of("shared")
    assert "switched off" in engine.why_not(job)
    with pytest.raises(CannotRunError, match="switched off"):
        engine.run(job)


# -- a GPU that fails


class Card:
    """In place of a Gpu: fails with the words `failure`, unless that is empty."""

    def __init__(self, failure):
        self.failure = failure

    def answer(self):
        if self.failure:
            raise DeviceLostError(self.failure)

    def filtering(self, *_):
        yield Progress("filtering")
        self.answer()

    def ceilings(self):
        return {"copy_gb_s": 1.0}


@pytest.fixture
def lost():
    """An engine whose GPU failed just now."""
    engine = Engine()
    engine.device, engine.gpu = H200, Card("The GPU failed.")
    with pytest.raises(DeviceLostError, match="The GPU failed"):
        engine.run(job_of("shared"))
    return engine


def test_a_lost_gpu_is_not_asked_again_and_auto_takes_the_cpu(lost):
    lost.gpu.failure = ""
    with pytest.raises(DeviceLostError, match="The GPU failed"):
        lost.run(job_of("shared"))
    result = lost.run(job_of(AUTO.key), QUICK)
    assert result.implementation == "opencv"
    assert result.picked.why == "The GPU failed."
    assert lost.ceilings() == {}
    with pytest.raises(CannotRunError, match="The GPU failed"):
        lost.launch_once(job_of(AUTO.key))


def test_a_gpu_that_was_not_there_is_looked_for_anew(monkeypatch):
    found = [NoDevice("There is none."), replace(H200, name="Plugged in")]
    monkeypatch.setattr(engine_module, "probe", lambda _: found.pop(0))
    engine = Engine()
    assert engine.ceilings() == {}
    assert engine.try_again().name == "Plugged in"
    assert engine.device.name == "Plugged in"


@pytest.mark.parametrize("key", ["opencv", "parallel", "median_sort"])
def test_a_picture_with_nan_has_no_order(key):
    picture = np.ones((3, 3, 1), np.float32)
    picture[1, 1] = np.nan
    job = Job(picture, (Step(Rank(3), key, title="Median"),))
    assert "NaN" in Engine(use_gpu=False).why_not(job)


def test_alpha_has_no_place_in_an_order(engine):
    picture = np.random.default_rng(5).random((9, 12, 4), np.float32)
    picture[3, 4, 3] = np.nan
    result = engine.run(Job(picture, (Step(Rank(3), "parallel", title="Median"),)), QUICK)
    assert result.check.ok
    assert np.isnan(result.picture[3, 4, 3])
    assert np.isfinite(result.picture[:, :, :3]).all()


# -- a kernel of the user's own


RIGHT, COPY = steps()[6], steps()[3]
BLUR = np.full((3, 3), 1 / 9, np.float32)
LARGE = (TRIED_SIZE[1] + 30, TRIED_SIZE[0] + 20, 1)


@pytest.fixture(autouse=True)
def folder(monkeypatch, build_cache):
    monkeypatch.setenv(FOLDER_VARIABLE, str(build_cache))


def a_job(text=RIGHT, shape=(20, 30, 3), **facts):
    picture = np.random.default_rng(7).integers(0, 255, shape).astype(np.uint8)
    return Job.of(picture, BLUR, implementation="mine.cu", own=text, **facts)


def results(engine, job):
    return [step for step in engine.filtering(job) if isinstance(step, Result)]


@needs_compiler
@pytest.mark.parametrize("shape", [(20, 30), LARGE], ids=["flat", "large"])
def test_all_of_the_picture_is_filtered_and_checked_and_never_timed(engine, shape):
    first, result = results(engine, a_job(shape=shape))
    assert first.check.ok
    assert not first.check.is_verified
    assert result.check.is_verified
    assert result.picture.shape == shape
    assert not result.picture.flags.writeable
    assert result.check.ok
    assert result.check.checked == shape[0] * shape[1]
    assert result.kernel is None
    assert (result.total_ms, result.megapixels_per_s, result.effective_gb_s) == (None, None, None)
    assert result.disturbances == ()


READS_BELOW = RIGHT.replace(
    "    float sum = OFFSET;",
    "    volatile sample below = src[(y + 40) * pitch + x];\n    float sum = OFFSET;",
)


@needs_compiler
def test_a_kernel_that_reads_beyond_the_picture_is_not_run(engine):
    with pytest.raises(CannotRunError, match=r"reads row 4\d of the picture, which has 20"):
        results(engine, a_job(READS_BELOW))


@needs_compiler
def test_where_nothing_could_be_searched_it_is_not_verified_and_says_why(engine, monkeypatch):
    monkeypatch.setattr("kernels.cuda_on_cpu.trial.why_not", lambda: "No compiler here.")
    result = results(engine, a_job())[-1]
    assert result.check.ok
    assert not result.check.is_verified
    assert "No compiler here" in result.check.unsearched
    assert not str(result.check).startswith("verified")


@needs_compiler
def test_an_answer_that_was_not_written_is_never_given(engine):
    given = []
    text = RIGHT.replace(
        "    float sum = OFFSET;", "    if (x == 3) return;\n    float sum = OFFSET;"
    )
    with pytest.raises(CannotRunError, match="were never written"):
        given.extend(step for step in engine.filtering(a_job(text)) if isinstance(step, Result))
    assert given == []


@needs_compiler
def test_whoever_stops_it_ends_the_run(engine):
    text = RIGHT.replace(
        "    float sum = OFFSET;", "    float sum = OFFSET;\n    while (sum == sum) {}"
    )
    steps = engine.filtering(a_job(text))
    assert all(isinstance(next(steps), Progress) for _ in range(5))
    steps.close()
    gc.collect()
    assert engine.run(a_job()).check.ok


def test_nothing_but_filtering_takes_one(monkeypatch):
    monkeypatch.setattr("kernels.engine.engine.probe", lambda _: H200)
    monkeypatch.setattr("kernels.engine.engine.compiling_ahead", lambda _, wanted: iter(wanted))
    engine, job = Engine(), a_job()
    for ask in (engine.launch_once, engine.occupancy):
        with pytest.raises(CannotRunError, match="user kernel"):
            ask(job)
    with pytest.raises(CannotRunError, match="user kernel"):
        engine.implementation("mine.cu")
    assert list(engine.compiling([job])) == []
