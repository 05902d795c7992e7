"""A loaded picture, what is kept of its file, and the whole of which it may be a copy; no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.borders import Span
from kernels.core.cache import all_finite, once_a_picture
from kernels.pictures.generated import beyond, stored_as, white
from workbench.imaging.display_mapping import BARE, LIGHT, Tone

Texts = tuple[tuple[str, str], ...]  # keywords, and what they say


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata kept of a file: author, time, camera, subject and size on paper."""

    exif: bytes | None = None  # a small TIFF structure: see `workbench.files.exif.portable`
    xmp: bytes | None = None  # a packet of XML: see `workbench.files.exif.portable_xmp`
    iptc: bytes | None = None  # the records of IPTC's IIM
    resolution: tuple[float, float] | None = None  # across and down, in pixels per inch
    texts: Texts = ()  # those of a PNG, and the comment of a JPEG
    is_linear: bool = False  # samples are proportional to light, by the format's definition


NO_METADATA = Metadata()


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a file that a picture is: also a frame of an animation, or a plane."""

    number: int = 1  # from 1
    count: int = 1  # of all in the file
    label: str = ""  # what the file says of it: "c 2, z 5"

    def __str__(self) -> str:
        label = f" ({self.label})" if self.label else ""
        return f"page {self.number:,} of {self.count:,}{label}"


ONE_PAGE = Page()


@dataclass(frozen=True, slots=True)
class LargeSource:
    """The picture in the file, of which `Picture.samples` is a reduced copy."""

    width: int  # of the whole, in pixels
    height: int
    step: float  # so many of its pixels, across and down, are one of the copy
    stamp: tuple[int, ...] = field(default=(), compare=False)  # as `LargePicture` has it

    @property
    def size_in_words(self) -> str:
        """Size of the whole: "100,000×100,000"."""
        return f"{self.width:,}×{self.height:,}"

    @property
    def scale_in_words(self) -> str:
        """Scale of the copy: "1/16 of 100,000×100,000"."""
        return f"1/{self.step:.4g} of {self.size_in_words}"


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of the whole picture, in its pixels."""

    rows: Span
    columns: Span

    def holds(self, other: Region) -> bool:
        pairs = (self.rows, other.rows), (self.columns, other.columns)
        return all(ours[0] <= its[0] and its[1] <= ours[1] for ours, its in pairs)


@once_a_picture
def _has_clear(samples: NDArray[Any]) -> bool:
    return bool((samples[..., -1] < white(samples.dtype)).any())


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Picture:
    """A loaded picture.  Compared by identity, so comparing two States never touches pixels."""

    name: str
    samples: NDArray[Any] = field(repr=False)  # (H, W, 1 to 4), C-contiguous, read-only
    path: Path | None = None  # the file it came from; None for a built-in or pasted picture
    notes: tuple[str, ...] = ()  # what was converted on the way in, one sentence each
    built_in: str | None = None  # its key in `kernels.pictures.generated.PICTURES`
    original: NDArray[Any] | None = field(default=None, repr=False)  # before it was stored anew
    beyond: int = 0  # how many of them that type could not hold
    metadata: Metadata = field(default=NO_METADATA, repr=False)
    large: LargeSource | None = None  # the whole of which `samples` is a reduced copy
    page: Page = ONE_PAGE

    def __post_init__(self) -> None:
        array: Any = self.samples
        while isinstance(array, np.ndarray):  # also what it is a view of: only then it may be kept
            array.flags.writeable = False
            array = array.base

    @property
    def title(self) -> str:
        """Name, and of a file with several pages which one it is."""
        return self.name if self.page.count == 1 else f"{self.name}, {self.page}"

    @property
    def white(self) -> float:
        """Sample value of full intensity: 255, 65535, or 1.0 for floats."""
        return white(self.samples.dtype)

    @property
    def opening_tone(self) -> Tone:
        """How it is shown until the user chooses."""
        return LIGHT if self.metadata.is_linear else BARE

    @property
    def is_transparent(self) -> bool:
        """True if a pixel is not opaque."""
        return self.samples.shape[2] in (2, 4) and _has_clear(self.samples)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Conversions since it was read, one sentence each."""
        if not self.beyond:
            return self.notes
        cut = "became infinite" if self.samples.dtype.kind == "f" else "were cut off"
        count = f"{self.beyond:,} of its {self.samples.size:,} samples"
        return (*self.notes, f"{count} are beyond what {self.samples.dtype} holds and {cut}.")

    @property
    def nbytes(self) -> int:
        """Bytes of its samples, the original ones included."""
        return self.samples.nbytes + (0 if self.original is None else self.original.nbytes)

    @property
    def as_in_file(self) -> NDArray[Any]:
        """Samples before they were stored in another pixel type."""
        return self.samples if self.original is None else self.original

    def is_stored_as(self, pixel_type: str | None) -> bool:
        """Return True if `stored_as` would change nothing."""
        return str(self.samples.dtype) == (pixel_type or str(self.as_in_file.dtype))

    def stored_as(self, pixel_type: str | None) -> Picture:
        """The same picture in `pixel_type`; None: in that of its file.  Raises MemoryError."""
        if self.is_stored_as(pixel_type):
            return self
        samples = self.as_in_file
        if pixel_type in (None, str(samples.dtype)):
            return replace(self, samples=samples, original=None, beyond=0)
        lost = beyond(samples, pixel_type)
        stored = stored_as(samples, pixel_type)
        return replace(self, samples=stored, original=samples, beyond=lost).looked_through()

    def looked_through(self) -> Picture:
        """Itself, with what the window asks of all samples known, as that takes a while."""
        _ = self.is_transparent, all_finite(self.samples)
        return self
