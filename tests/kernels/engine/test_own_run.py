"""A kernel of the user's own through the engine's door: what it gives, and what it refuses."""

import gc

import numpy as np
import pytest

from kernels import Engine, Job
from kernels.core.errors import CannotRunError
from kernels.core.job import Progress, Result
from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.cuda_on_cpu.regions import TRIED_SIZE
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from tests.made_up import H200

RIGHT, COPY = steps()[6], steps()[3]
BLUR = np.full((3, 3), 1 / 9, np.float32)
LARGE = (TRIED_SIZE[1] + 30, TRIED_SIZE[0] + 20, 1)


@pytest.fixture(autouse=True)
def folder(monkeypatch, build_cache):
    monkeypatch.setenv(FOLDER_VARIABLE, str(build_cache))


@pytest.fixture
def engine():
    return Engine(use_gpu=False)


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
