"""One GPU as the engine uses it: the stream, the pictures on it, and a job's run from start to end.

Everything here belongs to the thread that made it: CUDA's context, stream and arrays live and die
there.  CuPy is imported when a Gpu is made, not with this module.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.device import Device
from kernels.errors import OutOfMemoryError, cuda_errors_in_words
from kernels.job import Job, Progress, Result, Sampling
from kernels.launch import Launch, Program, Programs, prepare_launch
from kernels.rung import Rung
from kernels.sampling import Sampler
from kernels.staging import Staging, pinned_like
from kernels.timing import EventTimer

RESIDENT_PICTURES = 2  # the one in view, and a sweep's


class Gpu:
    """Runs jobs on one device; raises only the errors of `kernels.errors`."""

    def __init__(self, device: Device) -> None:
        import cupy as cp

        self._cp = cp
        self._device = device
        with cuda_errors_in_words("starting to use it"):
            cp.cuda.Device(device.index).use()
            self._stream = cp.cuda.Stream(non_blocking=True)
            with self._stream:
                self._timer = EventTimer(cp, device.l2_bytes)
            self._staging = Staging(cp, self._stream)
        self._programs = Programs(cp)
        self._resident: OrderedDict[int, tuple[NDArray[Any], Any]] = OrderedDict()

    def filtering(self, rung: Rung, job: Job, sampling: Sampling) -> Iterator[Progress | Result]:
        """Compile, upload, filter, download; then repeat the kernel for its timing."""
        if not self._programs.has(rung, job):
            yield Progress(f"compiling {rung.title}")
        program, compile_ms = self._compile(rung, job)
        if id(job.picture) not in self._resident:
            yield Progress("uploading the picture")
        source, upload_ms = self._upload(job)
        yield Progress(f"filtering with {rung.title}")
        launch = self._prepare(program, job, source)
        first_ms = self._sample(launch, sampling)
        picture, download_ms = self._download(launch)

        def result(samples: Sampler) -> Result:
            return Result(
                job=job,
                picture=picture,
                kernel=samples.timing(),
                ran=launch.ran(),
                compile_ms=compile_ms,
                upload_ms=upload_ms,
                download_ms=download_ms,
                device_name=self._device.name,
            )

        samples = Sampler(first_ms, sampling, cache=sampling.cache)
        yield result(samples)
        if not samples.wants_more():
            return
        while samples.wants_more():
            yield Progress("timing")
            samples.add(self._sample(launch, sampling))
            if samples.is_news():
                yield result(samples)
        # The answer to be checked is that of the last launch, which was timed.
        picture, download_ms = self._download(launch)
        yield result(samples)

    def forget(self) -> None:
        """Give back all device and page-locked memory that is not in use this moment."""
        self._resident.clear()
        with self._using("giving back memory"):
            self._cp.get_default_memory_pool().free_all_blocks()
            self._cp.get_default_pinned_memory_pool().free_all_blocks()

    @contextmanager
    def _using(self, doing: str) -> Iterator[None]:
        """This device and this stream, and failures in words."""
        with self._cp.cuda.Device(self._device.index), self._stream, cuda_errors_in_words(doing):
            yield

    def _compile(self, rung: Rung, job: Job) -> tuple[Program, float | None]:
        known = self._programs.has(rung, job)
        start = perf_counter()
        with self._using(f"compiling {rung.title} for size {job.ksize}"):
            program = self._programs.get(rung, job)
        return program, None if known else _ms_since(start)

    def _prepare(self, program: Program, job: Job, source: Any) -> Launch:
        with self._using(_in_words(job)):
            target = self._allocate(job.picture)
            return prepare_launch(self._cp, program, job, self._device, source, target)

    def _sample(self, launch: Launch, sampling: Sampling) -> float:
        with self._using(_in_words(launch.job)):
            return self._timer.sample_ms(launch.ready(), sampling.cache)

    def _upload(self, job: Job) -> tuple[Any, float | None]:
        """The picture on the device, and how long that took; None if it was there."""
        picture = job.picture
        if id(picture) in self._resident:
            self._resident.move_to_end(id(picture))
            return self._resident[id(picture)][1], None
        array = self._allocate(picture)
        with self._using("uploading the picture"):
            start = perf_counter()
            self._staging.upload(picture, array)
            upload_ms = _ms_since(start)
        if not _may_change(picture):
            self._resident[id(picture)] = (picture, array)
            if len(self._resident) > RESIDENT_PICTURES:
                self._resident.popitem(last=False)
                self._cp.get_default_pinned_memory_pool().free_all_blocks()
        return array, upload_ms

    def _download(self, launch: Launch) -> tuple[NDArray[Any], float]:
        """The answer in memory of its own, read-only, and how long the transfer took."""
        with self._using("downloading the result"):
            picture = pinned_like(self._cp, launch.job.picture)
            start = perf_counter()
            launch.target.get(stream=self._stream, out=picture, blocking=True)
            download_ms = _ms_since(start)
        picture.flags.writeable = False
        return picture, download_ms

    def _allocate(self, picture: NDArray[Any]) -> Any:
        """An uninitialised device array like `picture`; other pictures make room if need be."""
        try:
            with self._using(f"making room for {picture.nbytes / 1e6:.0f} MB"):
                return self._cp.empty(picture.shape, picture.dtype)
        except OutOfMemoryError:
            self.forget()
        with self._using(f"making room for {picture.nbytes / 1e6:.0f} MB"):
            return self._cp.empty(picture.shape, picture.dtype)


def _may_change(picture: NDArray[Any]) -> bool:
    """Whether somebody may still write to it, perhaps through the array it is a view of: then it
    has to be uploaded every time."""
    array: Any = picture
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def _in_words(job: Job) -> str:
    x, y = job.block_xy
    return f"filtering {job.width}×{job.height} pixels in {x}×{y} blocks"


def _ms_since(start: float) -> float:
    return (perf_counter() - start) * 1e3
