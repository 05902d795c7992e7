"""A sweep leaves a record a cell, whatever comes of it, and may be paused, stopped and resumed."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kernels import Engine
from kernels.core.device import Occupancy
from kernels.core.errors import CompileFailedError, DeviceLostError, OutOfMemoryError
from kernels.core.job import Progress, Result, Sampling
from kernels.core.timing import Timing, compare
from kernels.cuda.device_pictures import Transfers
from kernels.oracle import checking
from kernels.sweeps import estimate, plan_run
from kernels.sweeps.estimate import ROUNDS, estimated_s, place_in
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Measurement, Record
from tests.kernels.made_up_gpu import TimedEngine

QUICK = Sampling(max_samples=3, max_seconds=0.05, check_taps=200_000)
SMALL = ((40, 30),)


@pytest.fixture
def made_up(tmp_path):
    """Makes an engine with a made-up GPU; see `OnGpu`."""
    return lambda *arguments, **named: OnGpu(tmp_path / "measurements.json", *arguments, **named)


class OnGpu(TimedEngine):
    """With transfers and an occupancy, where those do not fail."""

    asked_for_transfers = 0
    cannot_transfer = None

    def transfers(self, job):
        self.asked_for_transfers += 1
        yield Progress("copying")
        if self.cannot_transfer:
            raise self.cannot_transfer
        times = (Timing((ms, ms)) for ms in (4.0, 3.0, 2.0, 1.0))
        yield Transfers(job.picture.nbytes, *times)

    def occupancy(self, job):
        return Occupancy(4, 32, 64, "Registers.")


def plan(*implementations, **lists):
    made = Plan("Test", implementations, sizes=SMALL, sampling=QUICK)
    return replace(made, **lists)


def records(plan, engine, **how):
    """The last record of each cell, in the plan's order."""
    found = [each for each in sweeping(plan, engine, **how) if isinstance(each, Record)]
    assert all(each.is_complete for each in {each.cell: each for each in found}.values())
    return list({each.cell: each for each in found}.values())


def on_cpu():
    return Engine(use_gpu=False)


def test_every_cell_becomes_a_record_in_order():
    made = plan("sequential", "opencv", ksizes=(3, 5))
    found = records(made, on_cpu())
    assert [each.cell for each in found] == list(made.cells())
    for each in found:
        assert isinstance(each.verified, Measurement)
        assert len(each.verified.kernel.samples_ms) == 3
        assert each.verified.check.is_full
        assert each.verified.compulsory_bytes == 2 * 40 * 30 * 4
        assert abs(each.at - time.time()) < 60


def test_the_oracle_is_asked_once_for_all_implementations(monkeypatch):
    asked = asked_of_the_oracle(monkeypatch)
    found = records(plan("sequential", "opencv", ksizes=(3, 5)), on_cpu())
    assert all(each.verified for each in found)
    assert len(asked) == len(set(asked))
    assert {ksize for ksize, *_ in asked} == {3, 5}


def asked_of_the_oracle(monkeypatch):
    """Return a list to which the kernel size, rows and columns of every request are added."""
    asked, filtered = [], checking.filtered

    def noted(job, rows, columns):
        asked.append((job.ksize, rows, columns))
        return filtered(job, rows, columns)

    monkeypatch.setattr(checking, "filtered", noted)
    return asked


def test_a_wrong_answer_is_no_speed_and_what_fails_is_said_and_the_rest_goes_on(made_up):
    made = plan("global", "shared", pixel_types=("uint8",))
    right, wrong = records(made, made_up(wrong=("shared",)))
    assert right.verified
    assert wrong.verified is None
    assert "WRONG" in wrong.objection
    engine = made_up(fails={"global": CompileFailedError("It did not compile.")})
    first, second = records(plan("global", "shared"), engine)
    assert first.outcome == "It did not compile."
    assert second.verified


def test_what_a_plan_says_not_to_check_is_no_speed():
    (found,) = records(plan("opencv", sampling=replace(QUICK, check=False)), on_cpu())
    assert found.outcome.check is None
    assert found.verified is None
    assert "not checked" in found.objection


