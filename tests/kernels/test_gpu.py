"""What only a GPU can show: residency, several programs at once, and every way it can refuse."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from kernels import filters
from kernels.device import Device, NoDevice
from kernels.engine import Engine
from kernels.errors import CannotRunError, CompileFailedError, KernelError, OutOfMemoryError
from kernels.gpu import Gpu
from kernels.job import Job, Result, Sampling
from kernels.rung import Rung, ladder

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
    return Job(picture, **{**wanted, **fields})


def last(steps: Iterator[object]) -> Result:
    *_, result = (step for step in steps if isinstance(step, Result))
    return result


def test_the_first_run_uploads_and_the_second_finds_the_picture_there(engine):
    job = a_job()
    first, second = engine.run(job, QUICK), engine.run(replace(job, border="wrap"), QUICK)
    assert first.upload_ms is not None
    assert second.upload_ms is None
    assert second.check.ok


def test_a_picture_that_may_still_change_is_uploaded_every_time(engine):
    job = replace(a_job(), picture=np.zeros((8, 8, 1), np.uint8))
    assert engine.run(job, QUICK).picture.max() == 0
    job.picture[:] = 9
    assert engine.run(job, QUICK).picture.min() == 9


@pytest.mark.parametrize("key", [rung.key for rung in ladder()])
def test_two_jobs_in_turn_on_one_program_keep_their_own_weights(engine, key):
    """Equal source and options share one module, and so its constant memory."""
    steps = [
        engine.filtering(a_job(weights=filters.get(name).weights(3), implementation=key))
        for name in ("sobel_x", "sobel_y")
    ]
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


def test_a_large_shared_tile_is_asked_for(engine):
    result = engine.run(a_job(ksize=63, block_xy=(32, 16)), QUICK)
    assert result.ran[0].shared_bytes > 48 * 1024
    assert result.check.ok


def test_a_watchdog_cuts_the_launch_and_changes_nothing(engine, device):
    job = a_job(height=500, width=700, ksize=31)
    slow = replace(device, watchdog=True, clock_khz=20_000, multiprocessors=1)
    from kernels.launch import rows_per_launch

    assert rows_per_launch(job, slow) < job.height
    (rung,) = (rung for rung in ladder() if rung.key == job.implementation)
    cut = last(Gpu(slow).filtering(rung, job, QUICK))
    np.testing.assert_array_equal(cut.picture, engine.run(job, QUICK).picture)


def test_a_block_too_large_is_refused_in_words_and_the_next_job_works(engine, device):
    with pytest.raises(CannotRunError, match=rf"2048 threads; {device.name} allows 1024"):
        engine.run(a_job(block_xy=(64, 32)))
    assert engine.run(a_job(), QUICK).check.ok


def test_too_much_shared_memory_is_refused_in_words(engine, device):
    with pytest.raises(CannotRunError, match=f"shared memory.*{device.name} has"):
        engine.run(a_job(ksize=127, block_xy=(32, 32)))


def test_a_launch_the_driver_refuses_is_one_sentence_and_the_next_job_works(engine, device):
    (rung,) = (rung for rung in ladder() if rung.key == "global")
    with pytest.raises(KernelError, match="try another block shape"):
        last(Gpu(device).filtering(rung, a_job(block_xy=(2048, 1)), QUICK))
    assert engine.run(a_job(), QUICK).check.ok


def test_a_kernel_that_does_not_compile_says_so_and_keeps_the_compilers_words(engine, device):
    broken = Rung("broken", "this is no CUDA", "Broken", "", weights="constant")
    with pytest.raises(CompileFailedError, match="did not compile") as failure:
        last(Gpu(device).filtering(broken, a_job(), QUICK))
    assert "error" in failure.value.log
    assert engine.run(a_job(), QUICK).check.ok


def test_out_of_memory_is_one_sentence_and_the_next_job_works(engine):
    import cupy as cp

    pool = cp.get_default_memory_pool()
    picture = np.zeros((4000, 4000, 4), np.float32)
    gc.collect()  # as CuPy will, before it gives up
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + picture.nbytes * 3 // 2)  # and two are needed
    try:
        with pytest.raises(OutOfMemoryError, match=r"ran out of memory.*smaller picture"):
            engine.run(replace(a_job(), picture=picture), QUICK)
    finally:
        pool.set_limit(size=0)
    assert engine.run(a_job(), QUICK).check.ok


STICKY = """
import numpy as np
from kernels import Engine, Job, filters
from kernels.engine import ladder
from kernels.errors import DeviceLostError
from dataclasses import replace
engine = Engine()
picture = np.zeros((64, 64, 1), np.uint8)
job = Job(picture, filters.get("box").weights(3), implementation="global")
engine.run(job)
source = ladder()[0].source.replace("row_of(dst, y, width)[x] = to", "dst[x + (1LL << 45)] = to")
wild = replace(ladder()[0], source=source)
known = engine.implementation
engine.implementation = lambda key: wild if key == "global" else known(key)
for attempt in range(2):
    try:
        engine.run(job)
    except DeviceLostError as error:
        print(error)
print(engine.run(replace(job, implementation="parallel")).check.ok)
"""


@pytest.mark.usefixtures("engine")
def test_after_a_wild_write_the_gpu_is_gone_in_words_and_the_cpu_goes_on():
    done = subprocess.run([sys.executable, "-c", STICKY], capture_output=True, text=True)
    first, second, cpu = done.stdout.splitlines()
    assert first == second
    assert "restart the program" in first
    assert cpu == "True"
    assert done.returncode == 0
