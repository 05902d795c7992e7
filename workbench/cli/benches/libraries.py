"""Other libraries at the same work: `bench kernels --peers` compares with those in LIBRARIES.

A way queues its work on the current stream, as a program that is well written would: plans made,
arrays allocated, weights on the device.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device
from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.core.weights import Separable, gain, separate
from kernels.filters.gaussian import BINOMIAL, default_sigma
from kernels.oracle.checking import Oracle, checking, error_bound, largest_finite
from workbench.cli.benches.cells import REDUCED_ERROR, Clock, Precision, time_on_cpu

DIRECT_KSIZE = 31  # beyond, a direct correlation takes seconds, or cuDNN does to choose how
CVCUDA_TYPES = ("uint8", "uint16", "float32")
NPP_VERSIONS = ("13", "12", "11")
REPLICATE = 2  # NppiBorderType
# By pixel type: what stands behind the function's name, for all weights and for a Gaussian's.
GENERAL = {"float32": "_32f_C{}R", "uint8": "32f_8u_C{}R", "uint16": "32f_16u_C{}R"}
GAUSSIAN = {"float32": "_32f_C{}R", "uint8": "_8u_C{}R", "uint16": "_16u_C{}R"}
NPP_CHANNELS = (1, 3, 4)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A job for all libraries.

    source     (H, W, C) array on the device, contiguous
    separable  the weights' column and row, or None
    """

    job: Job
    clock: Clock
    source: Any
    separable: Separable | None

    @property
    def cp(self) -> Any:
        """Return the cupy module."""
        return self.clock.cp


@dataclass(frozen=True, slots=True, eq=False)
class PeerWay:
    """A library's way to do the task.

    border  the job's, or the nearest that the library offers
    queue   puts the work on the stream; on the CPU: does it
    answer  (H, W, C) of the job's pixel type, in host memory
    """

    name: str
    queue: Callable[[], Any]
    answer: Callable[[], NDArray[Any]]
    border: str = "clamp"
    runs_on: Literal["gpu", "cpu"] = "gpu"


@dataclass(frozen=True, slots=True)
class Library:
    """A library to compare with.

    missing  () -> the sentence why it cannot be used here, or None; imports it
    ways     each way to do a task with it, ready to be timed
    """

    title: str
    missing: Callable[[], str | None]
    ways: Callable[[Task], Iterator[PeerWay]]


def to_host(cp: Any, array: Any) -> NDArray[Any]:
    """Return `array`, of any library, in host memory."""
    return np.asarray(cp.asnumpy(cp.asarray(array)))


def importable(module: str, title: str) -> str | None:
    """Return why `module` cannot be imported, in a sentence; None if it can."""
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - a library may fail to load in any way
        words = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        return f"{title} is not installed, or does not load ({words})."
    return None


def _cucim(task: Task) -> Iterator[PeerWay]:
    """Yield its separable correlation in shared memory."""
    from cucim.skimage._vendored import ndimage

    if task.separable is None:
        return
    cp, source = task.cp, task.source
    column, row = map(cp.asarray, task.separable)
    between = cp.empty(source.shape, cp.float32)
    out = cp.empty_like(source)

    def passes(**how: Any) -> None:
        ndimage.correlate1d(source, column, axis=0, output=between, mode="nearest", **how)
        ndimage.correlate1d(between, row, axis=1, output=out, mode="nearest", **how)

    yield PeerWay(
        "cuCIM correlate1d × 2, shared memory",
        lambda: passes(algorithm="shared_memory"),
        lambda: to_host(cp, out),
    )


def _cufft(task: Task) -> Iterator[PeerWay]:
    """Yield spectra multiplied by way of CuPy.  Zeros lie beyond the edge."""
    from cupyx.scipy import fft

    cp, job = task.cp, task.job
    if job.pixel_type != "float32":
        return
    height, width, radius = job.height, job.width, job.radius
    shape = tuple(fft.next_fast_len(side + 2 * radius, True) for side in (height, width))
    spectrum = fft.rfft2(cp.asarray(job.weights[::-1, ::-1]), s=shape)  # flipped: a correlation
    planes = [cp.ascontiguousarray(task.source[:, :, n]) for n in range(job.channels)]
    found: list[Any] = []

    def multiply_spectra() -> None:
        found.clear()
        for plane in planes:
            product = fft.rfft2(plane, s=shape)
            product *= spectrum
            back = fft.irfft2(product, s=shape, overwrite_x=True)
            found.append(back[radius : radius + height, radius : radius + width])

    yield PeerWay(
        "cuFFT", multiply_spectra, lambda: to_host(cp, cp.stack(found, axis=-1)), border="zero"
    )


