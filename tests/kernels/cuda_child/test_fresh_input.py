"""Fresh input: of the same kind, and another one each time."""

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.cuda_child.expected_answers import fresh
from kernels.oracle.checking import largest_finite
from kernels.oracle.reference import filtered, to_pixel_type
from tests.kernels.cuda_child.bad_texts import BLUR


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("is_flat", [False, True])
def test_every_row_and_every_answer_is_another_one(dtype, is_flat):
    random = np.random.default_rng(3)
    shape = (40, 50) if is_flat else (40, 50, 3)
    job = Job(random.integers(1, 200, shape).astype(dtype), BLUR)
    before = job.picture.copy()
    seen = [job]
    for _ in range(4):
        seen.append(fresh(job, random))
    assert (job.picture == before).all()
    for at, one in enumerate(seen):
        assert one.picture.shape == job.picture.shape
        assert (one.picture.dtype, one.is_flat) == (job.picture.dtype, is_flat)
        for other in seen[at + 1 :]:
            assert (one.picture != other.picture).any((1, 2)).all()
            answers = [to_pixel_type(filtered(each), one.picture.dtype) for each in (one, other)]
            assert (answers[0] != answers[1]).any((1, 2)).all()


def test_floats_grow_no_larger_and_what_is_not_finite_stays():
    random = np.random.default_rng(3)
    picture = random.normal(size=(30, 40, 2)).astype(np.float32)
    picture[3, 4, 0], picture[5, 6, 1] = np.nan, np.inf
    job = fresh(Job(picture, BLUR), random)
    assert largest_finite(job.picture) <= largest_finite(picture)
    assert np.isnan(job.picture).sum() == np.isinf(job.picture).sum() == 1
