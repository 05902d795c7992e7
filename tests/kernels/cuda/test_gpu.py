"""What only a GPU can show: residency, several programs at once, and every way it can refuse."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from kernels import filters
from kernels.core.device import Device, NoDevice
from kernels.core.errors import CompileFailedError, KernelError, OutOfMemoryError
from kernels.core.health import Health
from kernels.core.job import Job, Result, Sampling
from kernels.core.sampling import take_samples
from kernels.cuda import gpu as gpu_module
from kernels.cuda.gpu import Gpu
from kernels.engine.engine import Engine
from kernels.rungs.rung import Rung, ladder
from tests.benches.timing import queue_of
from tests.kernels.cases import a_job as one_job
from tests.kernels.cases import fitting_filter
from tests.kernels.cuda.theory import fma_tflop_s_in_theory

QUICK = Sampling(max_samples=3, max_seconds=0.1)


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = Engine()
    if isinstance(made.device, NoDevice):
        pytest.skip(made.device.reason)
    return made


@pytest.fixture
def device(engine: Engine) -> Device:
    assert isinstance(engine.device, Device)
    return engine.device


def a_job(height: int = 96, width: int = 130, ksize: int = 5, **fields: object) -> Job:
    picture = np.random.default_rng().integers(0, 256, (height, width, 3), np.uint8)
    picture.flags.writeable = False
    wanted = {"implementation": "shared", "weights": filters.get("gaussian").weights(ksize)}
    return Job.of(picture, **{**wanted, **fields})


def job_for(rung: Rung, ksize: int, random: np.random.Generator) -> Job:
    chosen = fitting_filter(random, ksize, rung.key)
    return one_job(a_job().picture, chosen, "clamp", rung.key)


def last(steps: Iterator[object]) -> Result:
    *_, result = (step for step in steps if isinstance(step, Result))
    return result


def test_the_first_run_uploads_and_the_second_finds_the_picture_there(engine):
    job = a_job()
    first, second = engine.run(job, QUICK), engine.run(job.but(border="wrap"), QUICK)
    assert 0 < first.upload_copy_ms < first.upload_ms
    assert 0 < first.download_copy_ms < first.download_ms
    assert (second.upload_ms, second.upload_copy_ms) == (None, None)
    assert 0 < second.download_copy_ms < second.download_ms
    assert second.check.ok


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_two_jobs_in_turn_on_one_program_keep_their_own_weights(engine, rung):
    """Equal source and options share one module, and so its constant memory."""
    random = np.random.default_rng(6)
    jobs = [job_for(rung, 3, random) for _ in range(2)]
    if reason := engine.why_not(jobs[0]):
        pytest.skip(reason)
    steps = [engine.filtering(job) for job in jobs]
    results: dict[int, Result] = {}
    while len(results) < 2 or any(result.check is None for result in results.values()):
        for number, each in enumerate(steps):
            step = next(each, None)
            if isinstance(step, Result):
                results[number] = step
    assert all(result.check.ok for result in results.values())
    assert all(len(result.kernel.samples_ms) > 1 for result in results.values())


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_a_timing_says_how_it_was_taken_and_what_ran(engine, device, cache):
    result = engine.run(a_job(block_xy=(16, 16)), Sampling(max_samples=7, cache=cache))
    assert result.kernel.cache == cache
    assert len(result.kernel.samples_ms) == 7
    assert all(sample > 0 for sample in result.kernel.samples_ms)
    (ran,) = result.ran
    assert (ran.function, ran.block, ran.grid) == ("shared.convolve", (16, 16), (25, 6))
    assert ran.registers > 0
    assert ran.shared_bytes == (16 + 12) * (16 + 4) * 4
    assert result.device_name == device.name


def test_health_is_watched_while_a_kernel_is_timed(engine, device):
    results = [engine.run(a_job(), QUICK), engine.run(a_job(), Sampling(max_seconds=1e-6))]
    for health in (result.health for result in results):
        if health is None:
            pytest.skip("NVML tells nothing of this GPU")
        assert isinstance(health, Health)
        low, high = health.sm_mhz
        assert 0 < low <= high <= 1.05 * device.clock_khz / 1e3
        assert 0 < health.temperature_c[0] <= health.temperature_c[1] < 120


def test_transfers_move_the_picture_and_pinned_memory_is_no_slower(engine):
    job = a_job(height=2000, width=2000)
    *_, found = engine.transfers(job)
    assert found.picture_bytes == job.picture.nbytes
    for pageable, pinned in (
        (found.pageable_up, found.pinned_up),
        (found.pageable_down, found.pinned_down),
    ):
        assert len(pageable.samples_ms) >= 10
        assert 0 < pinned.median_ms < 1.2 * pageable.median_ms


def test_ceilings_are_near_what_the_device_can_do_in_theory(engine, device):
    found = engine.ceilings()
    assert engine.ceilings() == found  # measured once
    theory = fma_tflop_s_in_theory(device)
    assert 0.6 * theory < found["fma_tflop_s"] < 1.05 * theory
    assert 0 < found["empty_launch_ms"] < 0.05
    assert found["copy_gb_s"] > 10
    assert found["l2_read_gb_s"] > found["copy_gb_s"]


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_the_driver_says_how_many_blocks_fit(engine, device, rung):
    job = job_for(rung, 5, np.random.default_rng(1))
    if reason := engine.why_not(job):
        pytest.skip(reason)
    found = engine.occupancy(job)
    assert 1 <= found.blocks <= device.max_blocks_per_multiprocessor
    assert 0 < found.warps <= found.most == device.max_threads_per_multiprocessor // 32
    assert found.limit.endswith(".")


def test_a_queued_job_may_be_timed_in_any_way(engine):
    job = a_job(height=1000, width=1000)
    ours = engine.run(job, Sampling(max_samples=20)).kernel
    with queue_of(engine, job) as queue:
        timing = take_samples(
            lambda: queue.timer.sample_ms(queue.launch, "cold"), Sampling(max_samples=20)
        )
        nothing_ms = queue.timer.sample_ms(queue.timer.launch_nothing, "cold")
    assert timing.median_ms == pytest.approx(ours.median_ms, rel=0.2)
    assert 0 < nothing_ms < ours.median_ms


def test_a_watchdog_cuts_the_launch_and_changes_nothing(engine, device):
    job = a_job(height=500, width=700, ksize=31)
    slow = replace(device, watchdog=True, clock_khz=20_000, multiprocessors=1)
    from kernels.cuda.launch import rows_per_launch

    assert rows_per_launch(job, slow, job.block_xy[1]) < job.height
    (rung,) = (rung for rung in ladder() if rung.key == job.implementation)
    cut = last(Gpu(slow).filtering(rung, job, QUICK))
    np.testing.assert_array_equal(cut.picture, engine.run(job, QUICK).picture)


def test_a_launch_the_driver_refuses_is_one_sentence_and_the_next_job_works(engine, device):
    (rung,) = (rung for rung in ladder() if rung.key == "global")
    with pytest.raises(KernelError, match="try another block shape"):
        last(Gpu(device).filtering(rung, a_job(block_xy=(2048, 1)), QUICK))
    assert engine.run(a_job(), QUICK).check.ok


def test_a_kernel_that_does_not_compile_says_so_and_keeps_the_compilers_words(engine, device):
    source = "\nthis is no CUDA"
    broken = Rung("broken", "90_broken.cu", source, "Broken", "", weights="constant")
    words = r"did not compile.*90_broken\.cu, line 2"
    with pytest.raises(CompileFailedError, match=words) as failure:
        last(Gpu(device).filtering(broken, a_job(), QUICK))
    assert "90_broken.cu(2): error" in failure.value.log
    assert engine.run(a_job(), QUICK).check.ok


@contextmanager
def memory_left(engine: Engine, size: int) -> Iterator[None]:
    """No more than `size` bytes for whatever comes, beside what is in use."""
    import cupy as cp

    pool = cp.get_default_memory_pool()
    gc.collect()  # as CuPy will, before it gives up
    engine.gpu.forget()
    pool.set_limit(size=pool.used_bytes() + size)
    try:
        yield
    finally:
        pool.set_limit(size=0)


def test_out_of_memory_is_one_sentence_and_the_next_job_works(engine, monkeypatch):
    picture = np.zeros((4000, 4000, 4), np.float32)
    with monkeypatch.context() as patch, memory_left(engine, picture.nbytes * 3 // 2):
        # As if nobody had looked how much there is.
        patch.setattr(gpu_module, "rows_a_strip", lambda _, job, *__: job.height)
        with pytest.raises(OutOfMemoryError, match=r"ran out of memory.*smaller picture"):
            engine.run(a_job(implementation="fft").but(picture=picture), QUICK)
        assert engine.run(replace(a_job(), picture=picture), QUICK).strips > 1
    assert engine.run(a_job(), QUICK).check.ok


@pytest.mark.parametrize("border", ["reflect", "wrap"])
@pytest.mark.parametrize("key", ["shared", "separable", "gradient"])
def test_a_picture_larger_than_memory_is_filtered_in_strips_to_the_same_bits(engine, key, border):
    picture = np.random.default_rng(8).standard_normal((3001, 2003, 2), np.float32)
    picture.flags.writeable = False
    job = a_job(ksize=9, implementation=key, gradient=key == "gradient")
    job = job.but(picture=picture, border=border)
    whole = engine.run(job, QUICK)
    with memory_left(engine, picture.nbytes // 2):
        *steps, result = engine.filtering(job, QUICK)
    assert whole.strips == 1
    assert result.strips > 4
    rows = [step.doing for step in steps if getattr(step, "doing", "").startswith("filtering rows")]
    assert len(rows) == result.strips
    assert rows[-1].endswith("to 3,001 of 3,001")
    np.testing.assert_array_equal(result.picture.view("u4"), whole.picture.view("u4"))
    assert result.check.ok
    assert 0 < result.kernel.median_ms < 100 * whole.kernel.median_ms
    assert result.upload_ms > 0


@pytest.mark.parametrize(
    "rung", [rung for rung in ladder() if len(rung.passes) > 1], ids=lambda rung: rung.key
)
def test_a_graph_of_launches_gives_the_same_answer(engine, rung):
    job = job_for(rung, 7, np.random.default_rng(2))
    if reason := engine.why_not(job):
        pytest.skip(reason)
    launch = engine.gpu.prepare(rung, job)
    answers = []
    with engine.gpu.using("filtering"):
        for _ in range(3):
            go = launch.ready()
            launch.arrays["target"].fill(0xA5)
            go()
            answers.append(launch.arrays["target"].get())
    assert launch.graph is not None
    samples = job.width * job.channels
    for answer in answers[1:]:
        np.testing.assert_array_equal(answer[:, :samples], answers[0][:, :samples])


STICKY = """
import numpy as np
from kernels import Engine, Job, filters
from kernels.rungs.rung import ladder
from kernels.core.errors import DeviceLostError
from dataclasses import replace
engine = Engine()
picture = np.zeros((64, 64, 1), np.uint8)
job = Job.of(picture, filters.get("box").weights(3), implementation="global")
engine.run(job)
source = ladder()[0].source.replace("row_of(dst, y, pitch)[x] = to", "dst[x + (1LL << 45)] = to")
wild = replace(ladder()[0], source=source)
known = engine.implementation
engine.implementation = lambda key: wild if key == "global" else known(key)
for attempt in range(2):
    try:
        engine.run(job)
    except DeviceLostError as error:
        print(error)
print(engine.run(job.but( implementation="parallel")).check.ok)
"""


@pytest.mark.usefixtures("engine")
def test_after_a_wild_write_the_gpu_is_gone_in_words_and_the_cpu_goes_on():
    done = subprocess.run([sys.executable, "-c", STICKY], capture_output=True, text=True)
    first, second, cpu = done.stdout.splitlines()
    assert first == second
    assert "until the program is restarted only the CPU works" in first
    assert "cudaErrorIllegalAddress" in first
    assert cpu == "True"
    assert (done.returncode, done.stderr) == (0, "")
