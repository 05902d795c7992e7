"""Other libraries at the same work, called as programs should: `bench kernels --peers`."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device
from kernels.core.device_turns import Turns
from kernels.core.errors import cuda_errors_in_words
from kernels.core.job import Job, Sampling
from kernels.core.sampling import THREADS_SETTLE_S, take_samples
from kernels.core.timing import Timing
from kernels.core.weights import Separable, separate
from kernels.cuda.event_timer import CeilingBench, EventTimer
from kernels.filters.gaussian import default_sigma
from kernels.oracle.checking import Oracle
from workbench.cli.benches import ways
from workbench.cli.benches.ways import Measured, Way

DIRECT_KSIZE = 31  # beyond, a direct correlation takes seconds, or cuDNN does to choose how
DFT_KSIZE = 11  # beyond at the latest OpenCV's filter2D goes by way of spectra: a second
CVCUDA_TYPES = ("uint8", "uint16", "float32")
# Of the binomials of size 3 and 5 no sigma is known: as near as a bell comes to them.
BINOMIAL_SIGMAS = {3: 0.8493, 5: 1.0}
REPLICATE = 2  # NppiBorderType
INSIDE = "inside"  # in place of a border: only what has none to read is compared
NPP_TYPES = {"float32": "_32f", "uint8": "_8u", "uint16": "_16u"}  # in a function's name
NPP_CHANNELS = (1, 3, 4)

# Libraries take long to queue their launches: a millisecond, so that this is not timed.
HOLD_CYCLES = 2_000_000
SAMPLING = Sampling(max_samples=20, max_seconds=0.3)
ON_CPU = Sampling(max_samples=5, max_seconds=0.5, warmup_seconds=THREADS_SETTLE_S)


class Clock:
    """A stream of its own on `device`; use it from one thread.

    cp      the cupy module
    stream  to queue on; the current stream within `using`
    """

    def __init__(self, device: Device) -> None:
        import cupy as cp

        self.cp, self.device, self._turns = cp, device, Turns([device])
        with self._turns.held(), cuda_errors_in_words("starting to use it"):
            cp.cuda.Device(device.index).use()
            self.stream = cp.cuda.Stream(non_blocking=True)
            with self.stream:
                self._timer = EventTimer(cp, device.l2_bytes, HOLD_CYCLES)
                self._ceilings = CeilingBench(cp, self._timer, device)
        self._copies_ms: dict[int, float] = {}

    @contextmanager
    def using(self) -> Iterator[None]:
        """Wait for our turn on the device, and make the stream the current one."""
        with self._turns.held(), self.stream:
            yield

    def time(self, queue: Callable[[], Any]) -> Timing:
        """Sample the work that `queue` queues; the first run only warms up."""
        with self.using():
            return take_samples(lambda: self._timer.sample_ms(queue, "cold"), SAMPLING, "cold")

    def copy_ms(self, count: int) -> float:
        """Median time of a device-to-device copy of `count` bytes."""
        if count not in self._copies_ms:
            with self.using():
                self._copies_ms[count] = self._ceilings.copy(count).median_ms
        return self._copies_ms[count]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A job for all libraries.

    name       of its filter, as a cell has it
    source     (H, W, C) array on the device, contiguous
    separable  the weights' column and row, or None
    """

    name: str
    job: Job
    clock: Clock
    source: Any
    separable: Separable | None


on_gpu = partial(Way, "", on_gpu=True)


def _cucim(task: Task) -> Iterator[Way]:
    from cucim.skimage._vendored import ndimage

    if task.separable is not None:
        passes = _two_passes(task, ndimage.correlate1d, algorithm="shared_memory")
        yield on_gpu("cuCIM correlate1d × 2, shared memory", passes)


def _cupy_ndimage(task: Task) -> Iterator[Way]:
    from cupyx.scipy import ndimage

    cp, job = task.clock.cp, task.job
    if job.ksize <= DIRECT_KSIZE:
        weights, out = cp.asarray(job.correlation.weights)[:, :, None], cp.empty_like(task.source)
        how = {"output": out, "mode": "nearest"}
        yield on_gpu("CuPy correlate", partial(ndimage.correlate, task.source, weights, **how))
    if task.separable is not None:
        yield on_gpu("CuPy correlate1d × 2", _two_passes(task, ndimage.correlate1d))


