"""Page-locked memory: what the GPU can copy from and to at the full speed of the bus."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.errors import OutOfMemoryError, cuda_errors_in_words

CHUNK_BYTES = 4 << 20  # long enough for full speed, short enough to page-lock in no time


def pinned_like(cp: Any, picture: NDArray[Any]) -> NDArray[Any]:
    """An uninitialised page-locked array like `picture`; its memory returns to CuPy's pool.
    Ordinary memory, which is slower to copy, where the system grants no more page-locked."""
    try:
        with cuda_errors_in_words("page-locking memory"):
            memory = cp.cuda.alloc_pinned_memory(picture.nbytes)
    except OutOfMemoryError:
        return np.empty_like(picture)
    return np.frombuffer(memory, picture.dtype, picture.size).reshape(picture.shape)


class Staging:
    """Uploads ordinary memory through two page-locked chunks: while one is on its way to the
    device, the next is being filled.  That is faster than CUDA's own copy from ordinary memory,
    and needs no page-locked copy of the whole picture."""

    def __init__(self, cp: Any, stream: Any) -> None:
        self._cp = cp
        self._stream = stream
        chunk = np.empty(CHUNK_BYTES, np.uint8)
        self._chunks = [(pinned_like(cp, chunk), cp.cuda.Event()) for _ in range(2)]

    def upload(self, picture: NDArray[Any], array: Any) -> None:
        """Copy `picture`, C-contiguous, to the device array `array` and wait for it."""
        samples = picture.reshape(-1).view(np.uint8)
        for number, start in enumerate(range(0, samples.size, CHUNK_BYTES)):
            part = samples[start : start + CHUNK_BYTES]
            chunk, sent = self._chunks[number % 2]
            sent.synchronize()  # the chunk's last content has left
            chunk[: part.size] = part
            (array.data + start).copy_from_host_async(chunk.ctypes.data, part.size, self._stream)
            sent.record(self._stream)
        self._stream.synchronize()
