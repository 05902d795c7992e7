"""The user's choices as one immutable value, which knows nothing of Qt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from numpy.typing import NDArray

from kernels.core.borders import BORDERS
from kernels.core.job import PIXEL_TYPES
from kernels.core.timing import Cache
from kernels.pictures.generated import beyond, stored_as, white
from workbench.imaging.display_mapping import NEGATIVE_DISPLAYS, NegativeDisplay
from workbench.model import field_checks as checks
from workbench.model.field_checks import about, facts_of, one_of, or_none
from workbench.model.large_source import LargeSource
from workbench.model.metadata import NO_METADATA, Metadata

Matrix = tuple[tuple[float, ...], ...]
ViewMode = Literal["result", "wipe", "side", "difference", "mismatch"]
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
    metadata  what its file says of it, such as maker and date
    large     the whole of which `samples` is a reduced copy; None: it is whole
    """

    name: str
    samples: NDArray[Any] = field(repr=False)
    path: Path | None = None
    notes: tuple[str, ...] = ()
    built_in: str | None = None
    original: NDArray[Any] | None = field(default=None, repr=False)
    beyond: int = 0
    metadata: Metadata = field(default=NO_METADATA, repr=False)
    large: LargeSource | None = None

    def __post_init__(self) -> None:
        self.samples.flags.writeable = False

    @property
    def white(self) -> float:
        """Return the sample value that is full intensity: 255, 65535, or 1.0 for floats."""
        return white(self.samples.dtype)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what was changed about it since it was read, one sentence each."""
        if not self.beyond:
            return self.notes
        cut = "became infinite" if self.samples.dtype.kind == "f" else "were cut off"
        count = f"{self.beyond:,} of its {self.samples.size:,} samples"
        return (*self.notes, f"{count} are beyond what {self.samples.dtype} holds and {cut}.")

    @property
    def nbytes(self) -> int:
        """Return the bytes of its samples, the original ones included."""
        return self.samples.nbytes + (0 if self.original is None else self.original.nbytes)

    @property
    def as_in_file(self) -> NDArray[Any]:
        """Return the samples before they were stored in another pixel type."""
        return self.samples if self.original is None else self.original

    def is_stored_as(self, pixel_type: str | None) -> bool:
        """Return whether `stored_as` would change nothing."""
        return str(self.samples.dtype) == (pixel_type or str(self.as_in_file.dtype))

    def stored_as(self, pixel_type: str | None) -> Picture:
        """Return the same picture in `pixel_type`; None: in that of its file.

        Takes a while on large ones; raises MemoryError where there is no room for both.
        """
        if self.is_stored_as(pixel_type):
            return self
        samples = self.as_in_file
        if pixel_type in (None, str(samples.dtype)):
            return replace(self, samples=samples, original=None, beyond=0)
        lost = beyond(samples, pixel_type)
        stored = stored_as(samples, pixel_type)
        return replace(self, samples=stored, original=samples, beyond=lost)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A kernel's file of the user's own, and the text that was read in it."""

    path: Path
    text: str = field(repr=False)

    @property
    def name(self) -> str:
        """Return its name, which is the key of the implementation that it is."""
        return self.path.name


