"""The times that came with the program, and what they are looked up by."""

from dataclasses import replace

import numpy as np
import pytest

from kernels import filters
from kernels.core.job import Job
from kernels.rungs.rung import ladder
from workbench.model.recorded_times import all_recorded_times, recorded_times

JOB = Job(
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
    assert recorded_times().of_work(replace(JOB, **changes)) == {}


def test_of_several_block_shapes_the_usual_one_stands_on_the_ladder():
    picture = np.zeros((2048, 2048, 1), np.float32)
    job = Job(picture, filters.get("gaussian").weights(5), "clamp", "shared")
    assert all_recorded_times().of_work(job)["shared"].block_xy == (32, 8)
