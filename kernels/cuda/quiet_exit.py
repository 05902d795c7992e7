"""End a process whose GPU failed without a traceback for each thing that CuPy lets go of."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress

_STDERR = 2


def leave_quietly() -> None:
    """Write nothing to stderr at the end of the process, when everything is torn down.

    CuPy unloads its modules there, and gives back memory; after a failure that ended CUDA each of
    these fails once more, where no hook of Python's is asked any longer.
    """
    atexit.unregister(_hush)
    atexit.register(_hush)  # the last to be registered is the first to be called


def _hush() -> None:
    with suppress(OSError, ValueError, AttributeError):  # there may be no stderr
        sys.stderr.flush()
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)
