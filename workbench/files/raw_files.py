"""Raw files of cameras, which are refused: inside many is a TIFF, whose picture is a thumbnail."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import tifffile

from workbench.files.picture_errors import ImageFileError

_EXTENSION = re.compile(
    r"\.(3fr|arw|cr[23w]|dcr|dng|erf|fff|iiq|k25|kdc|mef|mos|mrw|nef|nrw|orf|pef|raf|raw|rw[2l]|sr[2fw]|x3f)"
)
_BEGIN = re.compile(
    rb"FUJIFILMCCD-RAW|II(RO|RS|U\0)|MMOR|FOVb|\0MRM|.{4}ftypcrx |II\*\0.{4}CR", re.S
)
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF")  # whatever they are called
_DNG_VERSION, _SUB_IFDS = 50706, 330
_MOSAICS = (32803, 34892)  # of photometric interpretations: a colour filter array, and linear raw


def refuse(path: Path, start: bytes) -> None:
    """Raise ImageFileError for a raw file, by its extension or how it begins."""
    is_named = _EXTENSION.fullmatch(path.suffix.lower()) and not start.startswith(_PICTURES)
    if is_named or _BEGIN.match(start):
        _refuse(path)


def refuse_tiff(path: Path, tiff: tifffile.TiffFile) -> None:
    """Raise ImageFileError for a TIFF that is a raw file, whatever its name."""
    pages: list[Any] = [tiff.pages.first]
    with suppress(Exception):  # the others are damaged
        pages += pages[0].pages if _SUB_IFDS in pages[0].tags else ()
    if _DNG_VERSION in pages[0].tags or any(each.photometric in _MOSAICS for each in pages):
        _refuse(path)


def _refuse(path: Path) -> None:
    raise ImageFileError(
        f"{path.name} is a camera's raw file, which this program does not read; develop it with "
        "darktable or RawTherapee, and save it as TIFF."
    )
