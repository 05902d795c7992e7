"""A rectangle of a picture, with what is around it, gives what the whole picture gives there."""

import numpy as np
import pytest

from kernels import Engine, Job, Sampling, filters
from kernels.core.borders import BORDERS
from kernels.core.surroundings import surroundings_of
from kernels.pictures.generated import noise

HEIGHT, WIDTH = 41, 37
ONCE = Sampling(max_samples=0, cache="warm", check=False)
RECTANGLES = [
    ((0, HEIGHT), (0, WIDTH)),
    ((0, 1), (0, 1)),
    ((HEIGHT - 3, HEIGHT), (WIDTH - 1, WIDTH)),
    ((12, 25), (9, 20)),
    ((0, 9), (30, WIDTH)),
    ((17, 18), (0, WIDTH)),
]


@pytest.fixture(scope="module")
def engine():
    return Engine(use_gpu=False)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("name", ["gaussian", "emboss", "edges"])
@pytest.mark.parametrize("implementation", ["sequential", "parallel"])
def test_its_answer_is_that_of_the_whole_bit_for_bit(engine, border, name, implementation):
    chosen, picture = filters.get(name), noise(HEIGHT, WIDTH, 3)
    weights = chosen.weights(5 if 5 in chosen.sizes else 3)
    job = Job(picture, weights, border, implementation, gradient=chosen.gradient)
    whole = engine.run(job, ONCE).picture
    for reach in (job.reach, 2 * job.reach + 3):
        for rows, columns in RECTANGLES:
            wanted = surroundings_of(rows, columns, (HEIGHT, WIDTH), reach, border)
            read = wanted.read(lambda y, x: picture[y[0] : y[1], x[0] : x[1]])
            found = Job(np.ascontiguousarray(read), weights, border, implementation,
                        gradient=chosen.gradient)  # fmt: skip
            own = engine.run(found, ONCE).picture[wanted.own]
            np.testing.assert_array_equal(own, whole[slice(*rows), slice(*columns)])


def test_no_more_is_read_than_its_answer_needs():
    wanted = surroundings_of((12, 25), (0, 20), (HEIGHT, WIDTH), 2, "mirror")
    assert wanted.rows.spans == ((10, 27),)
    assert wanted.columns.spans == ((0, 22),)
