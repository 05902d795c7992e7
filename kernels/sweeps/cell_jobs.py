"""The Job that a cell stands for: its picture made or given, its weights worked out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core import errors
from kernels.core.cache import LruCache, blank, read_only
from kernels.core.device import Device
from kernels.core.health import health_of_all
from kernels.core.job import PIXEL_TYPES, Job
from kernels.core.timing import Timing, added_up, in_a_row
from kernels.core.verdict import Check
from kernels.cuda.device_pictures import Transfers
from kernels.engine.auto import AUTO, DEFAULT_BLOCK_XY
from kernels.engine.engine import Engine
from kernels.engine.own_kernel import UNTIMED
from kernels.pictures.generated import moved, of_kind, stored_as, white, with_channels
from kernels.rungs.own_kernels import is_own, read_own_kernel, text_hash
from kernels.rungs.rung import Rung
from kernels.sweeps.plan import NOT_READ, PICTURE_KINDS, Cell, OwnText, Plan
from kernels.sweeps.record import Measurement
from kernels.sweeps.step_words import IDENTITY, WrittenStep, job_steps, steps_in

Paths = Mapping[str, Path]  # of user kernels, by their names
OTHER_TEXT = (
    "{key} has another text now than the one that this session measures; measure it in a new "
    "sweep, or put the text of then in its place."
)


def with_texts(plan: Plan, rungs: Iterable[Rung]) -> tuple[Plan, Texts]:
    """The plan with the hashes of those user kernels that it measures, and their sources."""
    measured = [(text_hash(e.source), e) for e in rungs if e.key in plan.implementations]
    own = tuple(OwnText(each.key, sha, bool(each.own_block)) for sha, each in measured)
    return replace(plan, own_texts=own), {sha: each.source for sha, each in measured}


def read_texts(plan: Plan, paths: Paths) -> tuple[Plan, Texts]:
    """`with_texts` of the present files.

    Raises CannotRunError for one that is not there, or makes no kernel.
    """
    rungs = []
    for key in filter(is_own, plan.implementations):
        if key not in paths:
            raise errors.CannotRunError(NOT_READ.format(key=key))
        rungs.append(read_own_kernel(paths[key]))
    return with_texts(plan, rungs)


def read_same_texts(plan: Plan, paths: Paths) -> Texts:
    """The sources that `plan`, which was begun before, measures.

    Raises SessionFileError where a file has another one by now, and as `read_texts`.
    """
    now, texts = read_texts(plan, paths)
    for then, found in zip(plan.own_texts, now.own_texts, strict=True):
        if then.sha256 != found.sha256:
            raise errors.SessionFileError(OTHER_TEXT.format(key=then.key))
    return texts


KEPT_BYTES = 1 << 30  # of pictures, which a sweep comes back to in every round

Given = Mapping[str, NDArray[Any]]
NOTHING_GIVEN: Given = {}
Texts = Mapping[str, str]  # of user kernels, by their SHA-256
NO_TEXTS: Texts = {}


def job_of(
    cell: Cell, given: Given = NOTHING_GIVEN, number: int = 0, texts: Texts = NO_TEXTS
) -> Job:
    """Make the job of `cell`'s picture `number`, of cell.count.

    given  pictures that are not of PICTURE_KINDS, by name: (H, W, C) of one of PIXEL_TYPES; they
           are converted to the cell's channels and pixel type
    texts  sources of user kernels; a missing one is empty
    The picture is read-only, so that it may stay on the device, and is kept as long as KEPT_BYTES
    allow, so that many cells share it, round after round.
    Raises BadJobError, and OutOfMemoryError for a picture that is too large.
    """
    with _checked(cell):
        if not cell.is_made:
            return _job(cell, _given(cell, given, number), texts)
        facts = cell.picture, cell.height, cell.width, cell.channels, cell.pixel_type, number
        size = cell.pixels * cell.channels * np.dtype(cell.pixel_type).itemsize
        return _job(cell, _kept.get_or_make(facts, lambda: of_kind(*facts), size), texts)


def stand_in_job(cell: Cell, texts: Texts = NO_TEXTS) -> Job:
    """Make a job with a black picture, where pixels do not matter.  Raises BadJobError."""
    with _checked(cell):
        return _job(cell, blank((cell.height, cell.width, cell.channels), cell.pixel_type), texts)


def steps_of(cell: Cell) -> tuple[WrittenStep, ...]:
    """The steps of the cell's list, or its filter as the only one.  Raises BadJobError."""
    if cell.filter == "custom" and cell.matrix is None:
        raise errors.BadJobError("Custom weights have to be given.")
    one = WrittenStep(cell.filter, cell.ksize, cell.sigma, cell.amount, cell.matrix or IDENTITY)
    return steps_in(cell.list) or (one,)


