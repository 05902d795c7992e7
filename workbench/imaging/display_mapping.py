"""The mapping of a result to the screen: its levels, and what becomes of negative values."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.pictures.generated import white
from workbench.base.memory import require_memory

NegativeDisplay = Literal["clip", "absolute", "offset", "scaled"]
MIN_GAIN, MAX_GAIN = 1.0, 1000.0  # of a difference that is shown
CANCEL = 1e-4  # of Σ|w|: weights whose sum is smaller cancel each other


@dataclass(frozen=True, slots=True)
class Tone:
    """How bright a picture is shown, and in which colours; its samples stay as they are.

    ev     stops: with each more, half the value is shown as white
    gamma  shares of white are shown raised to 1 / gamma
    """

    ev: float = 0.0
    gamma: float = 1.0
    is_false_colour: bool = False
    marks_clipped: bool = False

    def exposed(self, levels: tuple[float, float], is_centred: bool) -> tuple[float, float]:
        """Levels after exposure: black stays, or what lies in the middle."""
        low, high = levels
        stays = (low + high) / 2 if is_centred else low
        return stays + (low - stays) * 2**-self.ev, stays + (high - stays) * 2**-self.ev

    def __str__(self) -> str:
        words = (
            f"{self.ev:+.4g} EV".replace("-", "−") if self.ev else "",
            f"gamma {self.gamma:.4g}" if self.gamma != 1 else "",
            "false colour" if self.is_false_colour else "",
            "clipped: blue below, orange above" if self.marks_clipped else "",
        )
        return " · ".join(filter(None, words))


BARE = Tone()
LIGHT = Tone(gamma=2.2)  # of linear light, as screens expect it


@dataclass(frozen=True, slots=True)
class DisplayMapping:
    """The values shown as black and as white, and what becomes of negative ones.

    clip      values below black are black
    absolute  the sign is left out
    offset    zero is the middle grey
    scaled    zero is the middle grey, and nearly all values fit: see `analyses.around_zero`
    """

    levels: tuple[float, float] | None = None  # shown as black and white; None: `default_levels`
    negative_display: NegativeDisplay = "clip"
    full: float | None = None  # the value of full intensity; None: that of the samples' type
    tone: Tone = BARE


def default_levels(display: NegativeDisplay, span: float) -> tuple[float, float] | None:
    """The sample values shown as black and white; None: only the samples can tell.

    span  how far they are apart: the value of full intensity
    """
    if display == "scaled":
        return None
    return (-span / 2, span / 2) if display == "offset" else (0.0, span)


def natural_display(weights: NDArray[np.float32]) -> NegativeDisplay:
    """The display of results of `weights` that swing around zero: readable at first sight.

    Of a slope, whose weights change sign when turned by half a turn, the sign says little: it is
    left out.  Others, such as Laplacians, are fitted around grey.
    """
    size = float(np.abs(weights).max())
    is_slope = np.allclose(weights, -weights[::-1, ::-1], rtol=0, atol=CANCEL * size)
    return "absolute" if is_slope else "scaled"


def is_signed(weights: NDArray[np.float32], gradient: bool) -> bool:
    """True if results of `weights` swing around zero.

    They cancel each other, so that a flat area gives nothing.  A gradient's length is never
    below zero.
    """
    total = float(np.abs(weights).sum(dtype=np.float64))
    return not gradient and total > 0 and abs(float(weights.sum(dtype=np.float64))) < CANCEL * total


# From so many pixels on, grey is kept as one byte a pixel: painting it takes a little longer, but
# of 30,000 × 30,000 pixels it saves 3.3 GiB for each picture in view.
COMPACT_PIXELS = 1 << 26


def is_compact(height: int, width: int, channels: int) -> bool:
    """True if such a picture is shown from one byte per pixel."""
    return channels == 1 and height * width >= COMPACT_PIXELS


def shown_bytes(height: int, width: int, channels: int) -> int:
    """Bytes of the Display of such a picture: the picture and its averages."""
    return height * width * (1 if is_compact(height, width, channels) else 4) * 4 // 3


_wide: dict[int, tuple[weakref.ref[Any], NDArray[np.float32]]] = {}


def unclipped(samples: NDArray[Any]) -> NDArray[np.float32]:
    """The output with nothing cut off: (H, W, C) float32, read-only, in the same units.

    samples  read-only; the result is kept as long as they live
    Raises MemoryError.
    """
    if (known := known_unclipped(samples)) is not None:
        return known
    require_memory(3 * 4 * samples.size)  # what comes of it will be as wide
    wide = samples.astype(np.float32)
    wide.flags.writeable = False
    key = id(samples)
    _wide[key] = weakref.ref(samples, lambda _: _wide.pop(key, None)), wide
    return wide


def with_file_white(samples: NDArray[Any], picture: NDArray[Any]) -> NDArray[Any]:
    """Return `samples`, which were made of `picture`, in the units that files have.

    Floats that were made of whole numbers are in theirs, and white is 1 in a file of floats.
    """
    if samples.dtype.kind != "f" or picture.dtype.kind != "u":
        return samples
    require_memory(4 * samples.size)
    return samples / np.float32(white(picture.dtype))


def known_unclipped(samples: NDArray[Any]) -> NDArray[np.float32] | None:
    """The result of `unclipped`, if that has been computed: it takes a while."""
    found = _wide.get(id(samples))
    return found[1] if found is not None and found[0]() is samples else None
