"""A job refuses parts that do not fit together, in words, before anything runs."""

from dataclasses import fields, replace

import numpy as np
import pytest

from kernels.core.borders import RowStrip
from kernels.core.errors import BadJobError
from kernels.core.job import Job, Region
from kernels.core.step import LENGTH, Correlation, Step

WEIGHTS = np.ones((3, 3), np.float32)


def picture(*shape, dtype=np.uint8):
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    "shape", [(5,), (0, 5), (4, 5, 0), (4, 5, 5), (0, 5, 1), (4, 0, 1), (1, 2, 3, 4)]
)
def test_pictures_of_another_shape_are_refused(shape):
    with pytest.raises(BadJobError, match=r"\(height, width\) or .* channels\), not"):
        Job.of(picture(*shape), WEIGHTS)


def test_without_a_third_axis_it_is_one_channel():
    given = picture(4, 5)
    given.flags.writeable = False
    job = Job.of(given, WEIGHTS)
    assert (job.picture.shape, job.channels, job.is_flat) == ((4, 5, 1), 1, True)
    assert job.picture.base is given  # a view, and as little to be written to
    assert not job.picture.flags.writeable
    assert job.but(border="wrap").is_flat
    assert not Job.of(picture(4, 5, 1), WEIGHTS).is_flat
    with pytest.raises(BadJobError, match="several channels"):
        job.but(picture=picture(4, 5, 3))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "float64", "bool", "complex64"])
def test_other_pixel_types_are_refused(dtype):
    with pytest.raises(BadJobError, match=f"uint8, uint16, float16, float32, not {dtype}"):
        Job.of(picture(4, 5, 3, dtype=dtype), WEIGHTS)


@pytest.mark.parametrize("view", [np.s_[::2], np.s_[:, ::2], np.s_[:, :, ::2], np.s_[:, ::-1]])
def test_pictures_with_gaps_are_copied(view):
    given = picture(6, 6, 3)[view]
    job = Job.of(given, WEIGHTS)
    np.testing.assert_array_equal(job.picture, given)
    assert job.picture.flags.c_contiguous
    assert not np.shares_memory(job.picture, given)


@pytest.mark.parametrize("shape", [(2, 2), (4, 4), (3, 5), (9,), (3, 3, 1), (0, 0)])
def test_weights_of_another_shape_are_refused(shape):
    with pytest.raises(BadJobError, match="square with an odd size"):
        Job.of(picture(4, 5, 1), np.ones(shape, np.float32))


@pytest.mark.parametrize(
    "weights", [WEIGHTS.astype(np.float64), WEIGHTS * np.float32(np.nan), WEIGHTS * np.inf]
)
def test_weights_that_are_not_finite_float32_are_refused(weights):
    with pytest.raises(BadJobError, match="finite float32"):
        Job.of(picture(4, 5, 1), weights)


PLAIN = Step(Correlation(WEIGHTS))


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((), "1 to 8 steps, not 0"),
        ((PLAIN,) * 9, "1 to 8 steps, not 9"),
        ((LENGTH, PLAIN), "follows weights"),
        ((PLAIN, LENGTH, LENGTH), "follows weights"),
        ((Step(Correlation(WEIGHTS, 1.0)), LENGTH), "no offset"),
        ((Step(Correlation(WEIGHTS), mix=0.5), LENGTH), "not mixed"),
    ],
)
def test_lists_that_make_no_sense_are_refused(steps, words):
    with pytest.raises(BadJobError, match=words):
        a_job().but(steps=steps)


@pytest.mark.parametrize("threshold", [-1.0, np.nan, np.inf, 1e39])
def test_a_threshold_may_be_large_but_no_less_than_0(threshold):
    assert Step(Correlation(WEIGHTS), threshold=1e6).threshold == 1e6  # unsharp's, times its amount
    with pytest.raises(BadJobError, match="A threshold is at least 0"):
        Step(Correlation(WEIGHTS), threshold=threshold)


