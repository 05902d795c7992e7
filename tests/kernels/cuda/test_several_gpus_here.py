"""One job on the GPUs of this computer, where it has two: right, with its halo, and timed."""

import numpy as np
import pytest

from kernels.core.borders import BORDERS
from kernels.core.job import Sampling
from kernels.engine.engine import Engine
from kernels.rungs.rung import ladder
from tests.kernels import runners as r
from tests.kernels.cases import a_job as one_job
from tests.kernels.cases import fitting_filter, random_picture

QUICK = Sampling(max_samples=3, max_seconds=0.1, check_taps=None)


@pytest.fixture(scope="module")
def engine():
    made = Engine()
    if len(made.device_numbers) < 2:
        pytest.skip("it takes two GPUs")
    return made


def a_job(rung, border="mirror", shape=(70, 45, 3), ksize=5):
    random = np.random.default_rng(7)
    picture = random_picture(random, shape, "float32").copy()
    picture.flags.writeable = False
    chosen = fitting_filter(random, ksize, rung.key)
    job = one_job(picture, chosen, border, rung.key, devices=2)
    return r.in_a_block_it_takes(job)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_every_rung_is_right_on_two(engine, rung, border):
    job = a_job(rung, border)
    if engine.why_not(job):
        random = np.random.default_rng(7)
        job = job.but(picture=random_picture(random, job.picture.shape, "uint8"))
    if reason := engine.why_not(job):
        pytest.skip(reason)
    result = engine.run(job, QUICK)
    assert result.check.ok, str(result.check)
    assert [share.rows for share in result.shares] == [(0, 35), (35, 70)]


def test_the_picture_stays_and_times_add_up(engine):
    rung = next(each for each in ladder() if each.key == "shared")
    job = a_job(rung, shape=(3000, 2000, 3))
    first, again = engine.run(job, QUICK), engine.run(job.but(border="wrap"), QUICK)
    assert first.upload_ms > first.upload_copy_ms > 0
    assert again.upload_ms is None
    for share in again.shares:
        assert 0 < share.halo_ms < share.total_ms <= max(again.kernel.samples_ms)
        assert share.halo_rows == 4
        assert share.halo_path in ("peer", "host")
    one = engine.run(job.but(devices=1), QUICK)
    assert max(share.total_ms - share.halo_ms for share in again.shares) < max(
        one.kernel.samples_ms
    )


def test_both_halves_hold_what_one_would(engine):
    rung = next(each for each in ladder() if each.key == "shared")
    job = a_job(rung, shape=(1001, 700, 3), ksize=31)
    both, one = engine.run(job, QUICK), engine.run(job.but(devices=1), QUICK)
    np.testing.assert_array_equal(both.picture.view("u4"), one.picture.view("u4"))
