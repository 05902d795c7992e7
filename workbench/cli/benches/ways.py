"""Ways to do a job with other libraries, and how quick and exact a way was found to be.

Those that people type to filter on a CPU are called plainly, as the documentation shows.
"""

from __future__ import annotations

import ctypes
import importlib
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job, Sampling
from kernels.core.sampling import Sampler
from kernels.core.timing import Timing
from kernels.core.verdict import Tolerance
from kernels.core.weights import gain, separate
from kernels.cpu import opencv
from kernels.filters import gaussian
from kernels.oracle.checking import Oracle, checking, error_bound, largest_finite
from kernels.oracle.reference import to_pixel_type

# Outputs that count: those with float32's error, or also those within 1e-4 · Σ|w| · max|p|.
Precision = Literal["float32", "reduced"]
REDUCED_ERROR = 1e-4
ROUNDINGS = 8.0  # more than any library needs that adds up in float32
HALF_ROUNDOFF = 2.0**-11
TAPS = 3_000_000  # of a check
C_SOURCE = Path(__file__).with_name("cpu_loop.c")
C_FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
C_TYPES = ("uint8", "float32")
SEED = 12


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A function of a library that does a job.

    run      returns the output; on the GPU it queues the work on the current stream
    border   the job's, or the nearest that the library offers
    threads  of OpenCV meanwhile; 0: as many as it takes by itself
    """

    library: str
    name: str
    run: Callable[[], Any]
    border: str = "clamp"
    on_gpu: bool = False
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """The time of a rung, or of a library's way, in one cell.

    key        the rung's, or the library's
    precision  how exact its output was found to be; None: not even reduced
    why_not    the reason for having no time, or for not counting
    share      of the copy bandwidth, in percent; this and what follows: of rungs only
    waves      of blocks that the device runs at a time, of one launch
    registers  of a thread, shared_bytes of a block: the most of all its passes
    """

    key: str
    name: str = ""
    border: str = ""
    ms: float | None = None
    quartiles: tuple[float, float] | None = None
    samples: int = 0
    max_error: float | None = None
    precision: Precision | None = None
    ok: bool = False
    why_not: str | None = None
    share: float | None = None
    block_xy: tuple[int, int] | None = None
    passes: int = 0
    waves: float | None = None
    registers: int | None = None
    shared_bytes: int | None = None

    @property
    def time_ms(self) -> float:
        """Its time, which it must have."""
        assert self.ms is not None
        return self.ms

    def to_row(self) -> dict[str, Any]:
        """What --json writes: only what is known."""
        defaults = {each.name: each.default for each in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != defaults[name]}

    def __str__(self) -> str:
        block = f" {self.block_xy[0]}×{self.block_xy[1]}" if self.block_xy else ""
        return f"{self.name or self.key}{block}"


def read_measured(rows: Iterable[dict[str, Any]]) -> list[Measured]:
    """Read what --json wrote, in an earlier version as well."""
    known = {each.name for each in fields(Measured)}
    kept = ({name: row[name] for name in known & row.keys()} for row in rows)
    return [Measured(**{"key": "", **each}) for each in kept]


def quickest(found: Iterable[Measured], precision: Precision) -> Measured | None:
    """Find the quickest with a right output, as exact as `precision`; None without any."""
    able = [e for e in found if e.ok and e.ms is not None and e.precision in ("float32", precision)]
    return min(able, key=lambda each: each.time_ms, default=None)


def precision_of(max_error: float, job: Job) -> Precision | None:
    """Classify an output by its largest error; None: wrong.

    Libraries round integers as they like, so one step is allowed; half floats are stored rounded.
    Where nothing is rounded, as in a median, all have to be the same.
    """
    grows = gain(job.correlation.weights) if job.has_weights else 1.0
    largest = grows * largest_finite(job.picture)
    bound = error_bound(job, job.ksize**2, ROUNDINGS)
    stored = {"uint8": 1.0, "uint16": 1.0, "float16": HALF_ROUNDOFF * largest}
    allowed = stored.get(job.pixel_type, 0.0) if bound else 0.0
    if max_error <= allowed + bound:
        return "float32"
    return "reduced" if max_error <= allowed + REDUCED_ERROR * largest else None


def of_timing(timing: Timing | None) -> dict[str, Any]:
    if timing is None:
        return {}
    samples = len(timing.samples_ms)
    return {"ms": timing.median_ms, "quartiles": timing.quartiles_ms, "samples": samples}


def measured_way(key: str, way: Way, timing: Timing | None, error: float, job: Job) -> Measured:
    precision = precision_of(error, job)
    return Measured(
        key,
        way.name,
        way.border,
        **of_timing(timing),
        max_error=error,
        precision=precision,
        ok=precision is not None,
        why_not=None if precision else f"Its output is off by {error:.3g}.",
    )


def max_error(job: Job, output: Any, known: Oracle | None = None, taps: int = TAPS) -> float:
    """Compare a library's output, of any type and shape, with the reference; in sample values.

    output  (H, W, C), or (H, W) of one channel, or a list of the planes
    """
    planes = np.stack(output, axis=-1) if isinstance(output, list) else output
    found = np.asarray(planes).reshape(job.picture.shape)
    if found.dtype != job.picture.dtype:
        found = to_pixel_type(found.astype(np.float64), job.picture.dtype)
    tolerance = Tolerance(job.ksize**2, ROUNDINGS)
    *_, check = checking(job, np.ascontiguousarray(found), tolerance, taps, known)
    return check.max_error


def in_turns(ways: Iterable[Way], plan: Sampling) -> dict[Way, Timing]:
    """Time ways on the CPU, a run each in changing order, so that drifts hit all alike."""
    samplers = {way: Sampler(_ms(way), plan) for way in ways}
    shuffle = Random(SEED).shuffle
    while waiting := [way for way, sampler in samplers.items() if sampler.wants_more()]:
        shuffle(waiting)
        for way in waiting:
            samplers[way].add(_ms(way))
    return {way: sampler.timing() for way, sampler in samplers.items()}


def _ms(way: Way) -> float:
    if use_threads(way):
        way.run()  # OpenCV starts or ends its threads
    return 1e3 * seconds_of(way.run)


def use_threads(way: Way) -> bool:
    """Set the threads of OpenCV to the way's; return True if that changed them."""
    return opencv.use_threads(way.threads or _plain_threads())


