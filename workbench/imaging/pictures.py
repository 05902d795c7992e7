"""A loaded picture, what is kept of its file, and the whole of which it may be a copy; no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from numpy.typing import NDArray

from kernels.core.borders import Span
from kernels.pictures.generated import beyond, stored_as, white

Ratio = tuple[int, int]  # numerator and denominator


@dataclass(frozen=True, slots=True)
class Resolution:
    """Pixels in an inch or a centimetre; without a unit, how much denser they are one way."""

    across: Ratio
    down: Ratio
    unit: int = 2  # as EXIF numbers it

    NONE: ClassVar[int] = 1
    INCH: ClassVar[int] = 2
    CENTIMETRE: ClassVar[int] = 3

    @classmethod
    def known(cls, across: Ratio, down: Ratio, unit: int) -> Resolution | None:
        """The resolution, or None where it says nothing: square pixels of no size."""
        is_none = unit not in (cls.INCH, cls.CENTIMETRE)
        if not all((*across, *down)) or (is_none and across[0] * down[1] == down[0] * across[1]):
            return None
        return cls(across, down, cls.NONE if is_none else unit)

    @classmethod
    def of_metre(cls, across: int, down: int) -> Resolution | None:
        """The same of pixels in a metre, which files round: in an inch, where it was that."""
        inches = [round(each * 0.0254) for each in (across, down)]
        if [round(each / 0.0254) for each in inches] == [across, down]:
            return cls.known((inches[0], 1), (inches[1], 1), cls.INCH)
        return cls.known((across, 100), (down, 100), cls.CENTIMETRE)

    def within(self, unit_cm: float) -> tuple[Fraction, Fraction]:
        """Pixels in so many centimetres; without a unit, small numbers of that proportion."""
        across, down = Fraction(*self.across), Fraction(*self.down)
        if self.unit == self.NONE:
            small = (across / down).limit_denominator(255)
            return Fraction(small.numerator), Fraction(small.denominator)
        factor = Fraction(unit_cm) / (Fraction(254, 100) if self.unit == self.INCH else 1)
        return across * factor, down * factor

    def whole(self, unit_cm: float) -> tuple[int, int]:
        """The same in whole pixels."""
        across, down = self.within(unit_cm)
        return round(across), round(down)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata kept of a file: author, time, camera, subject and size on paper."""

    exif: bytes | None = None  # a small TIFF structure: see `workbench.files.exif.portable`
    xmp: bytes | None = None  # a packet of XML: see `workbench.files.exif.portable`
    iptc: bytes | None = None  # the records of IPTC's IIM
    resolution: Resolution | None = None


NO_METADATA = Metadata()


@dataclass(frozen=True, slots=True)
class LargeSource:
    """The picture in the file, of which `Picture.samples` is a reduced copy."""

    width: int  # of the whole, in pixels
    height: int
    step: float  # so many of its pixels, across and down, are one of the copy

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

    @property
    def pixels(self) -> int:
        return (self.rows[1] - self.rows[0]) * (self.columns[1] - self.columns[0])

    def holds(self, other: Region) -> bool:
        pairs = (self.rows, other.rows), (self.columns, other.columns)
        return all(ours[0] <= its[0] and its[1] <= ours[1] for ours, its in pairs)


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

    def __post_init__(self) -> None:
        self.samples.flags.writeable = False

    @property
    def white(self) -> float:
        """Sample value of full intensity: 255, 65535, or 1.0 for floats."""
        return white(self.samples.dtype)

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
        return replace(self, samples=stored, original=samples, beyond=lost)
