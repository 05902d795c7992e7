"""A file whose reading ends where nobody wants what is in it any more."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from workbench.files.picture_errors import StoppedError


class Watched(io.BufferedReader):
    """A binary file to read, which raises StoppedError once `is_stopped` says so.

    Pillow reads as it decodes, some 64 KiB at a time.
    """

    def __init__(self, path: Path, is_stopped: Callable[[], bool]) -> None:
        super().__init__(io.FileIO(path))
        self._is_stopped = is_stopped

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as any binary file does, unless nobody wants it any more."""
        if self._is_stopped():
            raise StoppedError("Reading was cancelled.")
        return super().read(size)
