"""One step of a job's list: a filter, and how it is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import may_change, read_only
from kernels.core.errors import BadJobError
from kernels.core.nonlinear import MAX_KSIZE, Morphology, NonLinear, Rank

MEAN_WITHIN = 1e-3  # of 1: sums of weights that are typed with three digits
MAX_OFFSET = 65_535.0  # the largest sample of an integer type
LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # of red, green and blue: BT.601
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

    @property
    def keeps_flat(self) -> bool:
        """True if the weights add up to 1, so that what is the same everywhere stays as it is."""
        return abs(float(self.weights.sum(dtype=np.float64)) - 1) < MEAN_WITHIN

    @property
    def is_identity(self) -> bool:
        """True if every sample stays as it is."""
        is_one = self.weights[self.reach, self.reach] == 1 and np.count_nonzero(self.weights) == 1
        return bool(is_one) and not self.offset


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

    keeps_flat: ClassVar[bool] = False
    ksize: ClassVar[int] = 3
    reach: ClassVar[int] = 1
    taps: ClassVar[int] = 9


Filter = Correlation | Length | NonLinear


class Blend(NamedTuple):
    """How a filter's output and its input make what a step gives.

    mix, threshold  as fields of a Step
    offset          added to colours that are weighted by alpha, times the alpha that is filtered
    opaque          alpha of an opaque pixel where pixels whose alpha was ranked get theirs back
    """

    mix: float = 1.0
    threshold: float = 0.0
    offset: float = 0.0
    is_grey: bool = False
    opaque: float = 0.0


OUTPUT = Blend()  # the output alone


def make_grey(samples: NDArray[Any]) -> None:
    """Put their luma in place of colours, (H, W, C) of floats; alpha stays, and so does grey."""
    if samples.shape[2] > 2:  # one after another: a product of matrices adds up as it likes
        red, green, blue = (samples[..., c] * LUMA.astype(samples.dtype)[c] for c in range(3))
        samples[..., :3] = (red + green + blue)[..., np.newaxis]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One filter of a Job's list; raises BadJobError for a mix out of range.

    implementation  a key of `engine.all_implementations()`, "auto", or the name of a file of the
                    user's own, "mine.cu"; of no account for a length, which the step before does
    block_xy        threads per block; x counts samples (pixel × channel) along a row
    own             the text of the user's file; of no account where it is none
    mix             share of the filter's output in what it gives; the rest is the filter's input.
                    Of a gradient the length has it.
    threshold       is taken off every change of a sample, in sample values; changes up to it
                    vanish.  So none jumps, as where changes are made as a whole or not at all.
    is_grey         whether colours of the filter's output become their luma, before all this
    title           what people call it
    """

    filter: Filter
    implementation: str = "sequential"
    block_xy: tuple[int, int] = (32, 8)
    own: str = field(default="", repr=False)
    mix: float = 1.0
    threshold: float = 0.0
    is_grey: bool = False
    title: str = "Custom weights"

    def __post_init__(self) -> None:
        if not 0 <= self.mix <= 1:
            raise BadJobError(f"A step is mixed with its input from 0 to 1, not {self.mix:g}.")
        if not 0 <= self.threshold <= float(np.finfo(np.float32).max):
            raise BadJobError(f"A threshold is at least 0, in float32, not {self.threshold:g}.")

    def same_work(self, other: Step) -> bool:
        """True if `other` gives the same, in whatever way it is computed."""
        return self.blend == other.blend and self.filter == other.filter

    @property
    def blend(self) -> Blend:
        """How its output and its input make what it gives."""
        return Blend(self.mix, self.threshold, is_grey=self.is_grey)

    @property
    def is_length(self) -> bool:
        """True of a length, which is one filter with the weights before it."""
        return isinstance(self.filter, Length)


LENGTH = Step(Length(), title="Length")


@dataclass(frozen=True, slots=True)
class StepRun:
    """One filter of a list, as one run of an implementation does it."""

    steps: tuple[Step, ...]  # one, or weights and a length, not blended
    blend: Blend  # how their output and their input make what they give
    taken: int  # steps of the job that are taken when they are
    filters_alpha: bool = False  # as if it were a colour; `keeps_alpha`: that is not given on
    keeps_alpha: bool = True  # every pixel has its own when that is blended with what was before

    def keeps_integers(self, border: str) -> bool:
        """True if, given samples of an integer type, all that it gives are samples of that type."""
        given = self.steps[0].filter
        if self.blend != OUTPUT:
            return False
        if isinstance(given, Rank):  # with crop a median may be the mean of two samples
            return given.percentile != 50 or border != "crop"
        # Before a border of zeros the closing is below the picture.
        return isinstance(given, Morphology) and (given.kind != "black_hat" or border != "zero")
