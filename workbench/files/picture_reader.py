"""Readers of picture files, by any library: their need first, then their samples.

Not by imageio, which cuts PNG and PNM files of 16 bits down to 8, leaves transparency out, hands on
inks, palettes and planes as they are stored, and can neither look at a header first nor stop.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray
from PIL import Image

from workbench.files.needs import Need


@dataclass(frozen=True, slots=True)
class Decoded:
    """The content of a file, and what is still to be done with it.

    samples      (H, W) or (H, W, C)
    icc          the colour profile that they are to be converted from, if any
    orientation  of EXIF, 1 to 8
    exif         reads the EXIF data; raises whatever Pillow does where they are damaged
    xmp          the XMP packet, if any, as it is in the file
    """

    samples: NDArray[Any]
    icc: bytes | None = None
    orientation: int = 1
    exif: Callable[[], Image.Exif] = Image.Exif
    xmp: bytes | str | None = None


class Reader(Protocol):
    """A picture file that is open, of a kind that one library reads."""

    def need(self) -> Need:
        """The memory that it takes, by its header alone.

        Raises ImageFileError where nothing here reads its kind, EOFError where it is cut short.
        """

    def read(self, notes: list[str]) -> Decoded:
        """Decode the first picture of the file.

        notes  gets a sentence for each conversion made
        Raises whatever the library does where the file is damaged, EOFError where it is cut short.
        """


# Path, first bytes, "is it wanted no more?" -> the reader while it is open; None: not for this one.
Opened = Callable[[Path, bytes, Callable[[], bool]], AbstractContextManager[Reader | None]]


def note_first_of(count: int | None, notes: list[str]) -> None:
    """Note that a file holds more than the picture that is shown; count: None where unknown."""
    if count is None:
        notes.append("The file is damaged after its first picture, which is shown.")
    elif count > 1:
        notes.append(f"The file holds {count} pictures; the first is shown.")