def test_eight_filters_may_all_be_gradients():
    job = a_job().but(steps=(PLAIN, LENGTH) * 8)
    assert [run.taken for run in job.runs] == [2, 4, 6, 8, 10, 12, 14, 16]
    assert job.reach == 8 * 2


@pytest.mark.parametrize(
    ("steps", "is_one"),
    [
        ((PLAIN,), True),
        ((PLAIN, LENGTH), True),
        ((PLAIN, PLAIN), False),
        ((PLAIN, LENGTH, PLAIN), False),
        ((Step(Correlation(WEIGHTS), mix=0.5),), False),
        ((PLAIN, replace(LENGTH, mix=0.5)), False),
    ],
)
def test_one_launch_is_one_filter_that_is_not_mixed(steps, is_one):
    assert a_job().but(steps=steps, is_rounded=True).is_one_launch == is_one


def test_weights_that_may_change_are_copied():
    weights = WEIGHTS.copy()
    step = Step(Correlation(weights))
    weights *= 2
    assert (step.filter.weights == 1).all()
    assert Correlation(step.filter.weights).weights is step.filter.weights


@pytest.mark.parametrize(("channels", "has_alpha"), [(1, False), (2, True), (3, False), (4, True)])
def test_it_knows_its_sizes(channels, has_alpha):
    job = Job.of(picture(4, 5, channels, dtype=np.uint16), WEIGHTS)
    assert (job.height, job.width, job.channels, job.has_alpha) == (4, 5, channels, has_alpha)
    assert (job.ksize, job.radius, job.pixel_type) == (3, 1, "uint16")
    assert job.compulsory_bytes == 2 * 4 * 5 * channels * 2


def a_job(name=""):
    return Job.of(picture(4, 5, 2 if name == "opaque" else 1), WEIGHTS)


# A value of each field of a Job or a Step unlike that of `a_job`; one added later needs one, too.
OTHER_VALUES = {
    "picture": picture(4, 5, 1),
    "filter": Correlation(3 * WEIGHTS),
    "weights": 2 * WEIGHTS,
    "border": "wrap",
    "implementation": "opencv",
    "block_xy": (8, 8),
    "title": "Box blur",
    "steps": (Step(Correlation(WEIGHTS)), LENGTH),
    "is_rounded": True,
    "mix": 0.5,
    "threshold": 0.25,
    "is_grey": True,
    "region": Region(1, 1, 2, 2, 1),
    "offset": 3.0,
    "is_flat": True,
    "own": "a kernel's text",
    "devices": 2,
    "strip": RowStrip(0, 4, ((0, 4),), 0, 8),
    "opaque": 255.0,
    "filters_alpha": True,
    "list_way": "graph",
}
FIELDS = [each.name for each in (*fields(Job), *fields(Step), *fields(Correlation))]
# It is done so, or called so.
HOW = {"implementation", "own", "block_xy", "devices", "title", "is_flat", "strip", "list_way"}


@pytest.mark.parametrize("name", FIELDS)
def test_work_and_runs_are_the_same_where_only_what_makes_no_difference_differs(name):
    job = a_job(name)
    other = job.but(**{name: OTHER_VALUES[name]})
    assert job.same_work(other) == other.same_work(job) == (name in HOW)
    assert job.same_run(other) == (name in ("title", "is_flat"))


def test_equal_weights_are_the_same_work_and_equal_pictures_only_for_a_time():
    job = a_job()
    assert job.same_work(job.but(weights=WEIGHTS.copy()))
    assert not job.same_work(job.but(weights=np.ones((5, 5), np.float32)))
    assert not job.same_work(job.but(picture=job.picture.copy()))
    assert job.same_work(job.but(picture=picture(4, 5, 1)), any_content=True)
    for others in (picture(5, 4, 1), picture(4, 5, 1, dtype=np.uint16)):
        assert not job.same_work(job.but(picture=others), any_content=True)
    assert not job.same_work(job.but(border="wrap"), any_content=True)
