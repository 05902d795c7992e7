"""The part in view of a picture larger than memory, shown at full resolution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QTransform

from kernels.core.borders import Surroundings, surroundings_of
from kernels.core.errors import KernelError
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.engine.engine import Engine
from kernels.rungs.own_kernels import is_own
from workbench.base.background import Background, Latest, Throttle
from workbench.files.large_pictures import RegionReader
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display import show
from workbench.imaging.display_mapping import DisplayMapping
from workbench.imaging.pictures import LargeSource, Picture, Region
from workbench.model import intents
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.picture_layer import Patch
from workbench.session.live import Live
from workbench.session.store import Store
from workbench.session.worker import Worker

MAX_REGION_PIXELS = 1 << 23  # read and filtered at once: a screen of 3840×2160 at 100 %
MODES = ("result", "wipe", "side")  # that show pictures, not their difference
AROUND = 0.25  # of the view, on each side, that is read as well, for the next move
WAIT_MS = 15  # after a move, within which others are one with it
ZOOM_IN = "zoom in for full resolution"
READING = "reading full resolution…"
OWN = "user kernels are not run at full resolution"
PART = "a part is not filtered at full resolution, except from file to file"
FULL = "full resolution"
HALO = 16  # the surroundings are read in multiples of it, so that another size reads none anew
ONCE = Sampling(max_samples=0, cache="warm", check=False)  # for the answer alone


@dataclass(frozen=True, slots=True, eq=False)
class RegionRequest:
    """A wish for a region: which, and how it is filtered and shown.

    picture  the copy that is shown of the whole, and `large` that
    job      what filters the copy
    dtype    what samples are filtered as: float32 where results below zero are kept
    before, after  how pictures are shown
    """

    picture: Picture
    large: LargeSource
    region: Region
    job: Job
    dtype: np.dtype[Any]
    before: DisplayMapping
    after: DisplayMapping

    @property
    def surroundings(self) -> Surroundings:
        """Part of the whole to be read for it."""
        reach = -(-self.job.reach // HALO) * HALO
        size_hw = self.large.height, self.large.width
        return surroundings_of(
            self.region.rows, self.region.columns, size_hw, reach, self.job.border
        )

    def patch(self, samples: NDArray[Any], look: DisplayMapping, caption: str = "") -> Patch:
        """The region itself of what was read or filtered, ready to be shown."""
        own = np.ascontiguousarray(samples[self.surroundings.own])
        return Patch(self.region, self.large.step, own, show(own, look), caption)


def read_region(reader: RegionReader, request: RegionRequest) -> tuple[NDArray[Any], Patch]:
    """Read the samples to be filtered, and the region itself."""
    samples = reader.read(request.picture, request.surroundings)
    return samples.astype(request.dtype, copy=False), request.patch(samples, request.before)


def filtering_region(
    request: RegionRequest, samples: NDArray[Any], engine: Engine
) -> Iterator[Progress | tuple[RegionRequest, Patch]]:
    """Filter the samples; the last step has the region's part of the output."""
    for step in engine.filtering(request.job.but(picture=samples), ONCE):
        if isinstance(step, Result):  # its picture may be stored as floats
            job = request.job.but(picture=step.picture)
            below = " · ".join(filter(None, (intents.look_in_words(job, request.after), FULL)))
            caption = f"After · {intents.job_caption(request.job, step.picked)}\n{below}"
            yield request, request.patch(step.picture, request.after, caption)
        else:
            yield step


