"""The memory of a run: kept by its size; arrays between red zones, poison everywhere else."""

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.core.poison import RED_BYTES
from kernels.cuda_on_cpu.shared_run import KeptMemory, layout_of
from kernels.rungs.rung import ladder
from tests.kernels.cuda_child.bad_texts import BLUR
from tests.made_up import H200

RUNGS = {each.key: each for each in ladder()}


@pytest.mark.parametrize("key", ["global", "separable", "fft_registers"])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_every_byte_is_of_an_array_or_of_a_red_zone(key, dtype):
    job = Job.of(np.full((37, 61, 3), 9, dtype), BLUR)
    layout = layout_of(RUNGS[key], job, H200)
    assert set(layout.places) == {"source", "target", *(name for name, _ in RUNGS[key].buffers)}
    covered = np.zeros(layout.size, np.uint8)
    for begin, end, *_ in (*layout.places.values(), *layout.zones):
        covered[begin:end] += 1
    assert (covered == 1).all()
    for begin, end in layout.places.values():
        assert begin % 256 == 0
        for other, until in layout.places.values():
            assert begin == other or end + RED_BYTES <= other or until + RED_BYTES <= begin


def test_what_is_laid_in_is_seen_and_every_byte_beside_it_as_well():
    picture = np.random.default_rng(2).integers(0, 255, (5, 7, 1), np.uint8)
    job = Job.of(picture, BLUR)
    layout = layout_of(RUNGS["global"], job, H200)
    block = np.empty(layout.size, np.uint8)
    for turn in (0, 1):
        layout.fill(block, job, turn)
        source, target = (layout.array(block, name, job) for name in ("source", "target"))
        assert (source[:, :7] == picture.reshape(5, 7)).all()
        assert (source[:, 7:] == 0xFF).all()
        assert (target[:, :7] == layout.unwritten(job, turn).reshape(5, 7)).all()
        assert layout.broken_rule(block, job, turn) == ""
    assert (layout.unwritten(job, 0) != layout.unwritten(job, 1)).all()
    begin, end = layout.places["target"]
    bytes_of = {"source": source, "target": target.view(np.uint8)}
    broken = [
        (block, begin - 1, "before the start of the output"),
        (block, end, "behind the end of the output"),
        (bytes_of["target"], (2, -1), "row 2 of the output"),
        (bytes_of["source"], (4, -1), "row 4 of the picture"),
        (bytes_of["source"], (4, 6), "to the picture"),
    ]
    for memory, at, words in broken:
        memory[at] ^= 255
        assert words in layout.broken_rule(block, job, 1)
        memory[at] ^= 255


def test_what_is_copied_from_beside_one_array_to_beside_another_is_noticed():
    job = Job.of(np.full((37, 61, 3), 9, np.uint8), BLUR)
    layout = layout_of(RUNGS["separable"], job, H200)
    names = list(layout.places)
    assert len(names) > 2
    for first in names:
        for other in names:
            block = np.empty(layout.size, np.uint8)
            layout.fill(block, job, 0)
            (_, behind), (_, at) = layout.places[first], layout.places[other]
            block[at : at + 16] = block[behind : behind + 16]
            assert bool(layout.broken_rule(block, job, 0)) == (first != other)


def made():
    """Memory whose makings and drops are written down."""
    log = []
    kept = KeptMemory(lambda size: log.append(size) or bytearray(size), lambda: log.append("drop"))
    return kept, log


def test_a_crop_a_strip_and_the_whole_are_made_once():
    kept, log = made()
    first = [kept.get(size) for size in (10, 20, 300)]
    assert [len(each) for each in first] == [10, 20, 300]
    assert all(kept.get(len(each)) is each for each in (*first, *first))
    assert log == [10, 20, 300]


def test_what_is_larger_goes_and_so_does_the_oldest():
    kept, log = made()
    for size in (10, 20, 300, 25):
        kept.get(size)
    assert log == [10, 20, 300, "drop", 25]
    kept.get(200)  # 10 goes, the oldest of three
    assert log[-2:] == ["drop", 200]
    kept.get(20)
    assert log[-1] == 200  # 20 is still there
    kept.get(10)
    assert log[-2:] == ["drop", 10]
