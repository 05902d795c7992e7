"""Filters that are no weighted sum, as a step of a list has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kernels.core.errors import BadJobError

MAX_KSIZE, MAX_PATCH = 127, 31


@dataclass(frozen=True, slots=True)
class Window:
    """What looks at K×K pixels around one; raises BadJobError for a K that makes no window."""

    ksize: int

    def __post_init__(self) -> None:
        if not (1 <= self.ksize <= MAX_KSIZE and self.ksize % 2):
            raise BadJobError(f"A window's size is odd, 1 to {MAX_KSIZE}, not {self.ksize}.")

    @property
    def keeps_flat(self) -> bool:
        """True if what is the same everywhere stays as it is: of all but differences."""
        return True

    @property
    def radius(self) -> int:
        """Pixels of the window to each side of its middle."""
        return self.ksize // 2

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts."""
        return self.radius

    @property
    def taps(self) -> int:
        """Samples looked at for one."""
        return self.ksize**2

    def disk(self) -> NDArray[np.bool_]:
        """True at dx² + dy² ≤ (K // 2)²: (K, K)."""
        along = np.arange(self.ksize) - self.radius
        return np.asarray(along[:, np.newaxis] ** 2 + along**2 <= self.radius**2)


@dataclass(frozen=True, slots=True)
class Rank(Window):
    """One of a window's samples in their order; raises BadJobError for what makes no window.

    ksize       K, odd: the window's side, or a disk's diameter
    percentile  which of the n samples that count: the last for 100, else number ⌊n · p / 100⌋ from
                0 (as scipy.ndimage.percentile_filter has it).  50 is the median; of an even number
                of samples, which only the border crop makes, it is the mean of the middle two.
    is_disk     whether only samples at dx² + dy² ≤ (K // 2)² count, instead of the whole square
    """

    percentile: float = 50.0
    is_disk: bool = False

    def __post_init__(self) -> None:
        Window.__post_init__(self)
        if not 0 <= self.percentile <= 100:
            raise BadJobError(f"A percentile is from 0 to 100, not {self.percentile:g}.")

    @property
    def window(self) -> NDArray[np.bool_]:
        """True where a sample counts: (K, K)."""
        return self.disk() if self.is_disk else np.ones((self.ksize, self.ksize), bool)

    @property
    def taps(self) -> int:
        """Samples looked at for one: for the extreme of a square down, and then along."""
        is_separable = self.percentile in (0, 100) and not self.is_disk
        return 2 * self.ksize if is_separable else self.ksize**2

    def ranks(self, count: Any) -> tuple[Any, Any]:
        """The numbers, in order and from 0, of the two of `count` samples whose mean is taken."""
        if self.percentile == 50:
            return (count - 1) // 2, count // 2
        at = np.minimum((count * self.percentile / 100).astype(int), count - 1)
        return at, at


# Which of a minimum and a maximum is taken of the picture, and which of what that gives.
ORDER = {"opening": (0.0, 100.0), "closing": (100.0, 0.0)}
Kind = Literal["opening", "closing", "gradient", "top_hat", "black_hat"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Morphology(Window):
    """A minimum and a maximum, and their difference or one from the picture.

    opening    the maximum of the minimum; closing: the minimum of the maximum.  The second is of
               what the first gives, which the border continues, and is of the same type
    gradient   maximum less minimum
    top_hat    the picture less its opening; black_hat: its closing less the picture
    is_disk    as a Rank has it
    """

    kind: Kind = "opening"
    is_disk: bool = False

    @property
    def keeps_flat(self) -> bool:
        """True if what is the same everywhere stays as it is."""
        return self.kind in ORDER

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts."""
        return self.radius if self.kind == "gradient" else 2 * self.radius

    @property
    def taps(self) -> int:
        """Samples looked at for one."""
        return sum(each.taps for each in self.ranks)

    @property
    def ranks(self) -> tuple[Rank, Rank]:
        """The first and the second; of a gradient the maximum and the minimum of the picture."""
        closes = self.kind in ("closing", "black_hat", "gradient")
        order = ORDER["closing" if closes else "opening"]
        first, second = (Rank(self.ksize, each, self.is_disk) for each in order)
        return first, second


@dataclass(frozen=True, slots=True)
class Bilateral(Window):
    """The mean of the pixels of a disk, by how near and how alike they are (Tomasi, Manduchi 1998).

    A pixel at dx, dy whose colour differs by c, the sum over channels of absolute differences, has
    the weight exp(-(dx² + dy²) / 2σs² - c² / 2σc²); alpha that is copied is none.

    sigma_space   σs, in pixels
    sigma_colour  σc, in sample values
    """

    sigma_space: float = 1.0
    sigma_colour: float = 1.0

    def __post_init__(self) -> None:
        Window.__post_init__(self)
        _positive("sigma", self.sigma_space)
        _positive("colour sigma", self.sigma_colour)

    def scaled(self, white: float) -> Bilateral:
        """This, given as a part of white, in sample values."""
        return replace(self, sigma_colour=self.sigma_colour * white)


@dataclass(frozen=True, slots=True)
class NonLocalMeans(Window):
    """The mean of the pixels of a K×K window, by how alike what is around them is (Buades 2005).

    A pixel whose patch differs by d², the mean of the squared differences of the patches' samples,
    has the weight exp(-d² / h²), or none where that is below CUT; alpha that is copied is none.  In
    Buades' paper a Gaussian weighs a patch's samples, and nothing is cut.  With the border crop
    pixels outside have no weight, and of patches only pairs that are both inside count.

    patch     side of a patch, odd
    strength  h, in sample values
    """

    patch: int = 7
    strength: float = 1.0

    def __post_init__(self) -> None:
        Window.__post_init__(self)
        if not (1 <= self.patch <= MAX_PATCH and self.patch % 2):
            raise BadJobError(f"A patch's size is odd, 1 to {MAX_PATCH}, not {self.patch}.")
        _positive("strength", self.strength)

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts."""
        return self.radius + self.patch // 2

    @property
    def taps(self) -> int:
        """Differences for a sample, where none is used again."""
        return self.ksize**2 * self.patch**2

    def scaled(self, white: float) -> NonLocalMeans:
        """This, given as a part of white, in sample values."""
        return replace(self, strength=self.strength * white)


CUT = 0.001  # as in OpenCV


@dataclass(frozen=True, slots=True)
class Guided(Window):
    """The guided filter of a channel by itself (He, Sun, Tang 2010): smooth where it is flat.

    With m the mean of a K×K window and v the mean of its squares less m²: a = v / (v + ε) and
    b = (1 - a) m; what it gives is mean(a) · sample + mean(b).  Beyond the picture a and b are
    continued by the border, as samples are; with crop means are of what is inside.

    epsilon  ε, in squared sample values
    """

    epsilon: float = 1.0

    def __post_init__(self) -> None:
        Window.__post_init__(self)
        _positive("epsilon", self.epsilon)

    @property
    def reach(self) -> int:
        """Distance in pixels, along an axis, at which a sample still counts."""
        return 2 * self.radius

    @property
    def taps(self) -> int:
        """Samples looked at for one."""
        return 8 * self.ksize  # of a mean they are added down, and then along

    def scaled(self, white: float) -> Guided:
        """This, given as a part of white, in sample values."""
        return replace(self, epsilon=self.epsilon * white**2)


def _positive(name: str, value: float) -> None:
    if not 0 < value < float("inf"):
        raise BadJobError(f"A {name} is above 0, not {value:g}.")


NonLinear = Rank | Morphology | Bilateral | NonLocalMeans | Guided
