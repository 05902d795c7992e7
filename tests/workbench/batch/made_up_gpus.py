"""Engines with made-up GPUs for processes of a batch: what goes wrong, a picture's height says."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from kernels.core.errors import DeviceLostError
from tests.workbench.engines import DEVICE, MadeUpGpu

GOOD = 40
KILLED, KILLED_ONCE, LOST_ONCE, BUG, SLOW, VERY_SLOW = 61, 62, 63, 64, 65, 66
NO_MEMORY, NO_MEMORY_IN_CPP = 67, 68
SLOW_S, VERY_SLOW_S = 0.1, 60.0
LOST_SAID = "The GPU fell off the bus."


def gpu(device):
    return _Gpu(device)


def bug(device):
    raise ZeroDivisionError("ours")


class _Gpu(MadeUpGpu):
    """Of two GPUs the one of that number; everything once is once in all processes together."""

    def __init__(self, device):
        super().__init__(device)
        self.device = replace(DEVICE, index=device)

    def filtering(self, job, sampling=None):
        height = job.height
        Path(os.environ["MADE_UP_GPUS"], f"begun-{uuid4().hex}").touch()
        if height == KILLED or (height == KILLED_ONCE and _is_first("killed")):
            os.kill(os.getpid(), 9)
        if height == LOST_ONCE and _is_first("lost"):
            with self._noticing_loss():
                raise DeviceLostError(LOST_SAID)
        if height == BUG:
            raise ZeroDivisionError("ours")
        if height == NO_MEMORY:
            raise MemoryError
        if height == NO_MEMORY_IN_CPP:
            raise RuntimeError("std::bad_alloc")
        if height == VERY_SLOW and _is_first("very slow"):
            time.sleep(VERY_SLOW_S)
        if height == SLOW:
            time.sleep(SLOW_S)
        yield from super().filtering(job, sampling)


def _is_first(what):
    try:
        Path(os.environ["MADE_UP_GPUS"], what).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
