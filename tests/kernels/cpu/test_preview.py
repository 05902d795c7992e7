"""A preview looks like the answer, at a small share of its cost, or there is none."""

import numpy as np
import pytest

from kernels import filters
from kernels.core.job import Job
from kernels.core.nonlinear import NonLocalMeans
from kernels.core.step import Step
from kernels.cpu import opencv, parallel
from kernels.cpu.opencv import factor_for, preview, reduced_weights, takes_long
from kernels.pictures.generated import scene


def mean(size):
    return np.full((size, size), size**-2, np.float32)


def bell(size):
    x = np.arange(size) - size // 2
    line = np.exp(-(x**2) / (2 * (size / 6) ** 2))
    return np.outer(line, line).astype(np.float32) / np.float32(line.sum() ** 2)


@pytest.mark.parametrize("size", [1, 3, 5, 31, 127])
@pytest.mark.parametrize("factor", [2, 3, 8])
def test_reduced_weights_keep_sum_symmetry_and_centre(size, factor):
    reduced = reduced_weights(bell(size), factor)
    assert len(reduced) % 2 == 1
    assert len(reduced) <= size // factor + 3
    assert reduced.sum() == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(reduced, reduced[::-1, ::-1], atol=1e-6)
    shifted = np.zeros((size, size), np.float32)
    shifted[size // 2, -1] = 1  # a shift by the radius stays one
    columns = reduced_weights(shifted, factor).sum(0)
    at = (columns * (np.arange(len(columns)) - len(columns) // 2)).sum()
    assert factor * at == pytest.approx(size // 2, abs=1e-4)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("border", ["clamp", "zero", "wrap"])
def test_a_preview_looks_like_the_answer(kind, border):
    white = 1.0 if kind is np.float32 else np.iinfo(kind).max
    picture = (scene() / 255.0 * white).astype(kind)
    job = Job.of(picture, bell(31), border)
    shown, answer = preview(job), opencv.filtered(job)
    assert (shown.shape, shown.dtype) == (picture.shape, picture.dtype)
    off = np.abs(shown.astype(float) - answer.astype(float)) / white
    assert off.mean() < 0.01
    assert off.max() < 0.1


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("chosen", [e for e in filters.all_filters() if not e.has_weights])
def test_a_preview_of_what_is_no_weighted_sum_looks_like_the_answer(chosen, kind):
    white = float(np.iinfo(kind).max)
    picture = (scene()[:300, :300] / 255.0 * white).astype(kind)
    job = Job(picture, (Step(chosen.of_size(9, white=white), "parallel"),))
    shown, answer = preview(job), np.empty_like(picture)
    [*parallel.prepare(job).filtering(answer)]
    assert (shown.shape, shown.dtype) == (picture.shape, picture.dtype)
    assert np.abs(shown.astype(float) - answer).mean() / white < 0.03


def test_only_what_takes_long_on_the_cpu_is_worth_a_preview():
    large = Job.of(np.zeros((3000, 4000, 3), np.uint8), mean(127), implementation="opencv")
    assert takes_long(large)
    assert takes_long(large.but(implementation="sequential", weights=mean(5)))
    assert not takes_long(large.but(implementation="shared"))
    alike = NonLocalMeans(21, 7, 10.0)  # which looks at 21,609 pixels for each
    assert takes_long(Job.of(scene(), mean(5)).but(implementation="parallel", filter=alike))
    assert not takes_long(Job.of(scene(), mean(5), implementation="opencv"))
    assert factor_for(large.picture) == 4
    assert factor_for(scene()) == 2
