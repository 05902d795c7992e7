"""NPP's filters with a border, called by way of ctypes where the library is found."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from kernels.core.device import Device
from workbench.cli.peers import PeerWay, Task, to_host

TITLE = "NPP"
VERSIONS = ("13", "12", "11")
REPLICATE = 2  # NppiBorderType
# By pixel type: what stands behind the function's name, for all weights and for a Gaussian's.
GENERAL = {"float32": "_32f_C{}R", "uint8": "32f_8u_C{}R", "uint16": "32f_16u_C{}R"}
GAUSSIAN = {"float32": "_32f_C{}R", "uint8": "_8u_C{}R", "uint16": "_16u_C{}R"}
CHANNELS = (1, 3, 4)


class Size(ctypes.Structure):
    """A size as NPP has it, NppiSize, and NppiPoint, which is laid out alike."""

    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_int))


class Context(ctypes.Structure):
    """The stream and device as NPP has them: NppStreamContext."""

    _fields_ = (
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("multiprocessors", ctypes.c_int),
        ("threads_per_multiprocessor", ctypes.c_int),
        ("threads_per_block", ctypes.c_int),
        ("shared_per_block", ctypes.c_size_t),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("stream_flags", ctypes.c_uint),
        ("reserved", ctypes.c_int),
    )


@cache
def library() -> ctypes.CDLL | None:
    """Return libnppif, wherever it lies."""
    names = [f"libnppif.so.{version}" for version in VERSIONS]
    names += [found] if (found := ctypes.util.find_library("nppif")) else []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def missing() -> str | None:
    """Return why NPP cannot be used here; None if it can."""
    return None if library() else "NPP (libnppif) is not installed."


def ways(task: Task) -> Iterator[PeerWay]:
    """Yield each way to do the task with it."""
    cp, job = task.cp, task.job
    if job.pixel_type not in GENERAL or job.channels not in CHANNELS:
        return
    out, between = cp.empty_like(task.source), cp.empty_like(task.source)
    # NPP convolves: with flipped weights it correlates.
    weights = cp.asarray(job.weights[::-1, ::-1].copy())
    square, anchor = Size(job.ksize, job.ksize), Size(job.radius, job.radius)

    def general() -> None:
        name = f"FilterBorder{GENERAL[job.pixel_type].format(job.channels)}"
        _call(task, name, task.source, out, _pointer(weights), square, anchor)

    yield PeerWay("NPP FilterBorder", general, lambda: to_host(cp, out))
    if task.separable is None:
        return
    column, row = (cp.asarray(each[::-1].copy()) for each in task.separable)
    if np.array_equal(job.weights, job.weights.T):
        one = cp.asarray(np.sqrt(np.abs(np.diag(job.weights))))  # for both ways

        def gaussian() -> None:
            name = f"FilterGaussAdvancedBorder{GAUSSIAN[job.pixel_type].format(job.channels)}"
            _call(task, name, task.source, out, ctypes.c_int(job.ksize), _pointer(one))

        yield PeerWay("NPP FilterGaussAdvancedBorder", gaussian, lambda: to_host(cp, out))
    if job.pixel_type == "float32":  # others would be rounded between the passes
        taps, middle = ctypes.c_int(job.ksize), ctypes.c_int(job.radius)
        suffix = f"_32f_C{job.channels}R"

        def two_passes() -> None:
            first, second = f"FilterRowBorder{suffix}", f"FilterColumnBorder{suffix}"
            _call(task, first, task.source, between, _pointer(row), taps, middle)
            _call(task, second, between, out, _pointer(column), taps, middle)

        yield PeerWay("NPP FilterRowBorder + Column", two_passes, lambda: to_host(cp, out))


def _call(task: Task, name: str, source: Any, target: Any, *how: Any) -> None:
    """Queue one of NPP's filters from `source` to `target`, with the border replicated."""
    job = task.job
    step = ctypes.c_int(job.width * job.channels * job.picture.itemsize)
    size, zero = Size(job.width, job.height), Size(0, 0)
    function = getattr(library(), f"nppi{name}_Ctx")
    status = function(
        _pointer(source), step, size, zero, _pointer(target), step, size, *how, REPLICATE,
        context(task.clock.device, task.clock.stream.ptr),
    )  # fmt: skip
    if status != 0:
        raise RuntimeError(f"NPP's {name} refused with status {status}")


@cache
def context(device: Device, stream: int) -> Context:
    """Return what NPP wants to know of stream and device."""
    import cupy as cp

    facts = cp.cuda.runtime.getDeviceProperties(device.index)
    return Context(
        stream,
        device.index,
        device.multiprocessors,
        int(facts["maxThreadsPerMultiProcessor"]),
        device.max_threads_per_block,
        int(facts["sharedMemPerBlock"]),
        *device.compute_capability,
        1,  # cudaStreamNonBlocking
        0,
    )


def _pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.data.ptr)
