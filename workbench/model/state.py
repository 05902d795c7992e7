"""What the user has chosen: one immutable value.  Knows nothing of Qt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from kernels.pictures.generated import beyond, stored_as, white
from workbench.imaging.display_mapping import SignedAs

Matrix = tuple[tuple[float, ...], ...]
ViewMode = Literal["side", "wipe", "difference", "mismatch"]
Divider = Literal["upright", "level"]
DifferenceKind = Literal["absolute", "signed"]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Picture:
    """A loaded picture.  Compared by identity, so comparing two States never touches pixels.

    samples   (H, W, C) of one of `kernels.core.job.PIXEL_TYPES`, C = 1 to 4, C-contiguous and
              read-only
    path      the file it came from; None for a built-in or pasted picture
    notes     what was converted on the way in, one sentence each
    built_in  its key in `kernels.pictures.generated.PICTURES`, if it is one of those
    original  the samples before they were stored in another pixel type; None if they were not
    beyond    how many of them that type could not hold
    exif      what is kept of its EXIF, such as maker and date: see `workbench.files.exif.kept`
    """

    name: str
    samples: NDArray[Any] = field(repr=False)
    path: Path | None = None
    notes: tuple[str, ...] = ()
    built_in: str | None = None
    original: NDArray[Any] | None = field(default=None, repr=False)
    beyond: int = 0
    exif: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.samples.flags.writeable = False

    @property
    def white(self) -> float:
        """The sample value that is full intensity: 255, 65535, or 1.0 for floats."""
        return white(self.samples.dtype)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What has become of it on the way here, one sentence each."""
        if not self.beyond:
            return self.notes
        cut = "became infinite" if self.samples.dtype.kind == "f" else "were cut off"
        count = f"{self.beyond:,} of its {self.samples.size:,} samples"
        return (*self.notes, f"{count} are beyond what {self.samples.dtype} holds and {cut}.")

    @property
    def nbytes(self) -> int:
        """Of all its samples."""
        return self.samples.nbytes + (0 if self.original is None else self.original.nbytes)

    @property
    def as_in_file(self) -> NDArray[Any]:
        """The samples before they were stored in another pixel type."""
        return self.samples if self.original is None else self.original

    def is_stored_as(self, pixel_type: str | None) -> bool:
        """Whether `stored_as` would change nothing."""
        return str(self.samples.dtype) == (pixel_type or str(self.as_in_file.dtype))

    def stored_as(self, pixel_type: str | None) -> Picture:
        """The same picture in `pixel_type`, or in that of its file: None.  Takes a while on large
        ones; raises MemoryError where both do not fit."""
        if self.is_stored_as(pixel_type):
            return self
        samples = self.as_in_file
        if pixel_type in (None, str(samples.dtype)):
            return replace(self, samples=samples, original=None, beyond=0)
        lost = beyond(samples, pixel_type)
        stored = stored_as(samples, pixel_type)
        return replace(self, samples=stored, original=samples, beyond=lost)


@dataclass(frozen=True, slots=True)
class State:
    """Everything the user has chosen.  Never holds a widget, a result or a GPU array.

    pixel_type  what pictures are stored as when they are opened; None: as in their files
    free_ksize  the size that was chosen last where the filter left a choice; None: not known
    implementation         the one to run now
    chosen_implementation  the one the user chose, which may not run here at the moment; None: the
                best there is, see `intents.implementation_for`
    sigma       None: the filter's own default for its size
    matrix      the weights of the filter "custom"
    offset      what is added to what these give, as a part of white: -1 to 1
    levels      sample values shown as black and white; None: 0 and the picture's white
    signed_as   how results that swing around zero are shown: see `imaging.display_mapping`
    divider     of the wipe: between left and right, or between above and below
    difference  how after minus before is shown; gain: by what it is multiplied, None: as fits
    """

    picture: Picture | None = None
    pixel_type: str | None = None
    filter: str = "gaussian"
    ksize: int = 5
    free_ksize: int | None = None
    sigma: float | None = None
    amount: float = 1.0
    matrix: Matrix = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))
    offset: float = 0.0
    border: str = "clamp"
    implementation: str = "opencv"
    chosen_implementation: str | None = None
    block_xy: tuple[int, int] = (32, 8)
    baseline: str = "opencv"
    cache: Literal["cold", "warm"] = "cold"
    levels: tuple[float, float] | None = None
    view_mode: ViewMode = "side"
    signed_as: SignedAs = "clipped"
    divider: Divider = "upright"
    difference: DifferenceKind = "absolute"
    gain: float | None = None
