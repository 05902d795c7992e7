"""Libraries that tell stderr what is wrong with a file: the one sentence for the user is enough."""

from __future__ import annotations

import ctypes
import logging
from contextlib import suppress

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
