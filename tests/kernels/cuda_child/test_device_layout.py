"""The memory of a run: arrays that do not touch, red zones all around, poison everywhere else."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.core.poison import RED_BYTES
from kernels.cuda_child.device_layout import layout_of, packed, unwritten
from kernels.rungs.rung import ladder
from tests.kernels.cuda_child.bad_texts import BLUR
from tests.made_up import H200

RUNGS = {each.key: each for each in ladder()}


@pytest.mark.parametrize("key", ["global", "separable", "fft_registers"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_every_byte_is_of_an_array_or_of_a_red_zone(key, dtype):
    job = Job(np.full((37, 61, 3), 9, dtype), BLUR)
    layout = layout_of(RUNGS[key], job, H200)
    assert set(layout.places) == {"source", "target", *(name for name, _ in RUNGS[key].buffers)}
    covered = np.zeros(layout.size, np.uint8)
    for begin, end in (*layout.places.values(), *(zone for zone, _ in layout.red_zones())):
        covered[begin:end] += 1
    assert (covered == 1).all()
    for begin, end in layout.places.values():
        assert begin % 256 == 0
        for other, until in layout.places.values():
            assert begin == other or end + RED_BYTES <= other or until + RED_BYTES <= begin


def test_what_is_laid_in_is_seen_and_every_byte_beside_it_as_well():
    picture = np.random.default_rng(2).integers(0, 255, (5, 7, 1), np.uint8)
    job = Job(picture, BLUR)
    layout = layout_of(RUNGS["global"], job, H200)
    block = np.empty(layout.size, np.uint8)
    for turn in (0, 1):
        layout.fill(block, job, turn)
        source, target = (layout.array(block, name, job) for name in ("source", "target"))
        assert (packed(source, job) == picture).all()
        assert (source[:, 7:] == 0xFF).all()
        assert (packed(target, job) == unwritten(layout, job, turn)).all()
        assert layout.touched_outside(block) == []
        assert not layout.is_changed(block, job)
    assert (unwritten(layout, job, 0) != unwritten(layout, job, 1)).all()
    begin, end = layout.places["target"]
    for at, offset in ((begin - 1, -1), (end, end - begin)):
        block[at] ^= 255
        assert layout.touched_outside(block) == [("the answer", offset)]
        block[at] ^= 255
    layout.array(block, "source", job)[4, 6] ^= 1
    assert layout.is_changed(block, job)


def test_what_is_copied_from_beside_one_array_to_beside_another_is_noticed():
    job = Job(np.full((37, 61, 3), 9, np.uint8), BLUR)
    layout = layout_of(RUNGS["separable"], job, H200)
    names = list(layout.places)
    assert len(names) > 2
    for first in names:
        for other in names:
            block = np.empty(layout.size, np.uint8)
            layout.fill(block, job, 0)
            (_, behind), (_, at) = layout.places[first], layout.places[other]
            block[at : at + 16] = block[behind : behind + 16]
            assert bool(layout.touched_outside(block)) == (first != other)
