"""Libraries that tell stderr what is wrong with a file: the one sentence for the user is enough."""

from __future__ import annotations

import ctypes
import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import cv2
from PIL import _imaging


def hush() -> None:
    """For the process, from now on; what fails still raises, or gives nothing."""
    for name in ("PIL", "tifffile"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    # Pillow's libtiff; where it is built in, its names are not to be had.
    with suppress(AttributeError, OSError):
        pillows = ctypes.CDLL(_imaging.__file__)
        pillows.TIFFSetErrorHandler(None)
        pillows.TIFFSetWarningHandler(None)


_lock = threading.Lock()
_until_the_last = ExitStack()
_users = 0


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore Python's warnings while anybody is in here: several threads may be at once.

    `warnings.catch_warnings` alone changes the whole process, and so knows one thread only.
    """
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _until_the_last.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _until_the_last.close()
