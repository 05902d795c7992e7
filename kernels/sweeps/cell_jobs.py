"""The Job that a cell stands for: its picture made or given, its weights worked out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.errors import BadJobError, OutOfMemoryError
from kernels.core.job import PIXEL_TYPES, Job
from kernels.engine.auto import DEFAULT_BLOCK_XY
from kernels.pictures.generated import stored_as, with_channels
from kernels.pictures.picture_kinds import moved, of_kind
from kernels.sweeps.cell import PICTURE_KINDS, Cell

KEPT_BYTES = 1 << 30  # of pictures, which a sweep comes back to in every round

Given = Mapping[str, NDArray[Any]]
NOTHING_GIVEN: Given = {}
Texts = Mapping[str, str]  # of kernels of the user's own, by their SHA-256
NO_TEXTS: Texts = {}


def job_of(
    cell: Cell, given: Given = NOTHING_GIVEN, number: int = 0, texts: Texts = NO_TEXTS
) -> Job:
    """Return the job of `cell`'s picture `number`, of cell.count.

    given  the pictures that are not of PICTURE_KINDS, by the name that cells have for them:
           (H, W, C) of one of PIXEL_TYPES; they are brought to the cell's channels and pixel type
    texts  without its own a job of the user's own kernel is of an empty one
    Its picture is read-only, so that it may stay on the device, and is kept while there is room
    for it among those asked for since (KEPT_BYTES), so that many cells share it, round after round.
    Raises BadJobError for what makes no sense, OutOfMemoryError for a picture that is too large.
    """
    with _refusing_nonsense(cell):
        if cell.is_made:
            facts = cell.height, cell.width, cell.channels, cell.pixel_type
            return _job(cell, _made.of(cell.picture, *facts, number), texts)
        return _job(cell, _given(cell, given, number), texts)


def stand_in_job(cell: Cell, texts: Texts = NO_TEXTS) -> Job:
    """Return a job as `job_of` does, with a black picture.

    It is for questions that do not depend on pixels, such as `why_not`. Raises BadJobError for
    what makes no sense.
    """
    with _refusing_nonsense(cell):
        return _job(cell, _black(cell.height, cell.width, cell.channels, cell.pixel_type), texts)


def weights_of(cell: Cell) -> NDArray[np.float32]:
    """Return the cell's weights, (ksize, ksize) float32.

    Raises BadJobError for a size or parameter out of range.
    """
    return _weights(cell.filter, cell.ksize, cell.sigma, cell.amount, cell.matrix)


def _job(cell: Cell, picture: NDArray[Any], texts: Texts) -> Job:
    chosen = filters.get(cell.filter)
    return Job(
        picture=picture,
        weights=weights_of(cell),
        border=cell.border,
        implementation=cell.implementation,
        block_xy=cell.block_xy or DEFAULT_BLOCK_XY,
        devices=cell.devices,
        filter_title=chosen.title,
        gradient=chosen.gradient,
        own=texts.get(cell.text_sha256, ""),
    )


@contextmanager
def _refusing_nonsense(cell: Cell) -> Iterator[None]:
    """Raise BadJobError for what would fail further down, in words that say less."""
    if cell.pixel_type not in PIXEL_TYPES:
        raise BadJobError(
            f"The pixel type must be {', '.join(PIXEL_TYPES)}, not {cell.pixel_type}."
        )
    if not 1 <= cell.channels <= 4:
        raise BadJobError(f"A picture has 1 to 4 channels, not {cell.channels}.")
    if min(cell.width, cell.height, cell.count) < 1:
        raise BadJobError(
            f"{cell.count} pictures of {cell.width}×{cell.height} pixels are none to filter."
        )
    try:
        yield
    except MemoryError as error:
        raise OutOfMemoryError(
            f"A picture of {cell.size_in_words} pixels does not fit into memory; use a smaller one."
        ) from error


class _Made:
    """The pictures that were made last, at most KEPT_BYTES of them; the newest in any case."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], NDArray[Any]] = OrderedDict()
        self._lock = Lock()  # jobs are made by threads of the window, too

    def of(
        self, kind: str, height: int, width: int, channels: int, pixel_type: str, number: int
    ) -> NDArray[Any]:
        asked = (kind, height, width, channels, pixel_type, number)
        with self._lock:
            if asked in self._kept:
                self._kept.move_to_end(asked)
                return self._kept[asked]
            room = KEPT_BYTES - height * width * channels * np.dtype(pixel_type).itemsize
            while self._kept and sum(each.nbytes for each in self._kept.values()) > room:
                self._kept.popitem(last=False)
            self._kept[asked] = of_kind(kind, height, width, channels, pixel_type, number)
            return self._kept[asked]


_made = _Made()


def _given(cell: Cell, given: Given, number: int) -> NDArray[Any]:
    if (picture := given.get(cell.picture)) is None:
        known = ", ".join((*PICTURE_KINDS, *given))
        raise BadJobError(f"There is no picture {cell.picture!r}; choose from {known}.")
    if picture.shape[:2] != (cell.height, cell.width):
        raise BadJobError(
            f"{cell.picture} has {picture.shape[1]}×{picture.shape[0]} pixels, not "
            f"{cell.width}×{cell.height}."
        )
    return _converted.of(picture, cell, number)


class _Converted:
    """The given picture that was brought to a cell's channels and pixel type last."""

    def __init__(self) -> None:
        self._kept: tuple[NDArray[Any], tuple[str, int, int], NDArray[Any]] | None = None

    def of(self, picture: NDArray[Any], cell: Cell, number: int) -> NDArray[Any]:
        form, kept = (cell.pixel_type, cell.channels, number), self._kept
        if kept is not None and kept[0] is picture and kept[1] == form:
            return kept[2]
        made = stored_as(with_channels(picture, cell.channels), cell.pixel_type)
        made = np.ascontiguousarray(moved(made, number))
        if made is picture and picture.flags.writeable:
            made = picture.copy()  # whoever gave it may go on writing to it
        made.flags.writeable = False
        self._kept = picture, form, made
        return made


_converted = _Converted()


@lru_cache(maxsize=2)
def _black(height: int, width: int, channels: int, pixel_type: str) -> NDArray[Any]:
    picture = np.zeros((height, width, channels), pixel_type)  # pages nobody reads cost nothing
    picture.flags.writeable = False
    return picture


@lru_cache(maxsize=64)
def _weights(
    filter_key: str, ksize: int, sigma: float | None, amount: float, matrix: Any
) -> NDArray[np.float32]:
    return filters.get(filter_key).weights(ksize, sigma=sigma, amount=amount, matrix=matrix)
