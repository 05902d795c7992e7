"""One job on several GPUs: each filters some rows of the picture, and the halo is copied between.

A part is a picture of its own, like a strip of .  Its rows stay on its
GPU from job to job; the rows around them are copied anew, from the GPUs that have them, before each
launch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernels.core.device_turns import Turns
from kernels.core.health import Watch, health_of_all
from kernels.core.job import Job, Progress, Result, Sampling
from kernels.core.picture_parts import RowStrip, halo_rows
from kernels.core.timing import Timing
from kernels.cuda.device_pictures import HALO_ROOM
from kernels.cuda.gpu import Gpu, added_up, in_words, timed_results, with_transfers
from kernels.cuda.joint_run import HaloExchange, JointRun, Part
from kernels.cuda.launch import Program
from kernels.cuda.staging import Moved
from kernels.rungs.rung import Rung

T = TypeVar("T")


def part_jobs(job: Job) -> tuple[tuple[RowStrip, Job], ...]:
    """Return the parts of job.picture, and the job that each GPU does.

    The picture of such a job has no more than the size and type of its part: the samples are on the
    GPU alone.
    """
    shape = job.width, job.channels
    return tuple(
        (part, replace(job, picture=np.empty((part.height, *shape), job.picture.dtype), devices=1))
        for part in job.parts
    )


class SeveralGpus:
    """GPUs that share the rows of a picture; for one thread, as `Gpu` is."""

    def __init__(self, gpus: Sequence[Gpu]) -> None:
        self._gpus = tuple(gpus)
        self._exchange = HaloExchange(self._gpus)
        self._turns = Turns([gpu.device for gpu in gpus])

    def filtering(self, rung: Rung, job: Job, sampling: Sampling) -> Iterator[Progress | Result]:
        """Compile, upload, filter, download; then repeat halo and kernels for their timing.

        Raises the errors of `kernels.core.errors`.
        """
        jobs = part_jobs(job)
        gpus = self._gpus[: len(jobs)]  # all, unless there are fewer rows
        # Each for its part: how long a transform is goes by the size of what it is for.
        wanted = [(gpu, part) for gpu, (_, part) in zip(gpus, jobs, strict=True)]
        if not all(gpu.has_compiled(rung, part) for gpu, part in wanted):
            yield Progress(f"compiling {rung.title}")
        compiled = [gpu.compile(rung, part) for gpu, part in wanted]
        if not all(
            gpu.pictures.has_rows(job.picture, (strip.first, strip.end))
            for gpu, (strip, _) in zip(gpus, jobs, strict=True)
        ):
            yield Progress(f"uploading the picture to {len(gpus)} GPUs")
        arrays, uploaded = yield from self._turns.doing(
            lambda: _uploaded(gpus, jobs, job), shared=sampling.max_samples == 0
        )
        yield Progress(f"filtering with {rung.title} on {len(gpus)} GPUs")
        parts = yield from self._turns.doing(
            lambda: [
                self._part(at, program, jobs, arrays[at])
                for at, (program, _) in enumerate(compiled)
            ],
            shared=sampling.max_samples == 0,
        )
        run = JointRun(parts, self._exchange, sampling.cache, in_words(job))
        watches = [Watch(gpu.nvml, why_not_alone=lambda: self._turns.why_not_alone) for gpu in gpus]

        def fetch() -> Result:
            picture, downloaded = _downloaded(parts, job)
            with gpus[0].using(in_words(job)):
                ran = parts[0].launch.ran()
            known = Result(
                job=job,
                picture=picture,
                kernel=None,
                ran=ran,
                compile_ms=added_up(ms for _, ms in compiled),
                device_name=_names(gpus),
            )
            return with_transfers(known, uploaded, downloaded)

        def complete(known: Result, timing: Timing) -> Result:
            return replace(
                known,
                kernel=timing,
                shares=run.shares(len(timing.samples_ms)),
                health=health_of_all(watch.health() for watch in watches),
            )

        def look() -> None:
            for watch in watches:
                watch.look()

        yield from timed_results(run.run_ms, fetch, complete, sampling, look, self._turns)

    def _part(
        self, at: int, program: Program, jobs: Sequence[tuple[RowStrip, Job]], array: Any
    ) -> Part:
        gpu, (strip, job) = self._gpus[at], jobs[at]
        top = HALO_ROOM - strip.above
        own = strip.own.start, strip.own.stop
        launch = gpu.launch_on(program, job, array[top : top + strip.height], own)
        with gpu.using(in_words(job)):
            begun, has_halo, ended = (gpu.cp.cuda.Event() for _ in range(3))
        halo = tuple(halo_rows([each for each, _ in jobs], at))
        return Part(gpu, strip, launch, array, halo, (begun, has_halo, ended))


def _uploaded(
    gpus: Sequence[Gpu], jobs: Sequence[tuple[RowStrip, Job]], job: Job
) -> tuple[list[Any], Moved | None]:
    """Return the rows of every part on its GPU, and how long that took; None: all were there."""

    def upload(at: int) -> tuple[Any, Moved | None]:
        strip = jobs[at][0]
        return gpus[at].pictures.upload_rows(job.picture, (strip.first, strip.end))

    found, ms = _at_once(upload, len(gpus))
    moved = [each for _, each in found if each is not None]
    together = Moved(ms, max(each.copy_ms for each in moved)) if moved else None
    return [array for array, _ in found], together


def _downloaded(parts: Sequence[Part], job: Job) -> tuple[NDArray[Any], Moved]:
    """Return the answer, gathered, and how long that took; its memory is read-only."""
    picture = parts[0].gpu.pictures.pinned(job.picture)

    def download(at: int) -> Moved:
        rows = picture[parts[at].strip.first : parts[at].strip.end]
        return parts[at].gpu.pictures.download_into(rows, parts[at].target)

    moved, ms = _at_once(download, len(parts))
    picture.flags.writeable = False
    return picture, Moved(ms, max(each.copy_ms for each in moved))


def _at_once(do: Callable[[int], T], count: int) -> tuple[list[T], float]:
    """Do it for every part, each on a thread of its own; return what comes of it, and how long.

    The host's own copying would have one GPU's bus wait for the other's.  No other thread uses a
    GPU meanwhile.
    """
    with ThreadPoolExecutor(count) as threads:
        start = perf_counter()
        found = list(threads.map(do, range(count)))
        return found, (perf_counter() - start) * 1e3


def _names(gpus: Sequence[Gpu]) -> str:
    """Return "2 × NVIDIA H200", or all names where they differ."""
    counted = Counter(gpu.device.name for gpu in gpus)
    return " + ".join(f"{count} × {name}" for name, count in counted.items())