def _two_passes(task: Task, correlate1d: Callable[..., Any], **how: Any) -> Callable[[], Any]:
    assert task.separable is not None
    cp, source = task.clock.cp, task.source
    column, row = map(cp.asarray, task.separable)
    between, out = cp.empty(source.shape, cp.float32), cp.empty_like(source)
    one_pass = partial(correlate1d, mode="nearest", **how)

    def passes() -> Any:
        one_pass(source, column, axis=0, output=between)
        one_pass(between, row, axis=1, output=out)
        return out

    return passes


def _cufft(task: Task) -> Iterator[Way]:
    """Spectra multiplied by way of CuPy.  Zeros lie beyond the edge."""
    from cupyx.scipy import fft

    cp, job = task.clock.cp, task.job
    if job.pixel_type != "float32":
        return
    height, width, radius = job.height, job.width, job.radius
    shape = tuple(fft.next_fast_len(side + 2 * radius, True) for side in (height, width))
    flipped = cp.asarray(job.correlation.weights[::-1, ::-1])
    spectrum = fft.rfft2(flipped, s=shape)
    planes = [cp.ascontiguousarray(task.source[:, :, n]) for n in range(job.channels)]

    def multiply_spectra() -> list[Any]:
        found = []
        for plane in planes:
            product = fft.rfft2(plane, s=shape)
            product *= spectrum
            back = fft.irfft2(product, s=shape, overwrite_x=True)
            found.append(back[radius : radius + height, radius : radius + width])
        return found

    yield on_gpu("cuFFT", multiply_spectra, border="zero")


def _cvcuda(task: Task) -> Iterator[Way]:
    """Its Gaussian, which makes its own weights from sigma."""
    import cvcuda

    job, k = task.job, task.job.ksize
    is_gaussian = np.array_equal(job.correlation.weights, filters.get("gaussian").weights(k))
    if not is_gaussian or job.pixel_type not in CVCUDA_TYPES:
        return
    sigmas = (BINOMIAL_SIGMAS.get(k) or default_sigma(k),) * 2
    out = task.clock.cp.empty_like(task.source)
    source, target = (cvcuda.as_tensor(each, "HWC") for each in (task.source, out))
    stream = cvcuda.cuda.as_stream(task.clock.stream.ptr)

    def gaussian() -> Any:
        cvcuda.gaussian_into(target, source, (k, k), sigmas, cvcuda.Border.REPLICATE, stream=stream)
        return out

    yield on_gpu("CV-CUDA gaussian", gaussian)


def _opencv(task: Task) -> Iterator[Way]:
    cores, job = usable_cores(), task.job
    if job.pixel_type == "float16":
        return
    for way in ways.cv2_ways("", job, out=np.empty_like(job.picture)):
        is_long = task.separable is not None and job.ksize > DFT_KSIZE
        if way.name != "filter2D" or not is_long:
            yield replace(way, name=f"OpenCV {way.name} ({cores} threads)", threads=cores)


def _torch(task: Task) -> Iterator[Way]:
    """PyTorch's conv2d (cuDNN), every channel by itself in its planar layout; zeros beyond."""
    import torch

    job, planes = task.job, planes_of(task)
    device, is_float = planes.device, planes.is_floating_point()

    def on_device(weights: NDArray[np.float32]) -> Any:
        kept = planes.dtype if is_float else torch.float32
        made = torch.as_tensor(weights.copy(), device=device, dtype=kept)
        return made.expand(job.channels, 1, *weights.shape).contiguous()

    def convolve(stages: list[Any]) -> Any:
        image = planes if is_float else planes.float()
        for each in stages:
            padding = (each.shape[2] // 2, each.shape[3] // 2)
            image = torch.nn.functional.conv2d(image, each, padding=padding, groups=job.channels)
        if not is_float:
            image = image.round_().clamp_(0, 255).to(torch.uint8)
        return interleaved(image)

    stages = {}
    if job.ksize <= DIRECT_KSIZE:
        stages["PyTorch conv2d"] = [on_device(job.correlation.weights)]
    if task.separable is not None:
        column, row = task.separable
        stages["PyTorch conv2d × 2"] = [on_device(column[:, None]), on_device(row[None, :])]
    for name, weights in stages.items():
        yield on_gpu(name, partial(convolve, weights), border="zero")


def planes_of(task: Task) -> Any:
    """The picture as PyTorch's tensor (1, C, H, W) on the device, and PyTorch on our stream."""
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("This PyTorch finds no GPU.")
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.set_grad_enabled(False)
    device = torch.device("cuda", task.clock.device.index)
    torch.cuda.set_stream(torch.cuda.ExternalStream(task.clock.stream.ptr, device=device))
    picture = torch.as_tensor(task.job.picture.copy(), device=device)
    return picture.permute(2, 0, 1)[None].contiguous()


def interleaved(planes: Any) -> Any:
    """The (H, W, C) view of PyTorch's (1, C, H, W)."""
    return planes[0].permute(1, 2, 0)


class Size(ctypes.Structure):
    """NPP's NppiSize, and NppiPoint, which is laid out alike."""

    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_int))