def _cupy_ndimage(task: Task) -> Iterator[PeerWay]:
    """Yield a direct correlation, and two 1-D ones for separable weights."""
    from cupyx.scipy import ndimage

    cp, job, source = task.cp, task.job, task.source
    out = cp.empty_like(source)
    if job.ksize <= DIRECT_KSIZE:
        weights = cp.asarray(job.weights)[:, :, None]
        yield PeerWay(
            "CuPy correlate",
            lambda: ndimage.correlate(source, weights, output=out, mode="nearest"),
            lambda: to_host(cp, out),
        )
    if task.separable is None:
        return
    column, row = map(cp.asarray, task.separable)
    between = cp.empty(source.shape, cp.float32)

    def two_passes() -> None:
        ndimage.correlate1d(source, column, axis=0, output=between, mode="nearest")
        ndimage.correlate1d(between, row, axis=1, output=out, mode="nearest")

    yield PeerWay("CuPy correlate1d × 2", two_passes, lambda: to_host(cp, out))


def _cvcuda(task: Task) -> Iterator[PeerWay]:
    """Yield its Gaussian, which makes its own weights from sigma."""
    import cvcuda

    cp, job = task.cp, task.job
    is_gaussian = np.array_equal(job.weights, filters.get("gaussian").weights(job.ksize))
    if not is_gaussian or job.pixel_type not in CVCUDA_TYPES:
        return
    # Of the binomials of size 3 and 5 no sigma is known: as near as a bell comes to them.
    sigma = {3: 0.8493, 5: 1.0}.get(job.ksize) if job.ksize in BINOMIAL else None
    sigma = sigma or default_sigma(job.ksize)
    out = cp.empty_like(task.source)
    source, target = (cvcuda.as_tensor(each, "HWC") for each in (task.source, out))
    stream = cvcuda.cuda.as_stream(task.clock.stream.ptr)
    yield PeerWay(
        "CV-CUDA gaussian",
        lambda: cvcuda.gaussian_into(
            target,
            source,
            (job.ksize, job.ksize),
            (sigma, sigma),
            cvcuda.Border.REPLICATE,
            stream=stream,
        ),
        lambda: to_host(cp, out),
    )


def _opencv(task: Task) -> Iterator[PeerWay]:
    """Yield filter2D and sepFilter2D on all cores of the CPU."""
    import cv2

    job = task.job
    if job.pixel_type == "float16":
        return
    cv2.setNumThreads(usable_cores())
    out = np.empty_like(job.picture)
    replicate = cv2.BORDER_REPLICATE
    yield PeerWay(
        f"OpenCV filter2D ({usable_cores()} threads)",
        lambda: cv2.filter2D(job.picture, -1, job.weights, dst=out, borderType=replicate),
        lambda: out,
        runs_on="cpu",
    )
    if task.separable is not None:
        column, row = task.separable
        yield PeerWay(
            f"OpenCV sepFilter2D ({usable_cores()} threads)",
            lambda: cv2.sepFilter2D(job.picture, -1, row, column, dst=out, borderType=replicate),
            lambda: out,
            runs_on="cpu",
        )


def _no_torch() -> str | None:
    if reason := importable("torch", "PyTorch conv2d"):
        return reason
    import torch

    return None if torch.cuda.is_available() else "This PyTorch finds no GPU."


