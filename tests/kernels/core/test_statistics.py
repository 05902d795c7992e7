"""What is said of samples whose truth is known: made up, with drift, two modes and outliers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.core.timing import (
    CONFIDENCE,
    SAME_WITHIN,
    Timing,
    compare,
    groups_of_equals,
    median_interval,
    relative_spread,
)

DURATIONS = st.floats(1e-4, 1e4, allow_nan=False)
SAMPLES = st.lists(DURATIONS, min_size=1, max_size=40).map(tuple)


def noisy(median_ms, spread=0.01, count=30, seed=0):
    """Samples around a known median, with a known quartile range over it."""
    sigma = spread / 1.349  # a normal distribution's quartile range
    return Timing(tuple(median_ms * (1 + sigma * np.random.default_rng(seed).normal(size=count))))


def test_outliers_move_neither_median_nor_spread():
    steady = noisy(1.0, count=40).samples_ms
    disturbed = Timing((*steady, 50.0, 80.0, 300.0))
    assert disturbed.median_ms == pytest.approx(1.0, rel=0.01)
    assert relative_spread(disturbed.samples_ms) < 0.02
    assert disturbed.interval_ms[1] < 1.02


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 25, 60])
def test_the_interval_is_that_of_medians_drawn_one_by_one(count):
    """The middle order statistic, drawn at once, is distributed as the median of a resample."""
    samples = tuple(np.random.default_rng(count).lognormal(size=count))
    drawn = np.random.default_rng(1).choice(np.asarray(samples), (60_000, count))
    edge = 50 * (1 - CONFIDENCE)
    exact = np.percentile(np.median(drawn, axis=1), (edge, 100 - edge))
    width = max(samples) - min(samples)
    np.testing.assert_allclose(median_interval(samples), exact, atol=0.05 * width + 1e-12)


def test_the_interval_holds_the_true_median_about_as_often_as_it_says():
    held = 0
    for seed in range(300):
        low, high = noisy(2.0, spread=0.1, count=25, seed=seed).interval_ms
        held += low <= 2.0 <= high
    assert 0.90 <= held / 300 <= 0.99


@pytest.mark.parametrize("count", range(1, 10))
def test_no_interval_is_said_of_so_few_samples_that_none_would_hold_the_median_as_often(count):
    timing = noisy(2.0, spread=0.1, count=count, seed=count)
    covers_at_most = 1 - 2 * 0.5**count  # from the smallest to the largest of them
    assert (timing.interval_ms is None) == (covers_at_most < CONFIDENCE)
    enough = noisy(2.0, spread=0.1, count=20)
    for found in (compare(timing, enough), compare(enough, timing)):
        assert (found.interval is None) == (covers_at_most < CONFIDENCE)
        assert found.low <= found.ratio <= found.high


@given(SAMPLES)
def test_median_quartiles_and_interval_lie_within_the_samples(samples):
    timing = Timing(samples)
    low, high = timing.interval_ms or (timing.median_ms, timing.median_ms)
    inner = (*timing.quartiles_ms, low, high, timing.median_ms)
    slack = 1e-12 * max(samples)
    assert all(min(samples) - slack <= each <= max(samples) + slack for each in inner)
    assert low <= high


@given(SAMPLES, SAMPLES)
def test_turned_round_a_comparison_says_the_opposite(first, second):
    a, b = Timing(first), Timing(second)
    found, turned = compare(a, b), compare(b, a)
    opposite = {"faster": "slower", "slower": "faster", "same": "same"}
    assert turned.verdict == opposite[found.verdict]
    assert turned.ratio == pytest.approx(1 / found.ratio)
    assert (turned.low, turned.high) == pytest.approx((1 / found.high, 1 / found.low))


def test_a_difference_is_a_known_ratio_beyond_what_clocks_wander():
    found = compare(noisy(1.0, seed=1), noisy(2.0, seed=2))
    assert found.verdict == "faster"
    assert found.low < 2 < found.high
    assert found.high - found.low < 0.05
    steady = Timing((1.0,) * 20)
    assert compare(steady, Timing((1 + SAME_WITHIN / 2,) * 20)).verdict == "same"
    assert compare(steady, Timing((1 + 2 * SAME_WITHIN,) * 20)).verdict == "faster"
    found = compare(Timing((0.0,) * 10), Timing((1.0,) * 10))
    assert found.verdict == "faster"
    assert compare(Timing((0.0,)), Timing((0.0,))).verdict == "same"


def test_equal_distributions_are_hardly_ever_told_apart():
    pairs = [(noisy(1.0, 0.05, 20, seed), noisy(1.0, 0.05, 20, 999 + seed)) for seed in range(200)]
    told_apart = sum(compare(a, b).verdict != "same" for a, b in pairs)
    assert told_apart <= 0.06 * len(pairs)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_too_few_samples_have_to_differ_by_a_lot(count):
    quick = Timing((1.0,) * count)
    assert compare(quick, Timing((1.2,) * count)).verdict == "same"
    assert compare(quick, Timing((1.3,) * count)).verdict == "faster"
    assert compare(Timing((1.3,) * count), quick).verdict == "slower"


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (noisy(1.0, seed=1), noisy(2.0, seed=2), "faster"),
        (noisy(2.0, seed=1), noisy(1.0, seed=2), "slower"),
        (Timing((1.0,) * 10), Timing((1 + SAME_WITHIN,) * 10), "equal within 1 %"),
        (Timing((1 + SAME_WITHIN,) * 10), Timing((1.0,) * 10), "equal within 1 %"),
        (Timing((1.0, 1.5) * 10), Timing((1.02, 1.52) * 10), "equal within noise"),
        (Timing((1.0,)), Timing((1.2,)), "equal within noise"),
        (Timing((1.0, 9.0) * 9), Timing((2.0, 0.5) * 9), "too noisy to tell"),
        (Timing((2.0, 0.5) * 9), Timing((1.0, 9.0) * 9), "too noisy to tell"),
    ],
)
def test_equal_says_whether_by_the_rule_of_one_percent_or_for_noise(a, b, words):
    assert compare(a, b).in_words == words


def test_groups_are_fastest_first_and_equals_share_one():
    timings = {
        "slow": noisy(3.0, seed=1),
        "32×8": noisy(1.0, seed=2),
        "64×4": noisy(1.002, seed=3),
        "16×16": noisy(1.5, seed=4),
    }
    groups = groups_of_equals(timings)
    assert [set(each) for each in groups] == [{"32×8", "64×4"}, {"16×16"}, {"slow"}]


# -- rounds --------------------------------------------------------------------------------------


def in_rounds(medians_ms, each=10, spread=0.001, seed=0):
    """A round around each of `medians_ms`, steady within itself."""
    drawn = np.random.default_rng(seed)
    samples = [m * (1 + spread * drawn.normal(size=each)) for m in medians_ms]
    return Timing(
        tuple(float(ms) for part in samples for ms in part), rounds=(each,) * len(medians_ms)
    )


def test_an_interval_comes_from_rounds_which_differ_by_much_where_they_are_few():
    apart = in_rounds(np.linspace(1.0, 1.3, 10))
    as_if_independent = Timing(apart.samples_ms)
    low, high = apart.interval_ms
    assert high - low > 1.5 * np.subtract(*as_if_independent.interval_ms[::-1])
    assert low < apart.median_ms < high
    assert len(apart.independent_ms) == 10
    few, others = in_rounds((1.0, 1.0, 1.0)), in_rounds((1.15, 1.15, 1.15))
    assert compare(few, others).verdict == "same"
    assert compare(few, in_rounds((1.5, 1.5, 1.5))).verdict == "faster"


def test_what_is_the_same_but_for_its_rounds_is_not_called_different():
    """Two sweeps of the same work, whose rounds each landed somewhere within 20 %."""
    called = {True: 0, False: 0}
    for seed in range(60):
        drawn = np.random.default_rng(seed)
        a, b = (in_rounds(1 + 0.2 * drawn.random(10), seed=seed + n) for n in (0, 1000))
        for has_rounds in called:
            one, other = (a, b) if has_rounds else (Timing(a.samples_ms), Timing(b.samples_ms))
            called[has_rounds] += compare(one, other).verdict != "same"
    assert called[True] <= 5
    assert called[False] > 10  # what samples taken for independent make of it


def test_the_ratio_lies_in_its_interval_whatever_the_rounds():
    drawn = np.random.default_rng(5)
    for _ in range(200):
        a, b = (in_rounds(1 + drawn.random(10), each=int(drawn.integers(1, 4))) for _ in range(2))
        found = compare(a, b)
        assert found.low <= found.ratio <= found.high
        assert a.interval_ms[0] <= a.median_ms <= a.interval_ms[1]
