"""What is kept between pictures on a made-up GPU, and what is given back."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from kernels.cuda import staging
from kernels.cuda.device_pictures import RESIDENT_PICTURES, DevicePictures
from tests.kernels.made_up_cuda import MadeUpCuda


class PinnedPool:
    """Remembers how often all that it keeps was given back."""

    def __init__(self):
        self.times_freed = 0

    def free_all_blocks(self):
        self.times_freed += 1


@pytest.fixture
def pool():
    return PinnedPool()


@pytest.fixture
def pictures(pool, monkeypatch):
    monkeypatch.setattr(staging, "cuda_errors_in_words", nullcontext)
    cuda = MadeUpCuda(1)
    cuda.get_default_pinned_memory_pool = lambda: pool
    with cuda.on(cuda.streams[0]):
        using = lambda _doing: nullcontext()  # noqa: E731
        yield DevicePictures(cuda, cuda.streams[0], using, lambda make: make())


def picture(height):
    made = np.zeros((height, 8, 3), np.uint8)
    made.flags.writeable = False
    return made


def test_page_locked_memory_is_kept_for_pictures_of_about_a_size(pictures, pool):
    for height in [16, 15, 14] * RESIDENT_PICTURES:
        pictures.upload(picture(height))
    assert not pool.times_freed