def _torch(task: Task) -> Iterator[PeerWay]:
    """Yield conv2d (cuDNN), every channel by itself in its planar layout; zeros beyond."""
    import torch

    job = task.job
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    device = torch.device("cuda", task.clock.device.index)
    stream = torch.cuda.ExternalStream(task.clock.stream.ptr, device=device)
    if job.pixel_type == "uint16":
        return
    with torch.cuda.stream(stream), torch.no_grad():
        planes = torch.as_tensor(job.picture.copy(), device=device).permute(2, 0, 1)[None]
        planes = planes.contiguous()
        half = job.pixel_type == "float16"
        kept = torch.float16 if half else torch.float32

        def on_device(weights: Any) -> Any:
            made = torch.as_tensor(weights.copy(), device=device, dtype=kept)
            return made.expand(job.channels, 1, *weights.shape).contiguous()

        kernels = [("PyTorch conv2d", [on_device(job.weights)])]
        if job.ksize > DIRECT_KSIZE:
            kernels = []
        if task.separable is not None:
            column, row = task.separable
            kernels.append(
                ("PyTorch conv2d × 2", [on_device(column[:, None]), on_device(row[None, :])])
            )
        for name, stages in kernels:
            found: list[Any] = []

            def convolve(stages: list[Any] = stages, found: list[Any] = found) -> None:
                with torch.cuda.stream(stream), torch.no_grad():
                    image = planes if planes.is_floating_point() else planes.float()
                    for each in stages:
                        padding = (each.shape[2] // 2, each.shape[3] // 2)
                        image = torch.nn.functional.conv2d(
                            image, each, padding=padding, groups=job.channels
                        )
                    if not planes.is_floating_point():
                        image = image.round_().clamp_(0, 255).to(torch.uint8)
                    found[:] = [image]

            yield PeerWay(
                name,
                convolve,
                lambda found=found: to_host(task.cp, found[0][0].permute(1, 2, 0).contiguous()),  # type: ignore[misc]
                border="zero",
            )


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
    names = [f"libnppif.so.{version}" for version in NPP_VERSIONS]
    names += [found] if (found := ctypes.util.find_library("nppif")) else []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _npp(task: Task) -> Iterator[PeerWay]:
    """Yield NPP's filters with a border, called by ctypes."""
    cp, job = task.cp, task.job
    if job.pixel_type not in GENERAL or job.channels not in NPP_CHANNELS:
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


def _library(title: str, module: str, ways: Callable[[Task], Iterator[PeerWay]]) -> Library:
    return Library(title, partial(importable, module, title), ways)


# By their names in the file of --json.
LIBRARIES = {
    "cucim": _library("cuCIM", "cucim.skimage._vendored.ndimage", _cucim),
    "cufft": _library("cuFFT", "cupyx.scipy.fft", _cufft),
    "cupy_ndimage": _library("cupyx.scipy.ndimage", "cupyx.scipy.ndimage", _cupy_ndimage),
    "cvcuda": _library("CV-CUDA", "cvcuda", _cvcuda),
    "npp": Library("NPP", lambda: None if library() else "NPP (libnppif) is not installed.", _npp),
    "opencv": _library("OpenCV on the CPU", "cv2", _opencv),
    "torch_conv2d": Library("PyTorch conv2d", _no_torch, _torch),
}


TAPS = 3_000_000
ROUNDINGS = 8.0  # more than any library needs that adds up in float32
HALF_ROUNDOFF = 2.0**-11


@dataclass(frozen=True, slots=True)
class PeerTime:
    """A way's time in a cell.

    precision  how exact its answer was found to be; None where it was wrong
    why_not    the sentence why there is no time, or None
    """

    module: str
    name: str
    border: str = ""
    ms: float | None = None
    quartiles: tuple[float, float] | None = None
    max_error: float | None = None
    precision: Precision | None = None
    ok: bool = False
    why_not: str | None = None

    def counts_as(self, precision: Precision) -> bool:
        """Return whether its answer was as exact as `precision` asks for."""
        return self.ms is not None and self.precision in ("float32", precision)


def measure_peers(
    job: Job, known: Oracle, clock: Clock, only: Collection[str] | None = None
) -> Iterator[PeerTime]:
    """Time every way of every library here, or of those in `only`, held against the oracle.

    known  the oracle for `job`, as `checking.checking` takes it
    """
    with clock.using():
        source = clock.cp.asarray(job.picture)
    task = Task(job, clock, source, separate(job.weights))
    oracles = {job.border: known}
    for name, library in LIBRARIES.items():
        if only is not None and name not in only:
            continue
        if reason := library.missing():
            yield PeerTime(name, library.title, why_not=reason)
            continue
        yield from _times(name, library, task, oracles)
    with clock.using():
        clock.cp.get_default_memory_pool().free_all_blocks()


def _times(
    name: str, library: Library, task: Task, oracles: dict[str, Oracle]
) -> Iterator[PeerTime]:
    """Yield a library's ways; one that fails must not keep others from being timed."""
    ways, title = library.ways(task), library.title
    while True:
        try:
            with task.clock.using():
                way = next(ways, None)
            if way is None:
                return
            title = way.name
            yield _measure(name, way, task, oracles)
        except Exception as error:  # noqa: BLE001
            words = (str(error).strip().splitlines() or [""])[0][:200]
            yield PeerTime(name, title, why_not=f"{type(error).__name__}: {words}")


def _measure(name: str, way: PeerWay, task: Task, oracles: dict[str, Oracle]) -> PeerTime:
    with task.clock.using():
        way.queue()  # many libraries compile, plan or try out the first time
        task.clock.stream.synchronize()
    timing = time_on_cpu(way.queue) if way.runs_on == "cpu" else task.clock.time(way.queue)
    with task.clock.using():
        answer = np.ascontiguousarray(way.answer()).reshape(task.job.picture.shape)
        task.clock.stream.synchronize()
    job = replace(task.job, border=way.border)
    tolerance = Tolerance(job.ksize**2, ROUNDINGS)
    found = checking(job, answer, tolerance, TAPS, oracles.setdefault(way.border, {}))
    *_, check = found
    precision = precision_of(check.max_error, job)
    return PeerTime(
        module=name,
        name=way.name,
        border=way.border,
        ms=timing.median_ms,
        quartiles=timing.quartiles_ms,
        max_error=check.max_error,
        precision=precision,
        ok=precision is not None,
        why_not=None if precision else f"Its answer is off by {check.max_error:.3g}.",
    )


def precision_of(max_error: float, job: Job) -> Precision | None:
    """Return how exact an answer is that is off by `max_error` at most; None: wrong.

    Libraries round integers as they like, so one step is allowed; half floats are stored rounded.
    """
    largest = gain(job.weights) * largest_finite(job.picture)
    stored = {"uint8": 1.0, "uint16": 1.0, "float16": HALF_ROUNDOFF * largest}
    allowed = stored.get(job.pixel_type, 0.0)
    if max_error <= allowed + error_bound(job, job.ksize**2, ROUNDINGS):
        return "float32"
    return "reduced" if max_error <= allowed + REDUCED_ERROR * largest else None
