"""When there are enough samples, by a clock that does as it is told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.core.job import Sampling
from kernels.core.sampling import SETTLED_FOR, SWEEP_SAMPLING, Sampler
from kernels.core.timing import Timing, relative_spread
from kernels.sweeps.estimate import part_of

PATIENT = Sampling(min_samples=10, max_samples=100, max_seconds=1.0, noise=0.005)


class FakeClock:
    """Stands still but for what is run by it."""

    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


def run(plan, times_ms, clock=None, each_s=0.0):
    """A sampler that was fed `times_ms`, again and again from the start, until it had enough.

    each_s  seconds that pass between two runs, beside what they take
    """
    clock = clock or FakeClock()
    times = iter(times_ms) if not isinstance(times_ms, float) else iter(lambda: times_ms, None)
    sampler = Sampler(next(times), plan, clock=clock)
    while sampler.wants_more():
        run_ms = next(times)
        clock.now_s += run_ms / 1e3 + each_s
        sampler.add(run_ms)
    return sampler.timing()


def test_a_short_first_run_only_warms_up():
    sampler = Sampler(first_ms=1.0, plan=Sampling())
    assert sampler.timing() == Timing((1.0,))
    sampler.add(0.5)
    assert sampler.timing() == Timing((0.5,), warmups=1)


def test_a_first_run_is_no_sample_and_a_sample_that_took_all_the_time_ends_it():
    timing = run(PATIENT, [1.0, 1001.0, 1.0])
    assert timing == Timing((1001.0,), ended="single", warmups=1)
    timing = run(Sampling(max_samples=50, max_seconds=0.1), [90.0] + [5.0] * 50)
    assert timing.samples_ms == (5.0,) * 20
    plan = part_of(SWEEP_SAMPLING, 0)
    assert run(plan, [9000.0, *[15.0] * 50]).median_ms == 15.0  # it compiled something
    assert run(plan, [9000.0, 8000.0]) == Timing((8000.0,), ended="single", warmups=1)
    assert run(Sampling(max_samples=0), 1.0) == Timing((1.0,), ended="single")


def test_what_is_noisy_goes_on_and_a_quiet_moment_is_not_settled():
    noise = np.random.default_rng(4).normal(1.0, 0.03, 1000)
    assert run(PATIENT, noise).ended == "samples"
    assert len(run(PATIENT, noise).samples_ms) == 100
    # Quiet from the eighth sample on, it has to stay so for SETTLED_FOR of them.
    times = [1.0, *([1.0, 1.1] * 3), *([1.0] * 100)]
    timing = run(PATIENT, times)
    loud = next(n for n in range(7, 99) if relative_spread(times[1 : n + 1]) <= 0.005)
    assert timing.ended == "stable"
    assert len(timing.samples_ms) == loud + SETTLED_FOR - 1


@pytest.mark.parametrize("times", [[1.0, 1.3] * 100, np.linspace(1.0, 1.5, 200)])
def test_two_modes_and_drift_are_never_called_stable(times):
    timing = run(PATIENT, times)
    assert timing.ended == "samples"
    assert relative_spread(timing.samples_ms) > PATIENT.noise


def test_warm_ups_are_by_time():
    plan = Sampling(max_samples=2, max_seconds=1.0, warmup_seconds=0.048)
    timing = run(plan, 10.0)
    assert timing.warmups == 5
    quick = run(plan, 0.1, each_s=0.0049)  # a launch takes its time, too
    assert quick.warmups == 11  # 0.1 ms, then ten times 5
    slow = run(plan, 60.0)  # the first run alone is warm-up enough
    assert slow.warmups == 1


def test_a_clock_that_goes_backwards_neither_ends_it_nor_keeps_it_going():
    clock = FakeClock()
    sampler = Sampler(1.0, Sampling(max_samples=5, warmups=2), clock=clock)
    while sampler.wants_more():
        clock.now_s -= 3600
        sampler.add(1.0)
    assert sampler.timing() == Timing((1.0,) * 5, ended="samples", warmups=2)


@given(
    st.lists(st.floats(0.001, 400), min_size=130, max_size=130),
    st.integers(1, 20),
    st.integers(1, 40),
    st.sampled_from([None, 0.005, 0.1]),
)
def test_it_always_ends_within_its_limits_and_drops_nothing(times, least, most, noise):
    plan = Sampling(most, 0.3, min_samples=least, noise=noise, warmups=2)
    timing = run(plan, times)
    count = len(timing.samples_ms)
    assert timing.ended in ("stable", "samples", "time", "single")
    assert timing.samples_ms == tuple(times[timing.warmups : timing.warmups + count])
    if timing.ended == "single":
        assert timing.samples_ms[0] > 300
    else:
        assert min(least, most) <= count <= most