class Context(ctypes.Structure):
    """NPP's NppStreamContext."""

    _fields_ = (
        ("stream", ctypes.c_void_p),
        *((name, ctypes.c_int) for name in ("device", "multiprocessors")),
        *((f"threads_per_{name}", ctypes.c_int) for name in ("multiprocessor", "block")),
        ("shared_per_block", ctypes.c_size_t),
        *((name, ctypes.c_int) for name in ("major", "minor", "stream_flags", "reserved")),
    )


@cache
def _libnppif() -> ctypes.CDLL:
    for name in (*map("libnppif.so.{}".format, (13, 12, 11)), ctypes.util.find_library("nppif")):
        try:
            return ctypes.CDLL(name or "libnppif.so")
        except OSError:
            continue
    raise ImportError("NPP (libnppif) is not installed.")


def _npp(task: Task) -> Iterator[Way]:
    call, cp, job = partial(_call_bordered, task), task.clock.cp, task.job
    if job.pixel_type not in NPP_TYPES or job.channels not in NPP_CHANNELS:
        return
    out, between = cp.empty_like(task.source), cp.empty_like(task.source)
    # NPP convolves: with flipped weights it correlates.
    weights = cp.asarray(job.correlation.weights[::-1, ::-1].copy())
    square, anchor = Size(job.ksize, job.ksize), Size(job.radius, job.radius)
    is_float, kind = job.pixel_type == "float32", f"{NPP_TYPES[job.pixel_type]}_C{job.channels}R"
    general = f"FilterBorder{'' if is_float else '32f'}{kind}"
    yield on_gpu(
        "NPP FilterBorder",
        lambda: call(general, task.source, out, pointer(weights), square, anchor),
    )
    if task.separable is None:
        return
    taps, middle = ctypes.c_int(job.ksize), ctypes.c_int(job.radius)
    if np.array_equal(job.correlation.weights, job.correlation.weights.T):
        one = cp.asarray(np.sqrt(np.abs(np.diag(job.correlation.weights))))  # for both ways
        name = "FilterGaussAdvancedBorder"
        yield on_gpu(f"NPP {name}", lambda: call(name + kind, task.source, out, taps, pointer(one)))
    if is_float:  # others would be rounded between the passes
        column, row = (cp.asarray(each[::-1].copy()) for each in task.separable)

        def two_passes() -> Any:
            call(f"FilterRowBorder{kind}", task.source, between, pointer(row), taps, middle)
            return call(f"FilterColumnBorder{kind}", between, out, pointer(column), taps, middle)

        yield on_gpu("NPP FilterRowBorder + Column", two_passes)


def _call_bordered(task: Task, name: str, source: Any, target: Any, *how: Any) -> Any:
    job = task.job
    step = ctypes.c_int(job.width * job.channels * job.picture.itemsize)
    size, zero = Size(job.width, job.height), Size(0, 0)
    images = (pointer(source), step, size, zero, pointer(target), step, size)
    call_npp(task, name, *images, *how, REPLICATE)
    return target


