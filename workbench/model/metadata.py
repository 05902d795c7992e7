"""Metadata of a picture file: what it says beside the samples, fit to be written into another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata kept of a file: who took the picture, when, with what, and what it shows.

    exif  a small TIFF structure: see `workbench.files.exif.portable`
    xmp   a packet of XML: see `workbench.files.exif.portable`
    """

    exif: bytes | None = None
    xmp: bytes | None = None


NO_METADATA = Metadata()
