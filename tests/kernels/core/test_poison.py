"""Arrays compared bit by bit, many bytes at a time, down to the last one."""

import numpy as np
import pytest

from kernels.core.poison import same_bits


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 31])
def test_every_byte_counts(size):
    some = np.arange(size, dtype=np.uint8)
    assert same_bits(some, some.copy())
    for at in range(size):
        other = some.copy()
        other[at] ^= 0x80
        assert not same_bits(some, other)


def test_what_is_no_number_equals_itself_and_zeros_of_either_sign_differ():
    some = np.array([[np.nan, 0.0], [1.0, np.inf]], np.float32)
    assert same_bits(some, some.copy())
    other = some.copy()
    other[0, 1] = -0.0
    assert not same_bits(some, other)
