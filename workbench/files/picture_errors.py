"""Failures of picture files, in sentences for the user."""

from __future__ import annotations


class ImageFileError(Exception):
    """A picture could not be read or written.  str(error) is one sentence for the user."""


class LargePictureError(ImageFileError):
    """A picture needs so much memory that the user is to be asked whether to open it.

    str(error) says how much.  Nothing but its header was read.

    has_copy  whether a reduced copy can be opened in its place
    """

    has_copy = False


class TooLargeError(ImageFileError):
    """A picture does not fit into memory as a whole.  Nothing but its header was read.

    reason   the sentence without what to do about it
    for_now  whether it would if more of this computer's memory were free
    """

    def __init__(self, reason: str, advice: str, *, for_now: bool = False) -> None:
        super().__init__(f"{reason}: {advice}")
        self.reason, self.for_now = reason, for_now


class StoppedError(ImageFileError):
    """Nobody wants the picture any more."""


RAW = "a camera's raw file", "develop it with darktable or RawTherapee, and save it as TIFF"


def not_read(
    name: str, kind: str, advice: str = "save it as TIFF with another program"
) -> ImageFileError:
    """Return the error of a sound file whose kind nothing here reads."""
    return ImageFileError(f"{name} is {kind}, which this program does not read; {advice}.")
