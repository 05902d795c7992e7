"""Parts of a picture larger than memory at full resolution, read on a thread of their own.

The worker filters them, before everything else: they are what the user looks at.  Of those asked
for meanwhile only the newest waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick, Progress, Result, Sampling
from kernels.core.picture_parts import Surroundings, surroundings_of
from kernels.engine.engine import Engine
from workbench.base.background import Background, Latest
from workbench.files.large_pictures import RegionReader
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import Display, show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.imaging.pictures import Picture, Region
from workbench.session.worker import Worker

HALO = 16  # the surroundings are read in multiples of it, so that another size reads none anew
ONCE = Sampling(max_samples=0, cache="warm", check=False)  # for the answer alone


@dataclass(frozen=True, slots=True, eq=False)
class RegionRequest:
    """A wish for a region: which, and how it is filtered and shown.

    picture  the copy that is shown of the whole
    job      what filters the copy
    dtype    what samples are filtered as: float32 where results below zero are kept
    before, after  how pictures are shown
    """

    picture: Picture
    region: Region
    job: Job
    dtype: np.dtype[Any]
    before: DisplayMapping
    after: DisplayMapping

    @property
    def surroundings(self) -> Surroundings:
        """Part of the whole to be read for it."""
        large = self.picture.large
        assert large is not None
        reach = -(-self.job.reach // HALO) * HALO
        size_hw = large.height, large.width
        return surroundings_of(
            self.region.rows, self.region.columns, size_hw, reach, self.job.border
        )


@dataclass(frozen=True, slots=True, eq=False)
class RegionPicture:
    """The samples of a region, (H, W, C), before or after, ready to be shown.

    picked  what ran where the job asked for `auto`
    """

    request: RegionRequest
    samples: NDArray[Any]
    display: Display
    picked: Pick | None = None


class Regions(QObject):
    """A link between the thread that reads regions and the worker that filters them.

    Signals:
        read(request, before): the region as it is in the file, a RegionPicture.
        filtered(request, after): the same filtered.
        failed(request, sentence): why it is not.
    """

    read = Signal(object, object)
    filtered = Signal(object, object)
    failed = Signal(object, str)

    def __init__(self, worker: Worker, parent: QObject) -> None:
        super().__init__(parent)
        self._worker = worker
        self._background = Background((ImageFileError,), self)
        self._reader = RegionReader()  # only the background's thread touches it
        read = partial(_read, self._reader)
        self._latest: Latest[RegionRequest] = Latest(self._background, read, self._take, self._fail)
        self._filtering: RegionRequest | None = None
        worker.region.stepped.connect(self._take_step)
        worker.region.ended.connect(self._take_end)

    def request(self, wanted: RegionRequest) -> None:
        """Read and filter a region next, in place of one that still waits."""
        self._latest.request(wanted)

    def forget(self) -> None:
        """Stop, and let go of the file."""
        self._latest.waiting = self._filtering = None
        self._worker.region.cancel()
        self._background.run(self._reader.close, lambda _: None, lambda _: None)

    def close(self) -> None:
        """Finish the reading, wait for the thread, and let go of the file."""
        self._background.close()
        self._reader.close()

    def _take(self, request: RegionRequest, found: tuple[NDArray[Any], RegionPicture]) -> None:
        samples, before = found
        self.read.emit(request, before)
        if self._latest.waiting is None:
            self._filtering = request
            self._worker.region.start(partial(_filtering, request, samples))

    def _fail(self, request: RegionRequest, error: Exception | None) -> None:
        if error is not None:
            self.failed.emit(request, str(error))

    def _take_step(self, step: object) -> None:
        if isinstance(step, RegionPicture):
            self.filtered.emit(step.request, step)

    def _take_end(self, error: KernelError | None, _is_complete: bool) -> None:
        if error is not None and self._filtering is not None:
            self.failed.emit(self._filtering, str(error))


def _read(reader: RegionReader, request: RegionRequest) -> tuple[NDArray[Any], RegionPicture]:
    """Read the samples to be filtered, and the region itself, ready to be shown."""
    picture, wanted = request.picture, request.surroundings
    assert picture.path is not None
    samples = reader.read(picture.path, str(picture.samples.dtype), wanted)
    own = np.ascontiguousarray(samples[wanted.own])
    before = RegionPicture(request, own, show(own, request.before))
    return samples.astype(request.dtype, copy=False), before


def _filtering(
    request: RegionRequest, samples: NDArray[Any], engine: Engine
) -> Iterator[Progress | RegionPicture]:
    """Filter the samples; the last step is the region's part of the output."""
    for step in engine.filtering(replace(request.job, picture=samples), ONCE):
        if isinstance(step, Result):
            own = np.ascontiguousarray(step.picture[request.surroundings.own])
            yield RegionPicture(request, own, show(own, request.after), step.picked)
        else:
            yield step
