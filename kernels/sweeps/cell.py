"""One measurement asked for, in plain values that JSON can hold; its Job is made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kernels.pictures.picture_kinds import KINDS

Matrix = tuple[tuple[float, ...], ...]

PICTURE_KINDS = KINDS  # made in any size; any other name is a picture that is given


@dataclass(frozen=True, slots=True)
class Cell:
    """Everything that decides how long something takes.

    picture   one of PICTURE_KINDS, or the name of a picture that is given
    count     so many pictures one after another; a time is the sum of theirs, each sampled alone
    sigma     None: the filter's own default for its size
    matrix    the weights of the filter "custom"; None for all others
    block_xy  None on the CPU, and where a rung has its own shape
    cache     of the GPU, before each sample; None on the CPU
    devices   how many GPUs share the rows of each picture; 1 on the CPU, where it means nothing
    text_sha256  of a kernel of the user's own, as `own_kernels.text_hash` gives it: files change,
              and two texts of one name are two things to measure; "" for all others
    """

    implementation: str
    block_xy: tuple[int, int] | None = None
    filter: str = "gaussian"
    ksize: int = 3
    sigma: float | None = None
    amount: float = 1.0
    matrix: Matrix | None = None
    border: str = "clamp"
    picture: str = "noise"
    width: int = 512
    height: int = 512
    channels: int = 1
    pixel_type: str = "float32"
    count: int = 1
    cache: Literal["cold", "warm"] | None = None
    text_sha256: str = ""
    devices: int = 1

    @property
    def megapixels(self) -> float:
        """Return the megapixels of all its pictures together."""
        return self.width * self.height * self.count / 1e6

    @property
    def pixels(self) -> int:
        """Return the number of pixels of one picture."""
        return self.width * self.height

    @property
    def size_in_words(self) -> str:
        """Return "1024²" or "640×480"."""
        if self.width == self.height:
            return f"{self.width}²"
        return f"{self.width}×{self.height}"

    @property
    def is_made(self) -> bool:
        """Return whether its picture is of one of PICTURE_KINDS, rather than from a file."""
        return self.picture in PICTURE_KINDS

    @property
    def block_in_words(self) -> str:
        """Return "32×8", or "" where there is no choice of a block shape."""
        return "{}×{}".format(*self.block_xy) if self.block_xy else ""

    @property
    def devices_in_words(self) -> str:
        """Return "2 GPUs", or "" where it is one, or none."""
        return f"{self.devices} GPUs" if self.devices > 1 else ""
