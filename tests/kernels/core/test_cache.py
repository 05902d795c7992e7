"""Whether memory holds what it held before: kept pictures and poisoned bytes."""

import numpy as np
import pytest

from kernels.core.cache import all_finite, may_change, once_a_picture
from kernels.core.poison import same_bits
from kernels.oracle.checking import largest_finite


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.fixture
def looked():
    """`times`: how often `looked.at` really looked at a picture."""

    class Looked:
        times = 0

        def at(self, picture):
            self.times += 1
            return float(picture.sum())

    made = Looked()
    made.at = once_a_picture(made.at)
    return made


def test_a_picture_that_nobody_may_change_is_looked_at_once(looked):
    picture = read_only(np.ones((2, 3, 1)))
    assert [looked.at(picture) for _ in range(3)] == [6.0] * 3
    assert looked.times == 1


def test_a_view_changes_with_what_it_is_a_view_of():
    samples = np.zeros((2, 2, 1), np.float32)
    view = read_only(samples[:])
    assert may_change(view)
    assert all_finite(view)
    assert largest_finite(view) == 0
    samples[0] = np.inf
    samples[1] = 3
    assert not all_finite(view)
    assert largest_finite(view) == 3


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
