"""A picture that does not fit into memory, opened all the same: a reduced copy of it.

That is one that lies in the file, as slides have them, or else every so many-th pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.files.large_pictures import LargePicture
from workbench.files.needs import Need, is_large
from workbench.files.picture_errors import ImageFileError, StoppedError
from workbench.model.large_source import LargeSource
from workbench.model.state import Picture

MAX_SHOWN_PIXELS = 40_000_000  # of a copy; 100,000×100,000 are shown at 1/16
WORTH = 16  # a copy in the file with fewer than the largest number by this is not worth it
NEWS_S = 0.1  # between two words on how far it is

Size = tuple[int, int]  # width and height
Say = Callable[[float], None]  # is told which share has been read


def load_reduced(
    path: Path, is_stopped: Callable[[], bool] = lambda: False, say: Say = lambda _: None
) -> Picture:
    """Read a copy of a picture that fits into memory; all of it where that does.

    is_stopped  as `image_files.load` has it
    say         is told now and then which share has been read

    Raises ImageFileError.
    """
    with LargePicture(path) as whole:
        like, size, sizes = whole.sample(), (whole.width, whole.height), _sizes(whole)

    def fits(each: Size) -> bool:
        return _fits(each, like.samples)

    choice = _choice(sizes, fits)
    try:
        samples = _read(path, choice, like, is_stopped, say)
    except ImageFileError as error:
        if isinstance(error, StoppedError) or choice.level == 0:
            raise
        choice = _choice(sizes[:1], fits)  # the copy in the file is damaged
        samples = _read(path, choice, like, is_stopped, say)
    if choice == _Choice(0):
        return replace(like, samples=samples)
    large = LargeSource(*size, choice.step * _factor(size, sizes[choice.level]))
    return replace(like, samples=samples, large=large, notes=(*like.notes, _note(large, choice)))


def _factor(size: Size, copy: Size) -> float:
    """Return how many pixels of the whole are one of a copy, rounded where its size was."""
    factor = size[0] / copy[0]
    whole = round(factor)
    return whole if abs(factor - whole) * copy[0] <= 2 * whole else factor


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice of what to read: a copy in the file, 0 the whole, and every step-th pixel of it."""

    level: int
    step: int = 1


def _choice(sizes: Sequence[Size], fits: Callable[[Size], bool]) -> _Choice:
    """Return what gives about the largest copy that fits, and reads little for it.

    sizes  of the whole, then of its copies in the file, each smaller than the one before
    """
    best = next((number for number, size in enumerate(sizes) if fits(size)), None)
    if best == 0:
        return _Choice(0)
    larger = (len(sizes) if best is None else best) - 1
    step = 2
    while not fits(_reduced(sizes[larger], step)):
        step *= 2
    made = _pixels(_reduced(sizes[larger], step))
    if best is not None and WORTH * _pixels(sizes[best]) >= made:
        return _Choice(best)
    return _Choice(larger, step)


def _sizes(whole: LargePicture) -> Sequence[Size]:
    """Return the sizes of the whole and of its copies in the file; of damaged ones none."""
    try:
        return whole.sizes
    except ImageFileError:
        return ((whole.width, whole.height),)


def _reduced(size: Size, step: int) -> Size:
    return -(-size[0] // step), -(-size[1] // step)


def _pixels(size: Size) -> int:
    return size[0] * size[1]


def _fits(size: Size, pixel: NDArray[Any]) -> bool:
    """Return whether so many pixels like that one can be worked on at ease."""
    samples = _pixels(size) * pixel.nbytes
    need = Need("", *size, pixel.shape[2], samples, samples)
    return min(size) < 2 or (_pixels(size) <= MAX_SHOWN_PIXELS and not is_large(need))


def _read(
    path: Path, choice: _Choice, like: Picture, is_stopped: Callable[[], bool], say: Say
) -> NDArray[Any]:
    """Return (H, W, C) of what was chosen; from the whole where the copy is of another kind."""
    with LargePicture(path, level=choice.level) as picture:
        channels, dtype = like.samples.shape[2], like.samples.dtype
        if (picture.channels, picture.dtype) != (channels, dtype):
            raise ImageFileError(f"The reduced copies in {path.name} are of another kind.")
        width, height = _reduced((picture.width, picture.height), choice.step)
        samples = np.empty((height, width, channels), dtype)
        columns, rows = (
            _middles(count, choice.step, extent)
            for count, extent in ((width, picture.width), (height, picture.height))
        )
        told_s = monotonic()
        for number, row in enumerate(rows):
            if is_stopped():
                raise StoppedError("Reading was cancelled.")
            samples[number] = picture.rows(row, row + 1)[0, columns]
            if monotonic() - told_s > NEWS_S:
                told_s = monotonic()
                say(number / height)
    return samples


def _middles(count: int, step: int, extent: int) -> NDArray[np.intp]:
    """Return which pixels along an axis stand for `step` of them each."""
    return np.minimum(np.arange(count) * step + step // 2, extent - 1)


def _note(large: LargeSource, choice: _Choice) -> str:
    one = f"one pixel of every {choice.step}×{choice.step}"
    where = "a reduced copy in the file" if choice.level else one
    return f"Shown at {large.scale_in_words}, from {where}; zoom in for full resolution."