def test_kernels_are_compiled_before_the_first_is_measured_but_not_all_at_once(
    made_up, monkeypatch
):
    monkeypatch.setattr(plan_run, "CELLS_AHEAD", 3)
    engine = made_up()
    counts = []
    for step in sweeping(plan("global", "shared", ksizes=(3, 5, 7, 9)), engine):
        if isinstance(step, Record):
            counts.append(len(engine.compiled))
    assert counts == [3, 3, 3, 6, 6, 6, 8, 8, *[8] * 16]  # in the first round, and once


def test_what_a_smaller_one_shows_to_be_hopeless_is_not_begun(made_up):
    engine = made_up({"global": 400.0, "shared": 1.0})
    sizes = ((20, 20), (40, 40), (200, 200), (400, 400))
    made = plan("global", "shared", sizes=sizes, cell_seconds=1.0)
    found = {(each.cell.implementation, each.cell.width): each for each in records(made, engine)}
    assert found["global", 40].verified  # 1.6 s, not far beyond what it has
    for told in ("Not begun", "40²", "10 s", "1 s"):
        assert told in found["global", 200].outcome
    assert found["global", 400].outcome.startswith("Not begun: 40² would have this take")
    assert found["shared", 400].verified


def test_several_pictures_are_timed_one_after_another(made_up):
    engine = made_up({"shared": 2.0})
    one, four = records(plan("shared", counts=(1, 4), pixel_types=("uint8",)), engine)
    assert one.verified.kernel.samples_ms == (2.0,) * 3
    assert four.verified.kernel.samples_ms == (8.0,) * 3
    assert four.verified.check.total == 4 * one.verified.check.total
    assert four.verified.check.samples == 4 * one.verified.check.samples > 0
    assert four.verified.compulsory_bytes == 4 * one.verified.compulsory_bytes
    assert four.cell.megapixels == 4 * one.cell.megapixels


def wrong_at(engine, run):
    """Have an engine's answer be wrong in its run of this number alone."""

    class WrongOnce(OnGpu):
        def filtering(self, job, sampling=None):
            for step in super().filtering(job, sampling):
                if isinstance(step, Result) and len(self.ran) == run:
                    step = replace(step, picture=np.bitwise_not(step.picture))
                yield step

    engine.__class__ = WrongOnce
    return engine


def test_one_wrong_answer_of_many_or_of_the_last_round_is_found(made_up):
    engine = wrong_at(made_up(), 2)
    (found,) = records(plan("shared", counts=(3,), pixel_types=("uint8",)), engine)
    assert len(engine.ran) == 9  # and right ever after
    assert not found.verified
    assert found.outcome.check.total == 3 * 40 * 30
    (found,) = records(plan("shared", pixel_types=("uint8",)), wrong_at(made_up(), 3))
    assert not found.verified


def test_transfers_are_measured_once_a_size(made_up):
    engine = made_up()
    made = plan("opencv", "global", "shared", ksizes=(3, 5), counts=(1, 3), transfers=True)
    found = records(made, engine)
    assert engine.asked_for_transfers == 1
    for each in found:
        transfers = each.verified.transfers
        if each.cell.implementation == "opencv":
            assert transfers is None
        else:
            assert transfers.picture_bytes == each.cell.count * 40 * 30 * 4
            assert transfers.pageable_up.median_ms == each.cell.count * 4.0
            assert each.verified.occupancy == Occupancy(4, 32, 64, "Registers.")


def test_where_transfers_fail_the_kernel_s_time_stays(made_up):
    engine = made_up()
    engine.cannot_transfer = OutOfMemoryError("No room.")
    found = records(plan("global", "shared", transfers=True), engine)
    assert [each.verified.transfers for each in found] == [None, None]
    assert engine.asked_for_transfers == 1


def test_on_a_device_that_was_lost_before_no_cell_is_called_refused(made_up):
    engine = made_up()

    def lost():
        raise DeviceLostError("The GPU failed; restart the program.")

    engine.gpu = SimpleNamespace(ceilings=lost)
    with pytest.raises(DeviceLostError):
        Engine.ceilings(engine)

    def filtering(job, sampling=None):
        yield from Engine.filtering(engine, job, sampling)

    engine.filtering = filtering
    with pytest.raises(DeviceLostError, match="restart the program"):
        records(plan("shared"), engine)


