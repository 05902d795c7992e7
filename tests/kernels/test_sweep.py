"""Sweeps: every cell becomes a point, in order, and nothing but a lost device ends them."""

import csv
import io

import numpy as np
import pytest

from kernels import filters, sweep
from kernels.engine import Engine
from kernels.errors import (
    CannotRunError,
    CompileFailedError,
    DeviceLostError,
    OutOfMemoryError,
)
from kernels.job import Job, Progress, Sampling
from kernels.pictures import noise
from kernels.sweep import Measurement, SweepPlan, SweepPoint, sweeping, write_csv
from tests.made_up import FAILED, IMPLEMENTATIONS, PASSED, PICTURE, result

QUICK = Sampling(max_samples=2, max_seconds=0.01)


class FakeEngine:
    """Answers each job at once; raises what `refuse` returns for it."""

    def __init__(self, refuse=lambda job: None, check=PASSED):
        self.jobs: list[Job] = []
        self.closed = 0
        self._refuse, self._check = refuse, check

    def filtering(self, job, sampling):
        self.jobs.append(job)
        try:
            yield Progress("filtering")
            if error := self._refuse(job):
                raise error
            yield result(job=job, check=None)
            yield Progress("checking against the oracle")
            yield result(job=job, check=self._check)
        finally:
            self.closed += 1


def plan(dimension="image size", values=(8, 16), keys=("opencv", "shared"), picture=PICTURE):
    return SweepPlan(
        dimension=dimension,
        values=values,
        implementations=tuple(IMPLEMENTATIONS[key] for key in keys),
        picture=picture,
        weights=filters.get("box").weights,
        ksize=5,
        border="mirror",
        block_xy=(16, 16),
        filter_title="Box",
    )


def points(plan, engine, sampling=QUICK):
    return [step for step in sweeping(plan, engine, sampling) if isinstance(step, SweepPoint)]


def test_every_value_is_measured_with_every_implementation_in_turn():
    found = points(plan(), FakeEngine())
    assert [p.name for p in found] == [
        *("OpenCV 8²", "Shared-memory tile 8²", "OpenCV 16²", "Shared-memory tile 16²"),
    ]
    assert all(p.verified for p in found)


def test_image_sizes_are_noise_with_the_channels_and_pixel_type_of_the_picture():
    engine = FakeEngine()
    points(plan(values=(8,), picture=np.zeros((3, 4, 2), np.uint16)), engine)
    np.testing.assert_array_equal(engine.jobs[0].picture, noise(8, 8, 2, "uint16"))
    assert not engine.jobs[0].picture.flags.writeable  # so that it may stay on the device


def test_implementations_share_the_picture_of_a_size():
    engine = FakeEngine()
    points(plan(), engine)
    assert engine.jobs[0].picture is engine.jobs[1].picture
    assert engine.jobs[1].picture is not engine.jobs[2].picture


def test_kernel_sizes_vary_the_weights_and_nothing_else():
    engine = FakeEngine()
    points(plan("kernel size", (3, 7), ("shared",)), engine)
    assert [job.ksize for job in engine.jobs] == [3, 7]
    assert all(job.picture is PICTURE and job.block_xy == (16, 16) for job in engine.jobs)
    assert {job.border for job in engine.jobs} == {"mirror"}


def test_block_shapes_are_nothing_to_the_cpu_so_it_is_measured_once():
    engine = FakeEngine()
    found = points(plan("block shape", ((8, 8), (32, 8))), engine)
    assert [p.name for p in found] == [
        *("OpenCV", "Shared-memory tile 8×8", "Shared-memory tile 32×8"),
    ]
    assert [job.block_xy for job in engine.jobs[1:]] == [(8, 8), (32, 8)]
    assert all(job.ksize == 5 for job in engine.jobs)


def test_progress_says_which_point_of_how_many():
    said = [step.doing for step in sweeping(plan(), FakeEngine(), QUICK) if type(step) is Progress]
    assert said[0] == "1 of 4 · OpenCV 8²"
    assert said[-1] == "4 of 4 · Shared-memory tile 16²"
    assert len(set(said)) == 4


@pytest.mark.parametrize("error", [CannotRunError, OutOfMemoryError, CompileFailedError])
def test_a_cell_that_cannot_be_measured_becomes_a_point_with_its_reason(error):
    engine = FakeEngine(lambda job: error("It will not.") if job.width == 8 else None)
    found = points(plan(keys=("shared",)), engine)
    assert [p.objection for p in found] == ["It will not.", None]
    assert [p.verified is None for p in found] == [True, False]


def test_a_size_the_filter_does_not_have_is_refused_in_its_words():
    found = points(plan("kernel size", (3, 4), ("shared",)), FakeEngine())
    assert found[1].objection == "Box blur has no size 4; it takes odd sizes from 1 to 127."


