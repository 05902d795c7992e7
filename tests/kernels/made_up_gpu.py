"""An engine with a GPU whose times a test makes up, and whose answers are the oracle's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels.core.errors import CannotRunError
from kernels.core.job import Progress, Result, Sampling
from kernels.engine.auto import Measurements, Picker
from kernels.engine.engine import Engine
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.rung import Rung
from tests import made_up


class TimedEngine(Engine):
    """Runs rungs in `times_ms[key]`, or `times_ms[key, block_xy]`, else in DEFAULT_MS.

    wrong   keys of rungs whose answers are wrong
    fails   an exception by key of rung
    ran     (key, block_xy) in their order
    """

    DEFAULT_MS = 50.0

    def __init__(self, path, times_ms=None, wrong=(), fails=None, device=made_up.H200):
        super().__init__()
        self.device = device
        self.picker = Picker(device, Measurements(device, path))
        self.times_ms, self.wrong, self.fails = times_ms or {}, wrong, fails or {}
        self.ran = []
        self.compiled = []

    def compiling(self, jobs):
        for job in jobs:
            self.compiled.append((job.implementation, job.block_xy))
            yield Progress("compiling")

    def filtering(self, job, sampling=None):
        if job.implementation == "auto" or not isinstance(
            self.implementation(job.implementation), Rung
        ):
            yield from super().filtering(job, sampling)
            return
        if reason := self.why_not(job):
            raise CannotRunError(reason)
        key, way = job.implementation, (job.implementation, job.block_xy)
        self.ran.append(way)
        yield Progress(f"filtering with {key}")
        if key in self.fails:
            raise self.fails[key]
        ms = self.times_ms.get(way, self.times_ms.get(key, self.DEFAULT_MS))
        answer = to_pixel_type(filtered(job), job.picture.dtype)
        if key in self.wrong:
            answer = np.bitwise_not(answer)
        count = (sampling or Sampling()).max_samples
        result = made_up.result(job=job, samples_ms=(ms,) * count, check=None)
        yield replace(result, picture=answer)


def timed_result(steps) -> Result:
    """The last Result among `steps`."""
    *_, last = (each for each in steps if isinstance(each, Result))
    return last
