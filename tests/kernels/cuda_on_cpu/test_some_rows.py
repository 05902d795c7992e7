"""Launches of some rows alone: which are tried, and what is said of a kernel that ignores them."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.core.driving import outcome_of
from kernels.core.job import Job
from kernels.cuda_on_cpu.regions import rows_fault, rows_to_try, unused_rows
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, START

IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)


def test_some_rows_are_never_all_nor_begin_where_a_block_does():
    assert rows_to_try(1) is None
    for height in range(2, 300):
        first, end = rows_to_try(height)
        assert 0 < first < end <= height
        assert first % 2
        assert end < height or height < 4


@pytest.mark.parametrize(
    ("before", "after", "unused"),
    [
        ("", "", []),
        ("y < end_row", "y < height", ["end_row"]),
        ("first_row +", "0 +", ["first_row"]),
        ("first_row +", "/* first_row */ 0 +", ["first_row"]),
        ("int first_row, int end_row)", "int a, const int b)", ["a", "b"]),
    ],
)
def test_what_is_used_nowhere_is_named_as_the_kernel_calls_it(before, after, unused):
    text = START.format(before="", body=COPY).replace(before, after, 1)
    assert unused_rows(own_kernel("mine.cu", text)) == unused


def test_rows_that_add_up_in_another_order_are_as_right():
    """As running sums do: the last bits depend on where they begin."""
    picture = np.random.default_rng(2).random((12, 9, 1), np.float32)
    job = Job(picture, IDENTITY)
    rung = own_kernel("mine.cu", START.format(before="", body=COPY))
    rows = rows_to_try(12)
    as_before = np.ones(picture.shape, np.bool_)
    as_before[slice(*rows)] = False
    nearly = np.nextafter(picture, np.float32(2))
    assert outcome_of(rows_fault(rung, job, rows, picture, nearly, as_before)) is None
    fault = outcome_of(rows_fault(rung, job, rows, picture, picture * 2, as_before))
    assert (fault.y, fault.is_outside) == (rows[0], False)
