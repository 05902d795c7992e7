"""The Job that a cell stands for: its picture made or given, its weights worked out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.device import Device
from kernels.core.errors import (
    BadJobError,
    CannotRunError,
    DeviceLostError,
    KernelError,
    OutOfMemoryError,
    SessionFileError,
)
from kernels.core.health import health_of_all
from kernels.core.job import PIXEL_TYPES, Job
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.cuda.staging import Transfers
from kernels.engine.auto import DEFAULT_BLOCK_XY
from kernels.engine.engine import Engine
from kernels.engine.own_kernel import UNTIMED
from kernels.pictures.generated import stored_as, with_channels
from kernels.pictures.picture_kinds import moved, of_kind
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import is_own, read_own_kernel, text_hash
from kernels.rungs.rung import Rung
from kernels.sweeps.cell import PICTURE_KINDS, Cell
from kernels.sweeps.plan import NOT_READ, OwnText, Plan
from kernels.sweeps.record import Measurement

Paths = Mapping[str, Path]  # of files of the user's own, by their names
OTHER_TEXT = (
    "{key} has another text now than the one that this session measures; measure it in a new "
    "sweep, or put the text of then in its place."
)


def with_texts(plan: Plan, rungs: Iterable[Rung]) -> tuple[Plan, Texts]:
    """Return `plan` with what tells the texts of these kernels of the user's own apart, and them.

    Those that it does not measure are left out.
    """
    measured = [each for each in rungs if each.key in plan.implementations]
    own = tuple(
        OwnText(each.key, text_hash(each.source), bool(each.own_block)) for each in measured
    )
    return replace(plan, own_texts=own), {text_hash(each.source): each.source for each in measured}


def read_texts(plan: Plan, paths: Paths) -> tuple[Plan, Texts]:
    """Return `plan` as `with_texts`, with the texts that its files have now.

    Raises CannotRunError for one that is not there, or makes no kernel.
    """
    return with_texts(plan, [_read(key, paths) for key in filter(is_own, plan.implementations)])


def read_same_texts(plan: Plan, paths: Paths) -> Texts:
    """Return the texts that `plan`, which was begun before, measures.

    Raises SessionFileError where a file has another one by now, and as `read_texts`.
    """
    now, texts = read_texts(plan, paths)
    for then, found in zip(plan.own_texts, now.own_texts, strict=True):
        if then.sha256 != found.sha256:
            raise SessionFileError(OTHER_TEXT.format(key=then.key))
    return texts


def _read(key: str, paths: Paths) -> Rung:
    if key not in paths:
        raise CannotRunError(NOT_READ.format(key=key))
    try:
        return read_own_kernel(paths[key])
    except HeaderError as error:
        raise CannotRunError(str(error)) from error


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


def refusal(engine: Engine, cell: Cell, texts: Texts = NO_TEXTS) -> str | None:
    """Return why `cell` cannot be measured here, or None."""
    if is_own(cell.implementation) and (reason := _why_no_own(engine, cell, texts)):
        return reason
    try:
        return engine.why_not(stand_in_job(cell, texts))
    except KernelError as error:
        return str(error)


def refuse(engine: Engine, cell: Cell, texts: Texts) -> None:
    """Raise what the engine would, before a picture is made for `cell`.

    That is DeviceLostError or CannotRunError, or BadJobError for what makes no sense.
    """
    job = stand_in_job(cell, texts)
    if is_own(cell.implementation):
        if engine.lost:
            raise DeviceLostError(engine.lost)
        if reason := refusal(engine, cell, texts):
            raise CannotRunError(reason)
    elif engine.why_not(job):
        next(engine.filtering(job))


def _why_no_own(engine: Engine, cell: Cell, texts: Texts) -> str | None:
    """Return why a kernel of the user's own, whatever is in it, has no time here, or None."""
    key = cell.implementation
    if cell.text_sha256 not in texts:
        return NOT_READ.format(key=key)
    return None if isinstance(engine.device, Device) else UNTIMED.format(key=key)


def one_after_another(parts: Sequence[Measurement]) -> Measurement:
    """Return the timing of all of `parts`, at least one, run in turn.

    Sample i is the sum of their samples i, as far as all have it.

    What ran, and the occupancy, are those of the first; why sampling ended, of the shortest.
    """
    first, shortest = parts[0], min(parts, key=lambda each: len(each.kernel.samples_ms))
    if len(parts) == 1:
        return first
    samples_ms = tuple(map(sum, zip(*(each.kernel.samples_ms for each in parts), strict=False)))
    compile_ms = [each.compile_ms for each in parts if each.compile_ms is not None]
    return replace(
        first,
        kernel=replace(shortest.kernel, samples_ms=samples_ms),
        check=_all_checks([each.check for each in parts if each.check is not None]),
        compile_ms=sum(compile_ms) if compile_ms else None,
        health=health_of_all(each.health for each in parts),
        compulsory_bytes=sum(each.compulsory_bytes for each in parts),
    )


def repeated(transfers: Transfers, count: int) -> Transfers:
    """Return the transfers of `count` pictures, from those of one."""

    def times(timing: Timing) -> Timing:
        return replace(timing, samples_ms=tuple(count * each for each in timing.samples_ms))

    return Transfers(
        picture_bytes=count * transfers.picture_bytes,
        pageable_up=times(transfers.pageable_up),
        pageable_down=times(transfers.pageable_down),
        pinned_up=times(transfers.pinned_up),
        pinned_down=times(transfers.pinned_down),
    )


def _all_checks(checks: Sequence[Check]) -> Check | None:
    """Return one verdict on many answers: the worst place of any, and all that was looked at."""
    if not checks:
        return None
    worst = max(checks, key=lambda each: (not each.ok, each.max_error))
    return replace(
        worst,
        differing=sum(each.differing for each in checks),
        wrong=sum(each.wrong for each in checks),
        bound=max(each.bound for each in checks),
        checked=sum(each.checked for each in checks),
        total=sum(each.total for each in checks),
        levels=max(each.levels for each in checks),
        samples=sum(each.samples for each in checks),
        library=next((each.library for each in checks if each.library), ""),
    )
