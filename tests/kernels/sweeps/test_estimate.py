"""Estimates are of the right order before, and put right by what was measured."""

from dataclasses import replace

import pytest

from kernels.core.job import Sampling
from kernels.core.timing import Timing
from kernels.sweeps import estimate
from kernels.sweeps.estimate import ROUNDS, estimated_s, place_in
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Measurement, Record

CPU = Cell("sequential", ksize=5, width=2048, height=2048)
GPU = Cell("shared", (32, 8), ksize=5, width=2048, height=2048, cache="cold")
ONCE = Sampling(max_samples=1, max_seconds=0.0)


def seen(cell, at, median_ms=10.0):
    return Record(cell, Measurement(Timing((median_ms,)), (), None), at)


def of_size(cell, side):
    return Cell(cell.implementation, cell.block_xy, ksize=5, width=side, height=side)


def test_more_cells_larger_pictures_and_larger_weights_take_longer():
    one = estimated_s([CPU])
    assert estimated_s([CPU, CPU]) == pytest.approx(2 * one)
    assert estimated_s([of_size(CPU, 8192)], sampling=ONCE) > estimated_s([CPU], sampling=ONCE)
    larger = Cell("sequential", ksize=15, width=2048, height=2048)
    assert estimated_s([larger], sampling=ONCE) > estimated_s([CPU], sampling=ONCE)
    assert estimated_s([GPU]) < one


@pytest.mark.parametrize(
    ("key", "implementation", "run_s"),  # of 9×9 on 4 megapixels, on two cores of an EPYC
    [("median", "parallel", 10), ("bilateral", "parallel", 1), ("bilateral", "opencv", 0.27)],
)
def test_filters_without_weights_take_longer_on_a_cpu(key, implementation, run_s, monkeypatch):
    monkeypatch.setattr(estimate, "usable_cores", lambda: 2)
    cell = Cell(implementation, filter=key, ksize=9, width=2048, height=2048)
    assert run_s / 3 < estimated_s([cell], sampling=ONCE) / 2 < run_s * 3  # with its warm-up


def test_what_was_measured_puts_the_model_right():
    """Ten times slower than the model has it, whatever the reason."""
    cells = [of_size(CPU, side) for side in range(1000, 1020)]
    usual = estimated_s(cells[:1], sampling=ONCE)
    records = [seen(cell, at=10 * usual * n) for n, cell in enumerate(cells)]
    known = estimated_s([of_size(CPU, 1000)], records, ONCE)
    run = estimated_s([of_size(CPU, 1000)], records[:1], ONCE)
    assert known == pytest.approx(run * 10 * usual / run, rel=0.1)


@pytest.mark.parametrize(("run_ms", "first_s", "ended"), [(6e4, 120, "single"), (1, 0.09, "")])
def test_a_first_round_as_long_as_the_model_has_it_puts_nothing_right(run_ms, first_s, ended):
    first = Measurement(Timing((run_ms,), rounds=(1,), ended=ended), (), None)
    records = [Record(of_size(CPU, 1000), first, first_s * n) for n in range(5)]
    known = [seen(CPU, 0.0, run_ms * CPU.megapixels)]
    whole_s = estimated_s([of_size(CPU, 1001)], known)
    assert estimated_s([of_size(CPU, 1001)], records) == pytest.approx(whole_s, rel=0.1)


def test_first_rounds_that_take_long_say_nothing_of_later_ones():
    cells = [of_size(CPU, 1000 + side) for side in range(10)]
    part = Measurement(Timing((10.0,), rounds=(1,)), (), None)
    records = [Record(cell, part, 2.0 * n) for n, cell in enumerate(cells)]
    at_once = [replace(each, at=0.0) for each in records]
    assert estimated_s(cells, records) == estimated_s(cells, at_once)
    new = of_size(CPU, 1010)
    more_s = estimated_s([new], records) - estimated_s([new], at_once)
    assert 1.5 < more_s < 2.0


def test_the_cpu_s_pace_says_nothing_of_the_gpu_s():
    slow = [seen(of_size(CPU, 1000 + n), at=100.0 * n) for n in range(5)]
    assert estimated_s([GPU], slow) == estimated_s([GPU])
    assert estimated_s([CPU], slow) > 10 * estimated_s([CPU])


def test_each_step_of_a_list_is_sampled_and_on_a_gpu_the_whole_as_well():
    eight = " + ".join(["gaussian:5"] * 8)
    cpu, gpu = (replace(each, list=eight, width=1024, height=1024) for each in (CPU, GPU))
    assert 1.2 < estimated_s([cpu], [seen(cpu, 0.0, 6.3)]) < 1.4  # as it took
    two = replace(gpu, devices=2)
    in_one_go, summed = (estimated_s([each], [seen(each, 0.0, 6.3)]) for each in (gpu, two))
    assert 0.6 < in_one_go - summed < 0.9  # 100 samples of it


def test_rounds_that_are_behind_take_no_more_time():
    whole = estimated_s([CPU])
    left = [whole]
    for done in range(1, ROUNDS):
        timing = Timing((10.0,) * done, rounds=(1,) * done)
        left.append(estimated_s([CPU], [Record(CPU, Measurement(timing, (), None))]))
    assert left[1:] == sorted(left[1:], reverse=True)
    assert left[-1] == pytest.approx(left[1] / (ROUNDS - 1), rel=0.01)
    assert left[-1] > 0


def test_how_far_a_sweep_is_counts_what_was_measured_once():
    cells = [of_size(CPU, side) for side in range(1000, 1015)]
    part = Measurement(Timing((1.0,), rounds=(1,)), (), None)
    once = [Record(cell, part, 0.0) for cell in cells]
    assert place_in(cells, [], Sampling()) == "0 of 15 in round 1 of 10"
    assert place_in(cells, once[:7], Sampling()) == "7 of 15 in round 1 of 10"
    twice = Measurement(Timing((1.0, 1.0), rounds=(1, 1)), (), None)
    again = [Record(cell, twice, 0.0) for cell in cells[:4]]
    assert place_in(cells, [*once, *again], Sampling()) == "4 of 15 in round 2 of 10"
    assert place_in(cells, [seen(cell, 0.0) for cell in cells], Sampling()) == "15 of 15"
