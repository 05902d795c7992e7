"""OpenEXR: light in half or float; its library is imported only when a file needs it."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from workbench.files.colour_profiles import undo_premultiplied
from workbench.files.formats import EXR_CHANNELS
from workbench.files.from_pillow import Decoded, check_page, unless_stopped
from workbench.files.needs import Need
from workbench.files.picture_errors import not_read
from workbench.imaging.pictures import Page

SIGNATURE = b"v/1\x01"
_REC_709 = (0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329)
# Attributes on how samples are stored, or that are told by themselves.
_OF_SAMPLES = {"channels", "chromaticities", "chunkCount", "compression", "dataWindow", "view"}
_OF_SAMPLES |= {"displayWindow", "lineOrder", "pixelAspectRatio", "screenWindowCenter", "version"}
_OF_SAMPLES |= {"screenWindowWidth", "tiles", "type", "name", "multiView"}
_OF_SAMPLES |= {"dwaCompressionLevel", "zipCompressionLevel"}
_SAMPLE_BYTES = 4  # at most; which type it is the header does not tell
_quiet = threading.local()  # `here`: while this thread is in the library


class ExrReader:
    """A reader of a part of a file, of its red, green, blue and alpha, or its grey."""

    def __init__(self, path: Path, is_stopped: Callable[[], bool], page: int) -> None:
        self._path, self._is_stopped, self._page = path, is_stopped, page
        self._parts = self._opened(header_only=True)
        self.count = len(self._parts)
        check_page(path, page, self.count)
        self._header = self._parts[page - 1].header
        self._names = [each.name for each in self._header["channels"]]
        self._chosen = _chosen(self._names)
        if "deep" in str(self._header["type"]):
            raise not_read(path.name, "a deep OpenEXR, with many samples a pixel")

    def _opened(self, *, header_only: bool = False) -> list[Any]:
        import OpenEXR

        if not isinstance(sys.stdout, _FilteredStdout):  # where it prints what is damaged
            sys.stdout = cast(Any, _FilteredStdout(sys.stdout))
        _quiet.here = True
        try:
            with _hushed_c:
                file = OpenEXR.File(str(self._path), True, header_only)  # channel by channel
                return list(file.parts)
        finally:
            _quiet.here = False

    def need(self) -> Need:
        """Memory for the samples, and for all channels of all parts, which are read as well."""
        held = 0
        for part in self._parts:
            width, height = _size(part.header["dataWindow"])
            held += width * height * len(part.header["channels"]) * _SAMPLE_BYTES
        width, height = _size(self._header["dataWindow"])
        ours = width * height * len(self._chosen) * _SAMPLE_BYTES
        return Need(self._path.name, width, height, len(self._chosen), ours, held + 2 * ours)

    def read(self, notes: list[str]) -> Decoded:
        """Read (H, W, C) of float16 or float32, alpha not multiplied in.

        With alpha it is float32: of halves that are divided, not all come back when multiplied.
        """
        header, parts = self._header, unless_stopped(self._opened, self._is_stopped)
        if len(parts) != len(self._parts):  # it leaves out what is damaged
            raise EOFError(self._path.name)
        channels = parts[self._page - 1].channels
        samples = np.stack([channels[name].pixels for name in self._chosen], axis=-1)
        if len(self._chosen) < len(self._names):
            only = ", ".join(self._chosen)
            notes.append(f"Only {only} of {len(self._names)} channels are read.")
        has_alpha = len(self._chosen) in (2, 4)
        if samples.dtype != np.float32 and (has_alpha or samples.dtype != np.float16):
            types = {str(channels[name].pixels.dtype) for name in self._chosen}
            notes.append(f"Converted from {', '.join(sorted(types))} to float32.")
            samples = samples.astype(np.float32)
        if np.any(np.array(header["dataWindow"]) != np.array(header["displayWindow"])):
            width, height = _size(header["displayWindow"])
            notes.append(f"All samples in the file are shown, not its frame of {width}×{height}.")
        if not np.allclose(np.ravel(header.get("chromaticities", _REC_709)), _REC_709, atol=2e-3):
            notes.append("Colours of other primaries than sRGB’s were not converted.")
        lost = ["that pixels are not square"] if header.get("pixelAspectRatio", 1) != 1 else []
        if said := ", ".join(sorted(header.keys() - _OF_SAMPLES)):
            lost.append(f"what the file says of {said}")
        if has_alpha:
            undo_premultiplied(samples, notes)
        named = str(header.get("name", ""))
        is_light = self._chosen[0].rpartition(".")[2] in ("R", "Y")  # not depths or numbers
        page = Page(self._page, self.count, named)
        return Decoded(samples, page=page, is_linear=is_light, lost=tuple(lost))


class _HushedC:
    """While it is entered, C's standard error, where the library tells the rest, leads nowhere.

    File descriptor 2, and so Python's, stays as it is.  Reads may overlap.
    """

    def __init__(self) -> None:
        self._lock, self._entered = threading.Lock(), 0
        self._null: int | None = None
        self._usual: int | None = None

    def __enter__(self) -> None:
        with self._lock, suppress(TypeError, ValueError, AttributeError):  # of Windows
            c, name = ctypes.CDLL(None), "__stderrp" if sys.platform == "darwin" else "stderr"
            c.fopen.restype = ctypes.c_void_p
            self._null = self._null or c.fopen(b"/dev/null", b"w")
            self._stream = ctypes.c_void_p.in_dll(c, name)
            if not self._entered and self._null:
                self._usual, self._stream.value = self._stream.value, self._null
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= self._entered > 0
            if not self._entered and self._usual:
                self._stream.value, self._usual = self._usual, None


_hushed_c = _HushedC()


def _size(window: Any) -> tuple[int, int]:
    width, height = (np.array(window[1], int) - window[0] + 1).tolist()
    return width, height


def _chosen(names: list[str]) -> list[str]:
    """The channels to show: of the first layer with colours or a grey, else the first one."""
    for layer in sorted({name.rpartition(".")[0] for name in names}):
        own = {name.rpartition(".")[2]: name for name in names if name.rpartition(".")[0] == layer}
        for wanted in reversed(EXR_CHANNELS):
            if set(wanted) <= set(own):
                return [own[each] for each in wanted]
    return names[:1]


@dataclass
class _FilteredStdout:
    """Standard output without what OpenEXR prints; it stays, as reads may be abandoned."""

    stream: Any

    def write(self, text: str) -> int:
        return 0 if getattr(_quiet, "here", False) else int(self.stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
