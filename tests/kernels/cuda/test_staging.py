"""Page-locked memory on the way to a made-up GPU."""

import ctypes
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.cuda import device_pictures
from kernels.cuda.device_pictures import RESIDENT_PICTURES, DevicePictures, Staging, pinned_like
from tests.kernels.made_up_cuda import MadeUpCuda

COPY_MS = 0.25  # of each copy, by the device's clock


class LateCuda:
    """Copies when somebody waits for it, and not before: what is changed until then is copied as it
    is by then.  Its clock runs only while it copies."""

    def __init__(self):
        self.now_ms, self.queue, self.copies = 0.0, [], 0
        self.cuda = SimpleNamespace(
            Event=lambda: Event(self),
            alloc_pinned_memory=lambda count: bytearray(count),
            get_elapsed_time=lambda begun, ended: ended.at_ms - begun.at_ms,
        )
        self.stream = SimpleNamespace(synchronize=lambda: self.run(len(self.queue)))

    def run(self, count):
        for _ in range(count):
            self.queue.pop(0)()

    def copying(self, target, source, count):
        def copy():
            ctypes.memmove(target, source, count)
            self.now_ms += COPY_MS
            self.copies += 1

        self.queue.append(copy)


class Event:
    """Remembers when the device came by."""

    def __init__(self, cuda):
        self._cuda, self.at_ms = cuda, None

    def record(self, _stream):
        def pass_by():
            self.at_ms = self._cuda.now_ms

        self.at_ms = None
        self._cuda.queue.append(pass_by)

    def synchronize(self):
        while self.at_ms is None:
            self._cuda.run(1)
        self._cuda.now_ms += 100.0  # until the host has queued the next one


class Memory:
    """Of the device: an array of this computer."""

    def __init__(self, cuda, address):
        self._cuda, self._address = cuda, address

    def __add__(self, count):
        return Memory(self._cuda, self._address + count)

    def copy_from_host_async(self, host, count, _stream):
        self._cuda.copying(self._address, host, count)

    def copy_to_host_async(self, host, count, _stream):
        self._cuda.copying(host, self._address, count)


@pytest.fixture
def cuda(monkeypatch):
    monkeypatch.setattr(
        device_pictures, "cuda_errors_in_words", lambda _: nullcontext()
    )  # no CuPy here
    return LateCuda()


def on_device(cuda, shape, dtype):
    samples = np.zeros(shape, dtype)
    return samples, SimpleNamespace(shape=shape, data=Memory(cuda, samples.ctypes.data))


@pytest.mark.parametrize("pitch", [60, 64])
@pytest.mark.parametrize("chunk_bytes", [200, 1000, 1 << 20])
def test_every_sample_arrives_and_only_the_copies_are_counted(
    pitch, chunk_bytes, cuda, monkeypatch
):
    monkeypatch.setattr(device_pictures, "CHUNK_BYTES", chunk_bytes)
    picture = np.random.default_rng(3).integers(0, 65_536, (31, 20, 3), np.uint16)
    samples, array = on_device(cuda, (31, pitch), np.uint16)
    moved = Staging(cuda, cuda.stream).upload(picture, array)
    np.testing.assert_array_equal(samples[:, :60], picture.reshape(31, 60))
    assert cuda.copies > 3 or chunk_bytes > 1000
    assert moved.copy_ms == pytest.approx(cuda.copies * COPY_MS)
    assert 0 < moved.ms < 60_000


def test_what_is_downloaded_is_there_when_it_is_said_to_be(cuda):
    samples, array = on_device(cuda, (7, 9), np.float32)
    samples[:] = np.arange(63).reshape(7, 9)
    picture = pinned_like(cuda, np.zeros((7, 3, 3), np.float32))
    moved = Staging(cuda, cuda.stream).download(array, picture, 0.0)
    np.testing.assert_array_equal(picture.reshape(7, 9), samples)
    assert moved.copy_ms == pytest.approx(COPY_MS)


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
    monkeypatch.setattr(device_pictures, "cuda_errors_in_words", nullcontext)
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
