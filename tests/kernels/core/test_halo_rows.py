"""Parts of a picture with the rows and pixels around them."""

import numpy as np
import pytest

from kernels import Engine, Job, Sampling, filters
from kernels.core.borders import BORDERS, even_parts, halo_rows, surroundings_of
from kernels.oracle.reference import filtered
from kernels.pictures.generated import noise

COUNTS = range(1, 6)
HEIGHTS = (1, 2, 4, 7, 13)


def put_together(picture, parts):
    """The parts' pictures, each from its own rows and those of others, as devices hold them."""
    held = [picture[part.first : part.end] for part in parts]
    for at, part in enumerate(parts):
        own = np.full((part.height, *picture.shape[1:]), np.nan, picture.dtype)
        own[part.own] = held[at]
        taken = np.zeros(part.height, int)
        taken[part.own] += 1
        for rows in halo_rows(parts, at):
            into = slice(rows.to, rows.to + rows.count)
            own[into] = held[rows.source][rows.first : rows.first + rows.count]
            taken[into] += 1
        assert (taken == 1).all(), "every row comes from one place"
        yield own


@pytest.mark.parametrize(("border", "gradient"), [(each, each == "wrap") for each in BORDERS])
@pytest.mark.parametrize("count", COUNTS)
def test_parts_with_their_halo_are_the_whole(count, border, gradient):
    random = np.random.default_rng(count)
    for height in HEIGHTS:
        for ksize in (1, 3, 15):  # some reach further than the picture, and than a part
            picture = random.random((height, 3, 1), np.float32)
            weights = random.random((ksize, ksize), np.float32)
            job = Job.of(picture, weights, border, gradient=gradient)
            parts = even_parts(height, count, job.reach, border)
            answers = [
                filtered(job.but(picture=own))[part.own]
                for part, own in zip(parts, put_together(picture, parts), strict=True)
            ]
            np.testing.assert_array_equal(np.concatenate(answers), filtered(job))


def test_wrap_takes_from_the_other_end_and_perhaps_from_itself():
    parts = even_parts(8, 2, 2, "wrap")
    assert [rows.source for rows in halo_rows(parts, 0)] == [1, 1]
    assert [rows.first for rows in halo_rows(parts, 0)] == [2, 0]
    far = even_parts(4, 2, 4, "wrap")
    assert {rows.source for rows in halo_rows(far, 0)} == {0, 1}


HEIGHT, WIDTH = 41, 37
ONCE = Sampling(max_samples=0, cache="warm", check=False)
RECTANGLES = [
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
    job = Job.of(picture, weights, border, implementation, gradient=chosen.gradient)
    whole = engine.run(job, ONCE).picture
    for reach in (job.reach, 2 * job.reach + 3):
        for rows, columns in RECTANGLES:
            wanted = surroundings_of(rows, columns, (HEIGHT, WIDTH), reach, border)
            read = wanted.read(lambda y, x: picture[y[0] : y[1], x[0] : x[1]])
            found = Job.of(np.ascontiguousarray(read), weights, border, implementation,
                        gradient=chosen.gradient)  # fmt: skip
            own = engine.run(found, ONCE).picture[wanted.own]
            np.testing.assert_array_equal(own, whole[slice(*rows), slice(*columns)])


def test_no_more_is_read_than_its_answer_needs():
    wanted = surroundings_of((12, 25), (0, 20), (HEIGHT, WIDTH), 2, "mirror")
    assert wanted.rows.spans == ((10, 27),)
    assert wanted.columns.spans == ((0, 22),)