class FullResolution(QObject):
    """Reads and filters the part in view, and draws it over the copy.

    It is read on a thread of its own; the worker filters it before everything else, as it is what
    the user looks at.  Of the parts requested meanwhile only the newest waits.
    """

    def __init__(
        self, store: Store, live: Live, worker: Worker, compare: CompareView, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._store, self._live, self._worker, self._compare = store, live, worker, compare
        self._background = Background((ImageFileError,), self)
        self._reader = RegionReader()  # only the background's thread touches it
        self._latest: Latest[RegionRequest] = Latest(
            self._background,
            partial(read_region, self._reader),
            self._take_before,
            self._take_failure,
        )
        self._filtering: RegionRequest | None = None
        self._asked: RegionRequest | None = None  # the newest; None: there is nothing to show
        self._before: Patch | None = None
        self._after: Patch | None = None
        self._answered: RegionRequest | None = None  # that which `_after` belongs to
        self._throttle = Throttle(WAIT_MS, self._look, self)
        store.changed.connect(self._follow)
        live.after_ready.connect(lambda *_: self._throttle.ask())  # its levels may be new
        compare.arranged.connect(self._follow_view)
        worker.region.stepped.connect(self._take_after)
        worker.region.ended.connect(self._take_end)

    def close(self) -> None:
        """Finish the reading, wait for the thread, and let go of the file."""
        self._background.close()
        self._reader.close()

    def _follow(self, old: State, new: State) -> None:
        if old.picture is not new.picture:
            large = None if new.picture is None else new.picture.large
            self._drop("" if large is None else _scale(large))
            if old.picture is not None and old.picture.large is not None:
                self._latest.waiting = self._filtering = None
                self._worker.region.cancel()
                self._background.run(self._reader.close, lambda _: None, lambda _: None)
        self._follow_view()

    def _follow_view(self) -> None:
        picture = self._store.state.picture
        if picture is not None and picture.large is not None:
            self._throttle.ask()

    def _look(self) -> None:
        """Request the region in view, unless it is there; or show why not."""
        state = self._store.state
        picture, seen = state.picture, self._compare.seen
        is_there = self._compare.picture is picture  # else it comes in a moment
        if picture is None or picture.large is None or seen is None or not is_there:
            return
        job = intents.or_none(intents.job_for, state)
        scaled = QTransform.fromScale(picture.large.step, picture.large.step)
        part = scaled.mapRect(seen).toAlignedRect().intersected(_whole(picture.large))
        is_large = part.width() * part.height() > MAX_REGION_PIXELS
        is_seen = state.view_mode in MODES and not part.isEmpty() and self._compare.scale > 1
        if job is None or not is_seen or self._compare.compared:
            self._drop(_scale(picture.large))
        elif is_large or any(map(is_own, intents.keys_of(job))) or job.region is not None:
            is_of_own = any(map(is_own, intents.keys_of(job)))
            reason = ZOOM_IN if is_large else OWN if is_of_own else PART
            self._drop(f"{_scale(picture.large)} · {reason}")
        else:
            self._request(state, picture, job, part)

    def _request(self, state: State, picture: Picture, job: Job, part: QRect) -> None:
        asked, (before, after) = self._asked, self._mappings(state)
        is_wide = intents.is_unclipped(state)
        if asked is not None and asked.picture is picture and asked.job.same_run(job):
            is_same_look = (asked.before, asked.after) == (before, after)
            if is_same_look and asked.region.holds(_region(part)):
                return
        large = picture.large
        assert large is not None
        dtype = np.dtype(np.float32) if is_wide else picture.samples.dtype
        across, down = round(AROUND * part.width()), round(AROUND * part.height())
        around = part.adjusted(-across, -down, across, down).intersected(_whole(large))
        wanted = around if around.width() * around.height() <= MAX_REGION_PIXELS else part
        self._asked = RegionRequest(picture, large, _region(wanted), job, dtype, before, after)
        self._latest.request(self._asked)
        self._show()

    def _mappings(self, state: State) -> tuple[DisplayMapping, DisplayMapping]:
        """The display of before and after; one that fits its range takes the copy's."""
        after, shown = intents.look_for(state), self._live.shown
        if after.levels is None and after.negative_display == "scaled" and shown is not None:
            after = replace(after, levels=shown.levels)
        return intents.look_before(state), after

    def _take_before(self, request: RegionRequest, found: tuple[NDArray[Any], Patch]) -> None:
        samples, before = found
        if self._asked is not None and request.picture is self._asked.picture:
            self._before = before
            self._show()
        if self._latest.waiting is None:
            self._filtering = request
            self._worker.region.start(partial(filtering_region, request, samples))

    def _take_after(self, found: Progress | tuple[RegionRequest, Patch]) -> None:
        match found:
            case (request, patch) if request is self._asked:
                self._answered, self._after = request, patch
                self._show()

    def _take_end(self, error: KernelError | None, _is_complete: bool) -> None:
        if self._filtering is not None:
            self._take_failure(self._filtering, error)

    def _take_failure(self, request: RegionRequest, error: Exception | None) -> None:
        if error is not None and request is self._asked:
            self._before = self._after = None
            self._compare.show_patches(None, None, f"{_scale(request.large)} · {error}")

    def _show(self) -> None:
        assert self._asked is not None
        large = self._asked.large
        words = f"{_scale(large)} · {READING}"
        if self._after is not None and self._answered is self._asked:
            height, width = self._after.samples.shape[:2]
            words = f"Full resolution: {width:,}×{height:,} of {large.size_in_words}"
        self._compare.show_patches(self._before, self._after, words)

    def _drop(self, words: str) -> None:
        self._asked = self._answered = self._before = self._after = None
        self._compare.show_patches(None, None, words)


def _scale(large: LargeSource) -> str:
    return f"Shown at {large.scale_in_words}"


def _whole(large: LargeSource) -> QRect:
    return QRect(0, 0, large.width, large.height)


def _region(part: QRect) -> Region:
    return Region((part.top(), part.bottom() + 1), (part.left(), part.right() + 1))