@dataclass(frozen=True, slots=True, weakref_slot=True)
class State:
    """Everything the user has chosen; never a widget, a result or a GPU array.

    Beside each field stands all that is known about it: see `field_facts.FieldFacts`.  Of several
    that change at once, the first in this order gives the undo step its name.

    implementation         the one to run now
    chosen_implementation  the one the user chose, which may not run here at the moment; None: the
                           best there is, see `intents.implementation_for`
    own_kernel       the file of the user's own that was read last, as `implementation` names it;
                     None: none was.  See `session.kernel_folder`
    devices          how many GPUs share the rows of the picture
    matrix           the weights of the filter "custom"
    offset           what is added to what these give, as a part of white: -1 to 1
    last_free_ksize  the size that was chosen last where the filter left a choice; None: not known
    sigma            None: the filter's own default for its size
    pixel_type       what pictures are stored as when they are opened; None: as in their files
    levels           sample values shown as black and white; None: 0 and the picture's white
    result_levels    the same for results that swing around zero; None: as suits how they are shown
    negative_display how results that swing around zero are shown: see `imaging.display_mapping`;
                     None: as suits the filter
    divider          of the wipe: between left and right, or between above and below
    difference       how after minus before is shown
    gain             what that is multiplied by; None: so that it fits the range
    """

    picture: Picture | None = field(default=None, metadata=about("picture", reruns=True))
    filter: str = field(
        default="gaussian",
        metadata=about("filter", reruns=True, check=checks.is_filter, option="filter"),
    )
    implementation: str = field(
        default="opencv",
        metadata=about(
            "implementation",
            reruns=True,
            check=checks.is_implementation,
            option="implementation",
            comes_with=("picture",),
        ),
    )
    chosen_implementation: str | None = field(
        default=None,
        metadata=about("chosen implementation", comes_with=("picture", "implementation")),
    )
    own_kernel: OwnFile | None = field(
        default=None,
        repr=False,
        metadata=about(
            "kernel's text", reruns=True, has_words=False, comes_with=("implementation",)
        ),
    )
    block_xy: tuple[int, int] = field(
        default=(32, 8),
        metadata=about(
            "block shape",
            reruns=True,
            check=checks.is_block,
            option="block",
            is_gradual=True,
            comes_with=("implementation",),
        ),
    )
    devices: int = field(
        default=1,
        metadata=about("devices", reruns=True, check=checks.is_device_count, is_gradual=True),
    )
    matrix: Matrix = field(
        default=((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)),
        metadata=about(
            "weights",
            reruns=True,
            check=checks.is_matrix,
            is_gradual=True,
            has_words=False,
            comes_with=("filter",),
        ),
    )
    offset: float = field(
        default=0.0,
        metadata=about(
            "offset",
            reruns=True,
            check=checks.is_offset,
            is_gradual=True,
            comes_with=("filter", "matrix"),
        ),
    )
    ksize: int = field(
        default=5,
        metadata=about(
            "kernel size",
            reruns=True,
            check=checks.is_size,
            option="size",
            is_gradual=True,
            comes_with=("filter", "matrix"),
        ),
    )
    last_free_ksize: int | None = field(
        default=None,
        metadata=about(
            "size to go back to",
            check=or_none(checks.is_size),
            older_key="free_ksize",
            comes_with=("filter",),
        ),
    )
    sigma: float | None = field(
        default=None,
        metadata=about(
            "sigma", reruns=True, check=or_none(checks.is_sigma), option="sigma", is_gradual=True
        ),
    )
    amount: float = field(
        default=1.0,
        metadata=about(
            "amount", reruns=True, check=checks.is_amount, option="amount", is_gradual=True
        ),
    )
    border: str = field(
        default="clamp",
        metadata=about("border", reruns=True, check=one_of(*BORDERS), option="border"),
    )
    pixel_type: str | None = field(
        default=None,
        metadata=about("pixel type", check=one_of(None, *PIXEL_TYPES), option="pixel_type"),
    )
    levels: tuple[float, float] | None = field(
        default=None,
        metadata=about(
            "black and white", is_gradual=True, has_words=False, comes_with=("picture",)
        ),
    )
    result_levels: tuple[float, float] | None = field(
        default=None,
        metadata=about(
            "black and white of the result",
            is_gradual=True,
            has_words=False,
            comes_with=("picture", "filter", "negative_display"),
        ),
    )
    negative_display: NegativeDisplay | None = field(
        default=None,
        metadata=about(
            "negative values", check=one_of(None, *NEGATIVE_DISPLAYS), older_key="signed_as"
        ),
    )
    baseline: str = field(
        default="opencv", metadata=about("baseline", check=checks.is_cpu_implementation)
    )
    cache: Cache = field(
        default="cold", metadata=about("L2 cache", reruns=True, check=one_of(*get_args(Cache)))
    )
    view_mode: ViewMode = field(
        default="result", metadata=about("view", check=one_of(*get_args(ViewMode)), is_view=True)
    )
    divider: Divider = field(
        default="upright", metadata=about("divider", check=one_of(*get_args(Divider)), is_view=True)
    )
    difference: DifferenceKind = field(
        default="absolute",
        metadata=about("difference", check=one_of(*get_args(DifferenceKind)), is_view=True),
    )
    gain: float | None = field(
        default=None,
        metadata=about("gain", check=or_none(checks.is_gain), is_gradual=True, is_view=True),
    )


FACTS = facts_of(State)


def changed_fields(old: State, new: State) -> list[str]:
    """Return the names of the fields that differ, in the order of the State's fields."""
    return [name for name in FACTS if getattr(old, name) != getattr(new, name)]
