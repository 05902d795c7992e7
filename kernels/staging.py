"""Page-locked memory: what the GPU can copy from and to at the full speed of the bus."""

from __future__ import annotations

from collections.abc import Iterator
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
        """Copy `picture`, (H, W, C) and C-contiguous, to the rows of the device array `array`,
        (H, pitch) of the same dtype, and wait for it."""
        rows = picture.reshape(len(picture), -1).view(np.uint8)
        pitch_bytes = array.shape[1] * picture.itemsize
        if rows.shape[1] == pitch_bytes:  # nothing between them: as one long row
            rows, pitch_bytes = rows.reshape(1, -1), picture.nbytes
        for number, (start, part) in enumerate(_parts(rows, pitch_bytes)):
            chunk, sent = self._chunks[number % 2]
            sent.synchronize()  # the chunk's last content has left
            apart = pitch_bytes if len(part) > 1 else part.shape[1]
            staged = chunk[: len(part) * apart]
            staged.reshape(len(part), apart)[:, : part.shape[1]] = part
            (array.data + start).copy_from_host_async(chunk.ctypes.data, staged.size, self._stream)
            sent.record(self._stream)
        self._stream.synchronize()


def _parts(rows: NDArray[np.uint8], pitch_bytes: int) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """`rows` cut to fit a chunk: several whole ones, or pieces of one that is too long; and at
    which byte of the device array each begins."""
    together = CHUNK_BYTES // pitch_bytes
    for y in range(0, len(rows), max(together, 1)):
        if together:
            yield y * pitch_bytes, rows[y : y + together]
            continue
        for x in range(0, rows.shape[1], CHUNK_BYTES):
            yield y * pitch_bytes + x, rows[y : y + 1, x : x + CHUNK_BYTES]