def test_a_picture_too_large_for_memory_is_refused_and_the_sweep_goes_on(monkeypatch):
    def too_large(height, width, channels, pixel_type):
        if height > 8:
            raise MemoryError
        return np.zeros((height, width, channels), pixel_type)

    monkeypatch.setattr(sweep, "noise", too_large)
    found = points(plan(values=(16, 8), keys=("shared",)), FakeEngine())
    assert found[0].objection.startswith("A picture of 16×16 pixels does not fit into memory")
    assert found[1].verified


def test_a_lost_device_ends_the_sweep():
    engine = FakeEngine(lambda job: DeviceLostError("The GPU failed."))
    with pytest.raises(DeviceLostError):
        points(plan(), engine)


def test_a_wrong_answer_is_a_point_but_no_speed():
    (found,) = points(plan(values=(8,), keys=("shared",)), FakeEngine(check=FAILED))
    assert found.verified is None
    assert "WRONG in 12 samples" in found.objection


def test_an_answer_nobody_checked_is_no_speed_either():
    (found,) = points(plan(values=(8,), keys=("shared",)), FakeEngine(check=None))
    assert found.verified is None
    assert found.objection == "Its answer was not checked."


def test_stopping_a_sweep_stops_the_job_under_way():
    engine = FakeEngine()
    steps = sweeping(plan(), engine, QUICK)
    while not engine.jobs:
        next(steps)
    steps.close()
    assert len(engine.jobs) == engine.closed == 1


def test_no_picture_is_kept_with_a_point():
    (found,) = points(plan(values=(8,), keys=("shared",)), FakeEngine())
    assert isinstance(found.outcome, Measurement)
    kept = [getattr(found.outcome, name) for name in Measurement.__slots__]
    assert not any(isinstance(each, np.ndarray | Job) for each in kept)


def test_the_cpu_really_sweeps():
    wanted = plan("kernel size", (1, 3), ("sequential", "opencv"), np.ones((20, 30, 3), np.uint8))
    found = points(wanted, Engine(use_gpu=False))
    assert [p.name for p in found] == [
        *("Sequential 1×1", "OpenCV 1×1", "Sequential 3×3", "OpenCV 3×3"),
    ]
    assert all(p.verified and p.verified.kernel.median_ms > 0 for p in found)


def test_without_a_gpu_its_implementations_say_why():
    (found,) = points(plan(values=(8,), keys=("shared",)), Engine(use_gpu=False))
    assert found.objection == "The GPU was switched off with --no-gpu."


def rows(found, same=None):
    file = io.StringIO(newline="")
    write_csv(found, file, same)
    return list(csv.DictReader(io.StringIO(file.getvalue())))


def test_csv_has_a_row_for_each_point_that_says_what_was_measured():
    engine = FakeEngine()
    row = rows(points(plan("block shape", ((32, 8),), ("shared",)), engine))[0]
    assert (row["implementation"], row["varied"], row["value"]) == (
        *("shared", "block shape", "32x8"),
    )
    assert (row["height"], row["width"], row["channels"]) == ("100", "200", "3")
    assert (row["block_x"], row["block_y"], row["kernel_size"]) == ("32", "8", "5")
    assert float(row["median_ms"]) == pytest.approx(0.2)
    assert float(row["megapixels_per_s"]) == pytest.approx(100)
    assert (row["check"], row["cache"], row["note"]) == ("passed", "cold", "")


def test_csv_gives_no_rate_to_a_wrong_answer_and_a_reason_to_a_refused_cell():
    wrong = rows(points(plan(values=(8,)), FakeEngine(check=FAILED)))[0]
    assert (wrong["check"], wrong["megapixels_per_s"]) == ("wrong", "")
    assert "WRONG" in wrong["note"]
    refusing = FakeEngine(lambda job: CannotRunError("No, really."))
    refused = rows(points(plan(values=(8,)), refusing))[0]
    assert (refused["value"], refused["median_ms"], refused["note"]) == ("8", "", "No, really.")


def test_csv_has_no_block_for_the_cpu():
    cpu, gpu = rows(points(plan("block shape", ((32, 8),)), FakeEngine()))
    assert (cpu["block_x"], cpu["block_y"], cpu["threads"]) == ("", "", "2")
    assert (gpu["block_x"], gpu["block_y"], gpu["threads"]) == ("32", "8", "")


def test_csv_has_what_all_points_share_in_every_row_also_a_refused_one():
    refusing = FakeEngine(lambda job: CannotRunError("No.") if job.width == 8 else None)
    found = rows(points(plan(), refusing), {"sigma": 1.5, "cpu": "A CPU, 2 cores"})
    assert {(row["sigma"], row["amount"], row["cpu"]) for row in found} == {
        ("1.5", "", "A CPU, 2 cores")
    }


def test_csv_has_six_digits_of_a_time():
    points_ = [
        SweepPoint("image size", IMPLEMENTATIONS["opencv"], 8, Measurement.of(each))
        for each in (result("opencv", (0.12345678,)), result("opencv", (1234567.8,)))
    ]
    assert [row["median_ms"] for row in rows(points_)] == ["0.123457", "1234570.0"]