def _job(cell: Cell, picture: NDArray[Any], texts: Texts) -> Job:
    how = {
        "implementation": cell.implementation,
        "block_xy": cell.block_xy or DEFAULT_BLOCK_XY,
        "own": texts.get(cell.text_sha256, ""),
    }
    made = (job_steps(each, white(picture.dtype), **how) for each in steps_of(cell))
    return Job(picture, tuple(chain.from_iterable(made)), cell.border, devices=cell.devices)


@contextmanager
def _checked(cell: Cell) -> Iterator[None]:
    """Raise BadJobError for cells of which NumPy makes no picture; they may be from a file."""
    is_right = cell.pixel_type in PIXEL_TYPES and 1 <= cell.channels <= 4
    if not is_right or min(cell.width, cell.height, cell.count) < 1:
        raise errors.BadJobError(
            f"There is nothing to filter in {cell.count} pictures of {cell.width}×{cell.height} "
            f"pixels with {cell.channels} channels of {cell.pixel_type}."
        )
    try:
        yield
    except MemoryError as error:
        raise errors.OutOfMemoryError(
            f"A picture of {cell.size_in_words} pixels does not fit into memory; use a smaller one."
        ) from error


# The pictures that were made last; the newest in any case.
_kept = LruCache[tuple[object, ...], NDArray[Any]](KEPT_BYTES, lambda picture: picture.nbytes)


# The given picture that was converted last, to which form, and as what.
_converted: list[tuple[NDArray[Any], tuple[str, int, int], NDArray[Any]]] = []


def _given(cell: Cell, given: Given, number: int) -> NDArray[Any]:
    if (picture := given.get(cell.picture)) is None:
        known = ", ".join((*PICTURE_KINDS, *given))
        raise errors.BadJobError(f"There is no picture {cell.picture!r}; choose from {known}.")
    if picture.shape[:2] != (cell.height, cell.width):
        raise errors.BadJobError(
            f"{cell.picture} has {picture.shape[1]}×{picture.shape[0]} pixels, not "
            f"{cell.width}×{cell.height}."
        )
    form = cell.pixel_type, cell.channels, number
    for before, before_form, converted in _converted:
        if before is picture and before_form == form:
            return converted
    made = stored_as(with_channels(picture, cell.channels), cell.pixel_type)
    made = np.ascontiguousarray(moved(made, number))
    if made is picture and picture.flags.writeable:
        made = picture.copy()  # its owner may go on writing to it
    _converted[:] = [(picture, form, read_only(made))]
    return made


def refusal(engine: Engine, cell: Cell, texts: Texts = NO_TEXTS) -> str | None:
    """Reason why `cell` cannot be measured here, or None."""
    key = cell.implementation
    if is_own(key) and cell.text_sha256 not in texts:
        return NOT_READ.format(key=key)
    if is_own(key) and not isinstance(engine.device, Device):
        return UNTIMED.format(key=key)
    try:
        job = stand_in_job(cell, texts)
        return engine.why_not_auto(job) if key == AUTO.key else engine.why_not(job)
    except errors.KernelError as error:
        return str(error)


def one_after_another(parts: Sequence[Measurement]) -> Measurement:
    """Sum up `parts`, at least one, run in turn: sample i is the sum of their samples i.

    Launches and occupancy are those of the first; `ended` is that of the shortest.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    return replace(
        first,
        kernel=in_a_row([each.kernel for each in parts]),
        steps=tuple(map(in_a_row, zip(*(each.steps for each in parts), strict=True))),
        check=_all_checks([each.check for each in parts if each.check is not None]),
        compile_ms=added_up(each.compile_ms for each in parts),
        health=health_of_all(each.health for each in parts),
        compulsory_bytes=sum(each.compulsory_bytes for each in parts),
    )


def repeated(transfers: Transfers, count: int) -> Transfers:
    def times(timing: Timing) -> Timing:
        return replace(timing, samples_ms=tuple(count * each for each in timing.samples_ms))

    return Transfers(count * transfers.picture_bytes, *map(times, transfers.timings))


def _all_checks(checks: Sequence[Check]) -> Check | None:
    """One verdict on many outputs: the worst place of any, and the sum of all counts."""
    if not checks:
        return None
    worst = max(checks, key=lambda each: (not each.ok, each.max_error))
    start = replace(worst, total=sum(each.total for each in checks))
    return reduce(Check.with_strip, (each for each in checks if each is not worst), start)