@cache
def _plain_threads() -> int:
    import cv2

    cv2.setNumThreads(-1)
    return int(cv2.getNumThreads())


def seconds_of(run: Callable[[], Any]) -> float:
    """Time a function that returns when its work is done."""
    began = perf_counter()
    run()
    return perf_counter() - began


@cache
def importable(module: str, title: str) -> str | None:
    """Import `module`; return the reason if that fails."""
    try:
        importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - a library may fail to load in any way
        return f"{title} is not installed, or does not load ({first_line(error)})."
    return None


def first_line(error: Exception) -> str:
    """The first line of a library's message, not too long for a table."""
    return str(error).strip().split("\n")[0][:200] or type(error).__name__


def ways(name: str, job: Job) -> Iterator[Way]:
    """Create every way there is here to do `job`, whose border is clamp.

    name  of its filter, or "random"
    """
    for title, (module, library) in LIBRARIES.items():
        if importable(module, title) is None:
            yield from library(name, job)


def missing() -> list[str]:
    absent = [importable(module, title) for title, (module, _) in LIBRARIES.items()]
    if c_loop() is None:
        absent.append("No C compiler with OpenMP was found (cc), so there is no C loop.")
    return [reason for reason in absent if reason]


def _sigma(name: str, ksize: int) -> float | None:
    """The sigma of a Gaussian; None for other filters, and for binomials, which have none."""
    is_bell = name == "gaussian" and ksize not in gaussian.BINOMIAL
    return gaussian.default_sigma(ksize) if is_bell else None


