"""Counting what a block moves: the same number however far apart its places lie, and cheaply."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import filters
from kernels.anatomy.accesses import SPARSE, Access, count_different
from kernels.anatomy.block_counts import traffic_of
from kernels.anatomy.patterns import pattern_of
from kernels.anatomy.tile_shapes import shapes_of
from kernels.core.job import Job
from kernels.rungs.rung import ladder


def loading(places, width):
    """A load of these places, each by a thread of its own."""
    found = np.array([places], np.int64)
    return Access("Load", "picture", False, 4, len(places), {"turn": 1}, lambda _: found, width)


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=20),
    st.lists(st.integers(0, 40), min_size=1, max_size=20),
    st.integers(1, 4),
    st.sampled_from([1, 3, SPARSE, 1000 * SPARSE]),
)
def test_different_numbers_are_counted_alike_however_far_apart(some, others, width, apart):
    accesses = [
        loading([apart * each for each in some], width),
        loading([apart * each for each in others], 1),
    ]
    wanted = {apart * each + n for each in some for n in range(width)}
    assert count_different(accesses) == len(wanted | {apart * each for each in others})


@pytest.mark.parametrize("ksize", [5, 31])
def test_what_a_transform_loads_from_all_over_its_buffer_is_counted_without_a_mask_of_it(ksize):
    rung = next(each for each in ladder() if each.key == "fft")
    job = Job(
        np.zeros((512, 768, 3), np.uint8), filters.get("gaussian").weights(ksize), "clamp", "fft"
    )
    shape = shapes_of(rung, job, None)[2]
    steps = pattern_of(rung, shape, job).steps((0, 0))
    loads = [each for each in steps if each.array == shape.reads and not each.is_store]
    every = np.concatenate([each.taken() for each in loads])
    traffic_of(steps, shape.reads)  # whatever is made once is there by now
    tracemalloc.start()
    found = traffic_of(steps, shape.reads)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.different == len(np.unique(every))
    assert peak < 200_000 < np.ptp(every)  # bytes; a mask has one for each place
