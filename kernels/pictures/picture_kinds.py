"""Pictures of a kind, in any size: what a sweep filters where no picture is given."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.pictures.generated import (
    NOISE_SEED,
    checkerboard,
    gradient,
    noise,
    scene,
    stored_as,
    with_channels,
)

MOVE_Y, MOVE_X = 37, 101  # pixels from one of many pictures to the next; prime, so that few repeat


def of_kind(
    kind: str,
    height: int,
    width: int,
    channels: int = 1,
    pixel_type: str = "uint8",
    number: int = 0,
) -> NDArray[Any]:
    """Make a picture of one of KINDS, (height, width, channels), read-only.

    The last of 2 or 4 channels is alpha.

    number  0, 1, ...: so many pictures of one kind.  Noise is drawn anew; the others are moved, and
            what leaves at one side comes in at the other, which does not show where all is uniform.
    """
    if kind == "noise":
        picture = noise(height, width, channels, pixel_type, NOISE_SEED + number)
    else:
        piece = stored_as(with_channels(_PIECES[kind](height, width), channels), pixel_type)
        picture = _laid(piece, height, width, number)
    picture.flags.writeable = False
    return picture


def moved(picture: NDArray[Any], number: int) -> NDArray[Any]:
    """Return picture `number` of those that `picture` gives by moving it; the first is itself."""
    if number == 0:
        return picture
    made = _laid(picture, picture.shape[0], picture.shape[1], number)
    made.flags.writeable = False
    return made


def _laid(piece: NDArray[Any], height: int, width: int, number: int) -> NDArray[Any]:
    """Return a picture of (height, width) laid with `piece` over and over."""
    rows = (np.arange(height) + MOVE_Y * number) % piece.shape[0]
    columns = (np.arange(width) + MOVE_X * number) % piece.shape[1]
    laid: NDArray[Any] = piece.take(rows, axis=0).take(columns, axis=1)
    return laid


def _photo(height: int, width: int) -> NDArray[np.uint8]:
    """Return the scene beside and above its mirror images, so that it can be laid without seams.

    A photograph is much the same on every scale, but not when its pixels are drawn out: so where
    the picture is to be smaller the scene is, by a whole factor, and where larger it is repeated.
    """
    painted = _scene()
    scale = max(1, min(painted.shape[0] // height, painted.shape[1] // width))
    rows, columns = painted.shape[0] // scale, painted.shape[1] // scale
    squares = painted[: rows * scale, : columns * scale].reshape(rows, scale, columns, scale, 3)
    small = np.rint(squares.mean(axis=(1, 3))).astype(np.uint8)
    row = np.concatenate([small, small[:, ::-1]], axis=1)
    return np.concatenate([row, row[::-1]])


_scene = cache(scene)  # for this module alone, which only reads it


def _grey(height: int, width: int) -> NDArray[np.uint16]:  # noqa: ARG001 - the same in any size
    """Return half of white."""
    return np.full((1, 1, 1), 32768, np.uint16)


def _squares(height: int, width: int) -> NDArray[np.uint8]:  # noqa: ARG001
    return checkerboard(16)


def _ramp(height: int, width: int) -> NDArray[np.uint16]:  # noqa: ARG001
    return gradient(1, width)


# What to lay a picture of (height, width) with.
_PIECES: dict[str, Callable[[int, int], NDArray[Any]]] = {
    "photo": _photo,
    "uniform": _grey,
    "checkerboard": _squares,
    "gradient": _ramp,
}
KINDS = ("noise", *_PIECES)
