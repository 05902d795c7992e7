"""Libraries that tell stderr what is wrong with a file: the one sentence for the user is enough."""

from __future__ import annotations

import ctypes
import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from PIL import _imaging

_Handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
_fax_errors = threading.local()  # what Pillow's libtiff said in this thread of faxes


def _on_message(module: bytes, words: bytes, _arguments: int) -> None:
    if module.startswith(b"Fax"):
        _fax_errors.last = words.decode(errors="replace")


_handler = _Handler(_on_message)  # as long as the process lives


def fax_error() -> str | None:
    """The last error in a fax that this thread has decoded since the last call, or None.

    libtiff leaves out what it cannot decode, and goes on.
    """
    last: str | None = getattr(_fax_errors, "last", None)
    _fax_errors.last = None
    return last


def hush() -> None:
    """Keep libraries quiet from now on; what fails still raises, or gives nothing."""
    for name in ("PIL", "tifffile", "imagecodecs"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Pillow's libtiff; where it is built in, its names are not to be had.
    with suppress(AttributeError, OSError):
        pillows = ctypes.CDLL(_imaging.__file__)
        pillows.TIFFSetErrorHandler(_handler)
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