# -- rounds --------------------------------------------------------------------------------------


def parts(plan, engine, **how):
    """All records, in the order in which they came."""
    return [each for each in sweeping(plan, engine, **how) if isinstance(each, Record)]


def test_every_cell_is_measured_a_part_at_a_time_and_the_others_between():
    made = plan(
        "sequential",
        "opencv",
        ksizes=(3, 5),
        sampling=replace(QUICK, max_samples=20, max_seconds=60.0),
    )
    found = parts(made, on_cpu())
    cells = made.cells()
    rounds = [[each.cell for each in found[n : n + 4]] for n in range(0, len(found), 4)]
    assert len(rounds) == ROUNDS
    assert rounds[0] == list(cells)
    assert all(set(each) == set(cells) for each in rounds)
    assert len({tuple(each) for each in rounds}) > 5  # shuffled
    for number, each in enumerate(found):
        timing = each.verified.kernel
        assert timing.rounds == (2,) * (number // 4 + 1)
        assert len(timing.samples_ms) == sum(timing.rounds)
        assert each.is_complete == (number >= 36)
    assert {each.verified.kernel.ended for each in found[36:]} == {"samples"}


def test_drift_hits_all_alike_and_shows_in_the_interval(made_up):
    """A computer that is half as fast in every other round."""

    class Drifting(OnGpu):
        def filtering(self, job, sampling=None):
            self.times_ms = dict.fromkeys(("global", "shared"), 1.0 + len(self.ran) // 2 % 2)
            yield from super().filtering(job, sampling)

    engine = made_up()
    engine.__class__ = Drifting
    steady = Sampling(max_samples=100, max_seconds=10.0, check_taps=1000)
    one, other = (
        each.verified.kernel for each in records(plan("global", "shared", sampling=steady), engine)
    )
    assert compare(one, other).verdict == "same"
    assert one.rounds == (10,) * 10
    assert (one.median_ms, one.interval_ms) == (1.5, (1.0, 2.0))


def test_what_was_left_in_any_round_is_gone_on_with_and_nothing_counts_twice():
    made = plan("sequential", "opencv", ksizes=(3, 5))
    whole = parts(made, on_cpu())
    for count in (0, 1, 5, 8, len(whole)):
        kept = {each.cell: each for each in whole[:count]}
        rest = parts(made, on_cpu(), before=kept.values())
        assert len(rest) == len(whole) - count
        for cell, last in ({**kept, **{each.cell: each for each in rest}}).items():
            assert last.is_complete
            assert last.verified.kernel.rounds == (1, 1, 1)
            before = kept[cell].verified.kernel.samples_ms if cell in kept else ()
            assert last.verified.kernel.samples_ms[: len(before)] == before


# -- estimates: right by magnitude before, put right by what was measured


CPU = Cell("sequential", ksize=5, width=2048, height=2048)
GPU = Cell("shared", (32, 8), ksize=5, width=2048, height=2048, cache="cold")
ONCE = Sampling(max_samples=1, max_seconds=0.0)


def seen(cell, at, median_ms=10.0):
    return Record(cell, Measurement(Timing((median_ms,)), (), None), at)


def of_size(cell, side):
    return Cell(cell.implementation, cell.block_xy, ksize=5, width=side, height=side)


def test_more_work_takes_longer_and_the_cpu_s_pace_says_nothing_of_the_gpu_s():
    one = estimated_s([CPU])
    assert estimated_s([CPU, CPU]) == pytest.approx(2 * one)
    assert estimated_s([of_size(CPU, 8192)], sampling=ONCE) > estimated_s([CPU], sampling=ONCE)
    larger = Cell("sequential", ksize=15, width=2048, height=2048)
    assert estimated_s([larger], sampling=ONCE) > estimated_s([CPU], sampling=ONCE)
    assert estimated_s([GPU]) < one
    slow = [seen(of_size(CPU, 1000 + n), at=100.0 * n) for n in range(5)]
    assert estimated_s([GPU], slow) == estimated_s([GPU])
    assert estimated_s([CPU], slow) > 10 * estimated_s([CPU])


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