def call_npp(task: Task, name: str, *how: Any) -> None:
    """Call a function of NPP on the clock's stream.  Raises RuntimeError where it refuses."""
    context = _context(task.clock.device, task.clock.stream.ptr)
    if (status := _libnppif()[f"nppi{name}_Ctx"](*how, context)) != 0:
        raise RuntimeError(f"NPP's {name} failed with status {status}")


@cache
def _context(device: Device, stream: int) -> Context:
    import cupy as cp

    facts = cp.cuda.runtime.getDeviceProperties(device.index)
    threads = int(facts["maxThreadsPerMultiProcessor"]), device.max_threads_per_block
    shared, numbers = int(facts["sharedMemPerBlock"]), (device.index, device.multiprocessors)
    return Context(stream, *numbers, *threads, shared, *device.compute_capability, 0, 0)


def pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.data.ptr)


# Title, module, and what creates the ways to do a task.
Library = tuple[str, str, Callable[[Task], Iterator[Way]]]
# Those that have weighted sums, by their keys in the file of --json.
LIBRARIES: dict[str, Library] = {
    "cucim": ("cuCIM", "cucim.skimage._vendored.ndimage", _cucim),
    "cufft": ("cuFFT", "cupyx.scipy.fft", _cufft),
    "cupy_ndimage": ("cupyx.scipy.ndimage", "cupyx.scipy.ndimage", _cupy_ndimage),
    "cvcuda": ("CV-CUDA", "cvcuda", _cvcuda),
    "npp": ("NPP", "ctypes", _npp),
    "opencv": ("OpenCV on the CPU", "cv2", _opencv),
    "torch_conv2d": ("PyTorch conv2d", "torch", _torch),
}


def measure_peers(
    name: str, job: Job, known: Oracle, clock: Clock, libraries: Mapping[str, Library]
) -> Iterator[Measured]:
    """Time and check every way of `libraries`.

    name   of the job's filter, as a cell has it
    known  the oracle for `job`, as `checking.checking` takes it
    """
    separable = separate(job.correlation.weights) if job.has_weights else None
    with clock.using():
        task = Task(name, job, clock, clock.cp.asarray(job.picture), separable)
    oracles = {job.border: known, INSIDE: _inside(job, known)}
    for key, (title, module, make) in libraries.items():
        if reason := ways.importable(module, title):
            yield Measured(key, title, why_not=reason)
        else:
            yield from _times(key, title, make(task), task, oracles)
    with clock.using():
        clock.cp.get_default_memory_pool().free_all_blocks()


def _inside(job: Job, known: Oracle) -> Oracle:
    """The parts of what is known that no border has a say in."""
    found, reach = Oracle(), job.reach
    for (top, bottom, left, right), answer in known.items():
        first, end = max(top, reach), min(bottom, job.height - reach)
        start, stop = max(left, reach), min(right, job.width - reach)
        if first < end and start < stop:
            part = answer[first - top : end - top, start - left : stop - left]
            found[first, end, start, stop] = part
    return found


def _times(
    key: str, title: str, found: Iterator[Way], task: Task, oracles: dict[str, Oracle]
) -> Iterator[Measured]:
    """Measure a library's ways; one that fails must not keep others from being timed."""
    while True:
        try:
            with task.clock.using():
                way = next(found, None)
            if way is None:
                return
            title = way.name
            yield _measure(key, way, task, oracles)
        except Exception as error:  # noqa: BLE001
            yield Measured(key, title, why_not=f"{type(error).__name__}: {ways.first_line(error)}")


def _measure(key: str, way: Way, task: Task, oracles: dict[str, Oracle]) -> Measured:
    ways.use_threads(way)
    with task.clock.using():  # many libraries compile, plan or try out the first time
        output, cp = way.run(), task.clock.cp
        output = cp.stack(output, axis=-1) if isinstance(output, list) else output
        output = output if isinstance(output, np.ndarray) else cp.asnumpy(cp.asarray(output))
        task.clock.stream.synchronize()
    timing = task.clock.time(way.run) if way.on_gpu else ways.in_turns([way], ON_CPU)[way]
    job = task.job if way.border == INSIDE else task.job.but(border=way.border)
    error = ways.max_error(job, output, oracles.setdefault(way.border, {}))
    return ways.measured_way(key, way, timing, error, job)
