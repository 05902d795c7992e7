"""What samples say, and when there are enough of them."""

from __future__ import annotations

import pytest

from kernels.job import Sampling
from kernels.sampling import Sampler
from kernels.timing import Timing


def test_median_and_quartiles_are_the_usual_ones():
    timing = Timing((5.0, 1.0, 2.0, 4.0, 3.0))
    assert timing.median_ms == 3
    assert timing.quartiles_ms == (2, 4)


def test_one_sample_is_its_own_median_and_quartiles():
    timing = Timing((7.0,), "cold")
    assert (timing.median_ms, timing.quartiles_ms) == (7, (7, 7))


def test_a_short_first_run_only_warms_up():
    sampler = Sampler(first_ms=1.0, plan=Sampling())
    assert sampler.timing().samples_ms == (1,)
    sampler.add(0.5)
    assert sampler.timing().samples_ms == (0.5,)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_it_ends_at_the_number_asked_for(most):
    sampler = Sampler(first_ms=0.001, plan=Sampling(max_samples=most, max_seconds=100))
    while sampler.wants_more():
        sampler.add(0.001)
    assert len(sampler.timing().samples_ms) == most


def test_it_ends_before_the_time_is_over():
    sampler = Sampler(first_ms=30.0, plan=Sampling(max_samples=100, max_seconds=0.1))
    while sampler.wants_more():
        sampler.add(30.0)
    assert sampler.timing().samples_ms == (30, 30, 30)


def test_a_run_that_takes_all_the_time_is_the_sample():
    sampler = Sampler(first_ms=500.0, plan=Sampling(max_seconds=0.2))
    assert not sampler.wants_more()
    assert sampler.timing().samples_ms == (500,)


def test_a_slow_first_run_does_not_end_it_if_the_next_are_quick():
    sampler = Sampler(first_ms=90.0, plan=Sampling(max_samples=50, max_seconds=0.1))
    while sampler.wants_more():
        sampler.add(5.0)
    assert sampler.timing().samples_ms == (5.0,) * 20


def test_the_cache_is_part_of_the_timing():
    assert Sampler(1.0, Sampling(), cache="warm").timing().cache == "warm"
