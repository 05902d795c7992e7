"""Times of rungs, recorded and measured here."""

from dataclasses import replace

import numpy as np
import pytest

from kernels import filters
from kernels.core.cpu_load import Load
from kernels.core.job import Job
from kernels.rungs.rung import ladder
from tests.made_up import a_job, implementations, result
from workbench.model.rung_times import RungTimes, all_recorded_times, ladder_places, recorded_times

JOB = Job.of(
    picture=np.zeros((512, 768, 3), np.uint8),
    weights=filters.get("gaussian").weights(15),
    border="clamp",
    implementation="shared",
)


def test_the_built_in_picture_was_measured():
    found = recorded_times()
    times = found.of_work(JOB)
    assert found.device.startswith("NVIDIA ")
    assert {"global", "shared", "tile_separable", "opencv"} <= set(times)
    assert set(times) - {"opencv"} <= {each.key for each in ladder()}
    assert times["global"].median_ms > times["shared"].median_ms > times["tile_separable"].median_ms
    assert times["shared"].block_xy == (32, 8)
    assert times["tile_separable"].block_xy is None  # it has one of its own
    low, high = times["shared"].quartiles_ms
    assert low <= times["shared"].median_ms <= high


@pytest.mark.parametrize(
    "changes",
    [
        {"border": "wrap"},
        {"picture": np.zeros((512, 768, 1), np.uint8)},
        {"weights": filters.get("gaussian").weights(17)},
        {"offset": 0.5},
    ],
)
def test_other_work_was_not(changes):
    assert recorded_times().of_work(JOB.but(**changes)) == {}


def test_of_several_block_shapes_the_usual_one_stands_on_the_ladder():
    picture = np.zeros((2048, 2048, 1), np.float32)
    job = Job.of(picture, filters.get("gaussian").weights(5), "clamp", "shared")
    assert all_recorded_times().of_work(job)["shared"].block_xy == (32, 8)


@pytest.mark.parametrize(
    ("shape", "ksize", "pixel_type"),
    [((512, 768, 3), 15, np.uint8), ((2048, 2048, 1), 5, np.float32)],
)
def test_times_that_stand_beside_each_other_are_of_one_gpu(shape, ksize, pixel_type):
    job = JOB.but(
        picture=np.zeros(shape, pixel_type), weights=filters.get("gaussian").weights(ksize)
    )
    times = all_recorded_times().of_work(job)
    rungs = {each.key for each in ladder()} & times.keys()
    assert len(rungs) > 2
    assert len({times[key].where for key in rungs}) == 1
    assert all("H200" in times[key].where for key in rungs)


def test_a_disturbed_time_has_a_star_that_says_by_what():
    times, busy = RungTimes(), Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)
    found = result("opencv", (2.0,) * 6, load=busy)
    times.add_result(found)
    (line,) = ladder_places([(implementations()["opencv"], None)], times, found.job, "cold")
    assert line.time.duration.endswith("ms*")
    said = line.in_words.splitlines()
    assert said[0].endswith("ms*")
    assert any("2.0 of 2 cores" in each for each in said)


def test_a_time_on_several_gpus_is_one_of_several_gpus():
    times, job = RungTimes(), a_job("shared")
    times.add_result(result(samples_ms=(1.0,), job=job.but(devices=2)))
    assert times.of_work(job, "cold") == {}
    times.add_result(result(samples_ms=(2.0,), job=job))
    times.add_result(result(samples_ms=(3.0,), job=replace(a_job("opencv"), devices=2)))
    assert times.of_work(job, "cold")["shared"].median_ms == 2.0
    several = times.of_work(job.but(devices=2), "cold")
    assert (several["shared"].median_ms, several["opencv"].median_ms) == (1.0, 3.0)
