"""The built-in pictures, one of them from a file: the same on every computer in every pixel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.cache import read_only
from kernels.core.step import LUMA

SCENE_FILE = Path(__file__).with_name("scene.png")
NOISE_SEED = 42
CELL = 8  # pixels of a checkerboard's square


def white(dtype: np.dtype[Any]) -> float:
    """The sample value that is full intensity: 255, 65535, or 1.0 for floats."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def stored_as(samples: NDArray[Any], pixel_type: str) -> NDArray[Any]:
    """Convert `samples` to another pixel type, from black to white as before.

    To integers: rounded half to even and saturated, NaN as 0.  Between floats: converted, so that
    what is too large for float16 is infinite.
    """
    old, new = samples.dtype, np.dtype(pixel_type)
    if old == new:
        return samples
    with np.errstate(over="ignore"):
        if old.kind == new.kind == "f":
            return samples.astype(new)
        values = samples.astype(np.float32)
        values *= np.float32(white(new) / white(old))
        if new.kind == "u":
            np.nan_to_num(values, copy=False, nan=0.0)
            np.rint(values, out=values)
            np.clip(values, 0, np.float32(white(new)), out=values)
        return values.astype(new)


def beyond(samples: NDArray[Any], pixel_type: str) -> int:
    """The number of `samples` that `stored_as` would cut off or make infinite."""
    old, new = samples.dtype, np.dtype(pixel_type)
    if old.kind != "f" or (old.itemsize <= new.itemsize and new.kind == "f"):
        return 0
    high = 1.0 if new.kind == "u" else float(np.finfo(new).max)
    low = 0.0 if new.kind == "u" else -high
    outside = int(np.count_nonzero(samples < low)) + int(np.count_nonzero(samples > high))
    return outside - (int(np.isinf(samples).sum()) if new.kind == "f" else 0)


def scene() -> NDArray[np.uint8]:
    """Read the bundled picture, an evening by a lake: (512, 768, 3)."""
    import imageio.v3 as iio

    return np.asarray(iio.imread(SCENE_FILE, plugin="pillow", mode="RGB"), np.uint8)


def checkerboard(size: int = 64) -> NDArray[np.uint8]:
    """Make squares of CELL pixels, 0 and 255, black at the top left: (size, size, 1)."""
    y, x = np.indices((size, size)) // CELL
    return np.asarray((x + y) % 2 * 255, np.uint8)[:, :, np.newaxis]


def noise(
    height: int = 512,
    width: int = 512,
    channels: int = 1,
    pixel_type: str = "uint8",
    seed: int = NOISE_SEED,
) -> NDArray[Any]:
    """Make independent samples, evenly from black to white: (height, width, channels)."""
    rng, shape = np.random.default_rng(seed), (height, width, channels)
    if pixel_type.startswith("float"):
        return rng.random(shape, np.float32).astype(pixel_type, copy=False)
    return rng.integers(0, np.iinfo(pixel_type).max, shape, pixel_type, endpoint=True)


def salt_and_pepper(share: float = 0.06) -> NDArray[np.uint8]:
    """The scene with a `share` of its pixels white or black, in turn by chance: (512, 768, 3)."""
    picture = scene()
    drawn = np.random.default_rng(NOISE_SEED).random(picture.shape[:2])
    picture[drawn < share] = 255
    picture[drawn < share / 2] = 0
    return picture


def gradient(height: int = 256, width: int = 1024) -> NDArray[np.uint16]:
    """Make a 16-bit ramp from black at the left to white at the right: (height, width, 1)."""
    row = np.rint(np.linspace(0, 65535, width)).astype(np.uint16)
    return np.tile(row, (height, 1))[:, :, np.newaxis]


def zone_plate(size: int = 512) -> NDArray[np.uint8]:
    """Make rings that get finer from the middle to 2 pixels per ring: (size, size, 1)."""
    at = np.arange(size) - (size - 1) / 2
    phase = np.pi / size * (at[:, None] ** 2 + at[None, :] ** 2)
    return np.asarray(np.rint(127.5 + 127.5 * np.cos(phase)), np.uint8)[:, :, np.newaxis]