def cv2_ways(name: str, job: Job, out: NDArray[Any] | None = None) -> Iterator[Way]:
    """Create OpenCV's ways; into `out`, or a new array each time."""
    import cv2

    source, weights, k = job.picture, job.correlation.weights, job.ksize
    how: dict[str, Any] = {"dst": out, "borderType": cv2.BORDER_REPLICATE}
    sigma = _sigma(name, k) or 0.0  # its own choice: for small ones ours, the binomial
    named: dict[str, tuple[str, Callable[[], Any]]] = {
        "gaussian": ("GaussianBlur", lambda: cv2.GaussianBlur(source, (k, k), sigma, **how)),
        "box": ("blur", lambda: cv2.blur(source, (k, k), **how)),
        "sobel_x": ("Sobel", lambda: cv2.Sobel(source, -1, 1, 0, **how)),
        "laplacian": ("Laplacian", lambda: cv2.Laplacian(source, -1, **how)),
    }
    if name in named:
        yield Way("cv2", *named[name])
    if (factors := separate(weights)) is not None:
        column, row = factors
        yield Way("cv2", "sepFilter2D", lambda: cv2.sepFilter2D(source, -1, row, column, **how))
    yield Way("cv2", "filter2D", lambda: cv2.filter2D(source, -1, weights, **how))


def _scipy(name: str, job: Job) -> Iterator[Way]:
    from scipy import ndimage

    source, k, plane = job.picture, job.ksize, {"axes": (0, 1)}
    # In integers it would cut off fractions after each pass, and wrap what is too large.
    how: dict[str, Any] = {"mode": "nearest", "output": np.float32}
    if sigma := _sigma(name, k):
        how |= {**plane, "radius": job.radius}
        run = partial(ndimage.gaussian_filter, source, sigma, **how)
    elif name == "box":
        run = partial(ndimage.uniform_filter, source, k, **how, **plane)
    else:
        run = partial(ndimage.correlate, source, job.correlation.weights[:, :, np.newaxis], **how)
    yield Way("SciPy", run.func.__name__, run)


def _scikit_image(name: str, job: Job) -> Iterator[Way]:
    from skimage import filters

    if sigma := _sigma(name, job.ksize):
        how: dict[str, Any] = {"mode": "nearest", "channel_axis": -1, "preserve_range": True}
        how["truncate"] = job.radius / sigma
        yield Way("scikit-image", "gaussian", partial(filters.gaussian, job.picture, sigma, **how))


def _pillow(name: str, job: Job) -> Iterator[Way]:
    from PIL import Image, ImageFilter

    if job.pixel_type != "uint8" or job.channels not in (1, 3):
        return
    image = Image.fromarray(job.picture if job.channels == 3 else job.picture[..., 0])
    if name == "box":
        chosen: Any = ImageFilter.BoxBlur(job.radius)
    elif sigma := _sigma(name, job.ksize):
        chosen = ImageFilter.GaussianBlur(sigma)
    elif job.ksize in (3, 5):
        flipped = job.correlation.weights[::-1].ravel().tolist()
        chosen = ImageFilter.Kernel((job.ksize, job.ksize), flipped, 1)
    else:
        return
    yield Way("Pillow", type(chosen).__name__, lambda: np.asarray(image.filter(chosen)))


def _c(_name: str, job: Job) -> Iterator[Way]:
    if c_loop() is not None and job.pixel_type in C_TYPES:
        yield Way("C", "four loops", partial(_loop_in_c, job))


def _loop_in_c(job: Job) -> NDArray[Any]:
    out, weights = np.empty_like(job.picture), np.ascontiguousarray(job.correlation.weights)
    source, to, by = (ctypes.c_void_p(each.ctypes.data) for each in (job.picture, out, weights))
    sides = map(ctypes.c_long, (job.height, job.width, job.channels))
    library = c_loop()
    assert library is not None
    library[f"filter_{job.pixel_type}"](source, to, *sides, by, ctypes.c_long(job.ksize))
    return out


@cache
def c_loop() -> ctypes.CDLL | None:
    """Compile `cpu_loop.c`; None where no compiler makes it."""
    if (compiler := shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")) is None:
        return None
    with TemporaryDirectory() as folder:
        library = str(Path(folder) / "cpu_loop.so")
        command = [compiler, *C_FLAGS, str(C_SOURCE), "-o", library]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        return ctypes.CDLL(library)  # which is in memory then


LIBRARIES: dict[str, tuple[str, Callable[[str, Job], Iterator[Way]]]] = {  # title: module, ways
    "OpenCV": ("cv2", cv2_ways),
    "SciPy": ("scipy", _scipy),
    "scikit-image": ("skimage", _scikit_image),
    "Pillow": ("PIL", _pillow),
    "C": ("ctypes", _c),
}
