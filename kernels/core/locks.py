"""One writer a file: the operating system holds the lock, so that it ends with its process."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from kernels.core.atomic_files import regular

LOOK_S = 0.01  # between two tries to hold what another process holds

if sys.platform == "win32":
    import msvcrt
    import os

    # Windows keeps others from what is locked: a byte far behind any file's end is nobody's.
    FAR = 0x7FFF_0000

    def lock(file_number: int, *, shared: bool = False) -> bool:  # noqa: ARG001 - not here
        """Hold the open file until `unlock`, or it is closed; False where another process does."""
        os.lseek(file_number, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file_number, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(file_number: int) -> None:
        """Hold the open file no more."""
        os.lseek(file_number, FAR, os.SEEK_SET)
        with suppress(OSError):  # it was not held
            msvcrt.locking(file_number, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def lock(file_number: int, *, shared: bool = False) -> bool:
        """Hold the open file until `unlock`, or it is closed; False where another process does.

        shared  beside others that hold it so
        """
        try:
            fcntl.flock(file_number, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks: then nobody can be kept out
            return True
        return True

    def unlock(file_number: int) -> None:
        """Hold the open file no more."""
        with suppress(OSError):  # as above
            fcntl.flock(file_number, fcntl.LOCK_UN)


def hold(path: Path) -> BinaryIO | None:
    """Open and hold `path`, a file of no other use; None where another process holds it.

    Raises OSError where there can be no such file.
    """
    file = open(path, "ab", opener=regular)  # noqa: SIM115 - it is held until it is closed
    if lock(file.fileno()):
        return file
    file.close()
    return None


@contextmanager
def holding(path: Path, patience_s: float) -> Iterator[bool]:
    """Hold `path`, a file of no other use, which is made and stays, while the block runs.

    Gives whether it is held: not where another process kept it for longer than `patience_s`.
    Raises OSError where there can be no such file.
    """
    until = time.monotonic() + patience_s
    with open(path, "ab", opener=regular) as file:
        while not (is_held := lock(file.fileno())) and time.monotonic() < until:
            time.sleep(LOOK_S)
        yield is_held