def impulse(size: int = 65) -> NDArray[np.float32]:
    """Make a single 1 in the middle of zeros: (size, size, 1)."""
    picture = np.zeros((size, size, 1), np.float32)
    picture[size // 2, size // 2] = 1
    return picture


def with_channels(samples: NDArray[Any], channels: int) -> NDArray[Any]:
    """Convert (H, W, C) to (H, W, channels): colour to luma (BT.601); a new alpha is white."""
    count = samples.shape[2]
    if count == channels:
        return samples
    is_grey, has_alpha = channels <= 2, channels in (2, 4)
    colour = samples[:, :, :-1] if count in (2, 4) else samples
    if is_grey and count > 2:
        luma = colour.astype(np.float32) @ LUMA
        whole = luma if samples.dtype.kind == "f" else np.rint(luma)
        colour = whole.astype(samples.dtype)[:, :, np.newaxis]
    elif not is_grey and count <= 2:
        colour = np.repeat(colour, 3, axis=2)
    if not has_alpha:
        return np.ascontiguousarray(colour)
    alpha = np.full_like(samples[:, :, :1], white(samples.dtype))
    return np.concatenate([colour, samples[:, :, -1:] if count in (2, 4) else alpha], axis=2)


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A picture to choose by name."""

    title: str
    make: Callable[[], NDArray[Any]]  # makes it: (H, W, C) uint8, uint16 or float32
    shows: str  # what it is good for, one sentence


PICTURES = {
    "scene": BuiltIn("Evening scene", scene, "Gradients, textures, thin lines and hard edges."),
    "checkerboard": BuiltIn("Checkerboard", checkerboard, "64×64, hard edges: any error shows."),
    "noise": BuiltIn("Noise", noise, "Every sample is random (seed 42): no mistake can hide."),
    "salt_and_pepper": BuiltIn("Salt and pepper", salt_and_pepper, "A median removes its dots."),
    "gradient": BuiltIn("Gradient", gradient, "16 bits: a smoothing filter must not change it."),
    "zone_plate": BuiltIn("Zone plate", zone_plate, "Every frequency in every direction."),
    "impulse": BuiltIn("Impulse", impulse, "One bright pixel, float32: shows the weights."),
}


MOVE_Y, MOVE_X = 37, 101  # pixels from one of many pictures to the next; prime, so that few repeat


def of_kind(
    kind: str,
    height: int,
    width: int,
    channels: int = 1,
    pixel_type: str = "uint8",
    number: int = 0,
) -> NDArray[Any]:
    """Make a read-only picture of one of KINDS: (height, width, channels).

    number  0, 1, ... of pictures of one kind.  Noise is drawn anew; the others are moved, and
            what leaves at one side comes in at the other, which does not show where all is uniform.
    """
    if kind == "noise":
        picture = noise(height, width, channels, pixel_type, NOISE_SEED + number)
    else:
        piece = stored_as(with_channels(_PIECES[kind](height, width), channels), pixel_type)
        picture = _laid(piece, height, width, number)
    return read_only(picture)


def moved(picture: NDArray[Any], number: int) -> NDArray[Any]:
    """Picture `number` of those that `picture` gives by moving it; the first is itself."""
    if number == 0:
        return picture
    return read_only(_laid(picture, picture.shape[0], picture.shape[1], number))


def _laid(piece: NDArray[Any], height: int, width: int, number: int) -> NDArray[Any]:
    """Lay a picture of (height, width) with `piece` over and over."""
    rows = (np.arange(height) + MOVE_Y * number) % piece.shape[0]
    columns = (np.arange(width) + MOVE_X * number) % piece.shape[1]
    laid: NDArray[Any] = piece.take(rows, axis=0).take(columns, axis=1)
    return laid


def _photo(height: int, width: int) -> NDArray[np.uint8]:
    """The scene beside and above its mirror images; where that is too large, by a whole factor."""
    painted = _scene()
    scale = max(1, min(painted.shape[0] // height, painted.shape[1] // width))
    rows, columns = painted.shape[0] // scale, painted.shape[1] // scale
    squares = painted[: rows * scale, : columns * scale].reshape(rows, scale, columns, scale, 3)
    small = np.rint(squares.mean(axis=(1, 3))).astype(np.uint8)
    row = np.concatenate([small, small[:, ::-1]], axis=1)
    return np.concatenate([row, row[::-1]])


_scene = cache(scene)  # for this module alone, which only reads it


# The tiles of a picture of (height, width).
_PIECES: dict[str, Callable[[int, int], NDArray[Any]]] = {
    "photo": _photo,
    "uniform": lambda *_: np.full((1, 1, 1), 32768, np.uint16),  # half of white
    "checkerboard": lambda *_: checkerboard(16),
    "gradient": lambda _, width: gradient(1, width),
}
KINDS = ("noise", *_PIECES)
