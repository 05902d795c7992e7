"""One step of a job's list: a filter, and how it is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import may_change, read_only
from kernels.core.errors import BadJobError

MAX_KSIZE = 127
MAX_OFFSET = 65_535.0  # the largest sample of an integer type
Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Correlation:
    """Sums of weighted neighbours; raises BadJobError for weights or an offset it cannot take.

    weights  (K, K) float32, K odd, applied as drawn, finite.  What may change is copied.
    offset   added to every sum but alpha's, in sample values: at most MAX_OFFSET either way
    """

    weights: Weights = field(repr=False)
    offset: float = 0.0

    def __post_init__(self) -> None:
        _check_weights(self.weights)
        if may_change(self.weights):  # and results are kept by them
            object.__setattr__(self, "weights", read_only(self.weights.copy()))
        if not abs(self.offset) <= MAX_OFFSET:
            raise BadJobError(f"An offset must be within ±{MAX_OFFSET:,.0f}, not {self.offset:g}.")

    def __eq__(self, other: object) -> bool:
        """True if `other` gives the same."""
        if not isinstance(other, Correlation) or self.offset != other.offset:
            return False
        return self.weights is other.weights or np.array_equal(self.weights, other.weights)

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts."""
        return self.ksize // 2

    @property
    def ksize(self) -> int:
        """K, the odd side of the weights."""
        return len(self.weights)

    @property
    def taps(self) -> int:
        """Products for a sample."""
        return self.weights.size


def _check_weights(weights: Weights) -> None:
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or len(weights) % 2 == 0:
        raise BadJobError(f"Weights must be square with an odd size, not {weights.shape}.")
    if len(weights) > MAX_KSIZE:
        raise BadJobError(f"Weights of size {len(weights)} are above {MAX_KSIZE}, the largest.")
    if weights.dtype != np.float32 or not np.isfinite(weights).all():
        raise BadJobError("Weights must be finite float32 numbers.")


@dataclass(frozen=True, slots=True)
class Length:
    """√(gx² + gy²), by Sobel, of what the weights before it give; with these it is one filter."""

    ksize: ClassVar[int] = 3
    reach: ClassVar[int] = 1
    taps: ClassVar[int] = 9


@dataclass(frozen=True, slots=True)
class Rank:
    """One of a window's samples in their order; raises BadJobError for what makes no window.

    ksize       K, odd: the window's side, or a disk's diameter
    percentile  which of the n samples that count: the last for 100, else number ⌊n · p / 100⌋ from
                0 (as scipy.ndimage.percentile_filter has it).  50 is the median; of an even number
                of samples, which only the border crop makes, it is the mean of the middle two.
    is_disk     whether only samples at dx² + dy² ≤ (K // 2)² count, instead of the whole square
    """

    ksize: int
    percentile: float = 50.0
    is_disk: bool = False

    def __post_init__(self) -> None:
        if not (1 <= self.ksize <= MAX_KSIZE and self.ksize % 2):
            raise BadJobError(f"A window's size is odd, 1 to {MAX_KSIZE}, not {self.ksize}.")
        if not 0 <= self.percentile <= 100:
            raise BadJobError(f"A percentile is from 0 to 100, not {self.percentile:g}.")

    def same(self, other: Filter) -> bool:
        """True if `other` gives the same."""
        return self == other

    @property
    def window(self) -> NDArray[np.bool_]:
        """True where a sample counts: (K, K)."""
        along = np.arange(self.ksize) - self.reach
        distance = along[:, np.newaxis] ** 2 + along**2
        return distance <= (self.reach**2 if self.is_disk else 2 * self.reach**2)

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts."""
        return self.ksize // 2

    @property
    def taps(self) -> int:
        """Samples looked at for one."""
        return self.ksize**2

    def ranks(self, count: Any) -> tuple[Any, Any]:
        """The numbers, in order and from 0, of the two of `count` samples whose mean is taken."""
        if self.percentile == 50:
            return (count - 1) // 2, count // 2
        at = np.minimum((count * self.percentile / 100).astype(int), count - 1)
        return at, at


Filter = Correlation | Length | Rank


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One filter of a Job's list; raises BadJobError for a mix out of range.

    implementation  a key of `engine.all_implementations()`, "auto", or the name of a file of the
                    user's own, "mine.cu"; of no account for a length, which the step before does
    block_xy        threads per block; x counts samples (pixel × channel) along a row
    own             the text of the user's file; of no account where it is none
    mix             share of the filter's output in what it gives; the rest is the filter's input.
                    Of a gradient the length has it.
    title           what people call it
    """

    filter: Filter
    implementation: str = "sequential"
    block_xy: tuple[int, int] = (32, 8)
    own: str = field(default="", repr=False)
    mix: float = 1.0
    title: str = "Custom weights"

    def __post_init__(self) -> None:
        if not 0 <= self.mix <= 1:
            raise BadJobError(f"A step is mixed with its input from 0 to 1, not {self.mix:g}.")

    def same_work(self, other: Step) -> bool:
        """True if `other` gives the same, in whatever way it is computed."""
        return self.mix == other.mix and self.filter == other.filter

    @property
    def is_length(self) -> bool:
        """True of a length, which is one filter with the weights before it."""
        return isinstance(self.filter, Length)


LENGTH = Step(Length(), title="Length")


@dataclass(frozen=True, slots=True)
class StepRun:
    """One filter of a list, as one run of an implementation does it."""

    steps: tuple[Step, ...]  # one, or weights and a length, not mixed
    mix: float  # share of their output in what they give; the rest is their input
    taken: int  # steps of the job that are taken when they are
