"""One job on several GPUs, made up: whose rows they filter, when they begin, what is timed."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.cuda import device_pictures
from kernels.cuda.several_gpus import SeveralGpus
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.shim import Order
from kernels.rungs.rung import ladder
from tests.kernels import runners as r
from tests.kernels.cases import a_job as one_job
from tests.kernels.cases import fitting_filter, fitting_weights, random_picture
from tests.kernels.made_up_cuda import COPY_MS, MadeUpCuda, MadeUpGpu
from tests.kernels.on_cpu import Shim
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}
SHARED = RUNGS["shared"]
EVERY_DAY = ("global", "shared", "ring", "separable", "fft", "gradient", "tensor")
ONCE = Sampling(max_samples=0, check=False)


@pytest.fixture(autouse=True)
def no_cupy(monkeypatch):
    monkeypatch.setattr(device_pictures, "cuda_errors_in_words", lambda _: nullcontext())


def made(count, order=None, peers=True, ms=(3.0,), filter_rows=None):
    cuda = MadeUpCuda(count, order, peers=peers)
    gpus = [MadeUpGpu(cuda, at, filter_rows, ms[at % len(ms)]) for at in range(count)]
    return SeveralGpus(gpus), gpus, cuda


def a_job(height=23, border="clamp", ksize=5, channels=3, **fields):
    random = np.random.default_rng(height)
    picture = random_picture(random, (height, 17, channels), "uint8")
    picture.flags.writeable = False
    weights = fitting_weights(random, ksize, "shared")
    return Job.of(picture, weights, border, "shared", devices=2, **fields)


def by_turns():
    """Every rung; at night those whose passes read rows as another one's do."""
    for rung in ladder():
        marks = () if rung.key in EVERY_DAY else pytest.mark.nightly
        yield pytest.param(rung, marks=marks, id=rung.key)


def last(steps):
    *_, result = (step for step in steps if isinstance(step, Result))
    return result


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("height", [1, 3, 23])
def test_the_answer_is_that_of_the_whole(count, border, height):
    for order in (range(count), reversed(range(count))):
        sharing, *_ = made(count, list(order))
        job = replace(a_job(height, border, ksize=9), devices=count)
        result = last(sharing.filtering(SHARED, job, ONCE))
        assert r.verdict(job, result.picture).ok
        assert not result.picture.flags.writeable


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@pytest.mark.parametrize("rung", list(by_turns()))
def test_every_rung_does_its_parts_right(rung, build_cache):
    random = np.random.default_rng(7)
    picture = random_picture(random, (70, 45, 3), "float32")
    chosen = fitting_filter(random, 5, rung.key)
    job = one_job(picture, chosen, "wrap", rung.key, devices=3)
    job = r.in_a_block_it_takes(job)
    if rung.why_not(job, H200):
        job = job.but(picture=random_picture(random, picture.shape, "uint8"))
    shim = Shim(rung, [job], build_cache)

    def launch(part, source, target, rows):
        shim.run_into(part, source, target, Order.FORWARD, rows)

    sharing, *_ = made(3, filter_rows=launch)
    check = r.verdict(job, last(sharing.filtering(rung, job, ONCE)).picture)
    assert check.ok, str(check)


def test_the_picture_stays_where_it_is_and_only_the_halo_is_copied_again():
    sharing, gpus, cuda = made(2)
    job = a_job()
    first = last(sharing.filtering(SHARED, job, ONCE))
    assert first.upload_ms is not None
    cuda.copies.clear()
    again = last(sharing.filtering(SHARED, job.but(border="zero"), ONCE))
    assert (again.upload_ms, again.upload_copy_ms) == (None, None)
    rows = 2 * 64 * np.dtype("u1").itemsize * 2  # of 51 samples each, padded to 128 bytes
    assert cuda.copies == [(0, 1, rows), (1, 0, rows)]
    assert all(gpu.launched == 2 for gpu in gpus)


def test_a_filter_that_reaches_further_finds_room_for_its_halo():
    sharing, *_ = made(2)
    job = a_job(height=200, channels=1, ksize=3)
    last(sharing.filtering(SHARED, job, ONCE))
    wide = job.but(weights=np.full((127, 127), 127.0**-2, np.float32), border="wrap")
    result = last(sharing.filtering(SHARED, wide, ONCE))
    assert result.upload_ms is None
    assert r.verdict(wide, result.picture).ok


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_the_time_is_from_the_common_start_until_the_last_has_ended(order, cache):
    sharing, *_ = made(2, order, ms=(3.0, 7.0))
    sampling = Sampling(max_samples=4, max_seconds=9.0, cache=cache)
    result = last(sharing.filtering(SHARED, a_job(), sampling))
    assert result.kernel.samples_ms == pytest.approx([7.0 + COPY_MS] * 4)
    assert result.kernel.cache == cache
    assert [share.total_ms for share in result.shares] == [3.0 + COPY_MS, 7.0 + COPY_MS]
    assert [share.halo_ms for share in result.shares] == [COPY_MS, COPY_MS]
    assert [share.total_ms - share.halo_ms for share in result.shares] == [3.0, 7.0]
    assert [share.rows for share in result.shares] == [(0, 11), (11, 23)]
    assert [share.halo_rows for share in result.shares] == [2, 2]


@pytest.mark.parametrize(("peers", "path"), [(True, "peer"), (False, "host")])
def test_it_is_said_how_the_halo_went_and_a_way_that_is_open_is_one(peers, path):
    sharing, gpus, cuda = made(2, peers=peers)
    for each in (sharing, SeveralGpus(gpus)):
        result = last(each.filtering(SHARED, a_job(), ONCE))
        assert [share.halo_path for share in result.shares] == [path, path]
    assert cuda.opened == ({(0, 1), (1, 0)} if peers else set())


def test_gpus_are_named_and_what_is_under_way_is_said():
    sharing, *_ = made(2)
    steps = list(sharing.filtering(SHARED, a_job(), ONCE))
    doing = [step.doing for step in steps if isinstance(step, Progress)]
    assert doing == [
        f"compiling {SHARED.title}",
        "uploading the picture to 2 GPUs",
        f"filtering with {SHARED.title} on 2 GPUs",
    ]
    assert last(steps).device_name == "2 × NVIDIA H200"
    assert last(steps).compile_ms == 4.0
