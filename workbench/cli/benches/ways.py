"""Ways to do a job with other libraries, and how quick and exact a way was found to be.

Those that people type to filter on a CPU (OpenCV, SciPy, scikit-image, Pillow, a C loop) are called
plainly, as the documentation shows, and make a new array for the output.
"""

from __future__ import annotations

import ctypes
import importlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job, Sampling
from kernels.core.sampling import THREADS_SETTLE_S
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
ON_CPU = Sampling(max_samples=5, max_seconds=0.5, warmup_seconds=THREADS_SETTLE_S)


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
    registers: int | None = None
    shared_bytes: int | None = None

    def counts_as(self, precision: Precision) -> bool:
        """True if its output is right, and as exact as `precision` requires."""
        return self.ok and self.ms is not None and self.precision in ("float32", precision)

    def __str__(self) -> str:
        block = f" {self.block_xy[0]}×{self.block_xy[1]}" if self.block_xy else ""
        return f"{self.name or self.key}{block}"


def quickest(found: tuple[Measured, ...], precision: Precision) -> Measured | None:
    """Find the quickest that counts as `precision`; None without any."""
    able = [each for each in found if each.counts_as(precision)]
    return min(able, key=lambda each: each.ms or 0.0, default=None)


def precision_of(max_error: float, job: Job) -> Precision | None:
    """Classify an output by its largest error; None: wrong.

    Libraries round integers as they like, so one step is allowed; half floats are stored rounded.
    """
    largest = gain(job.weights) * largest_finite(job.picture)
    stored = {"uint8": 1.0, "uint16": 1.0, "float16": HALF_ROUNDOFF * largest}
    allowed = stored.get(job.pixel_type, 0.0)
    if max_error <= allowed + error_bound(job, job.ksize**2, ROUNDINGS):
        return "float32"
    return "reduced" if max_error <= allowed + REDUCED_ERROR * largest else None


def measured_way(key: str, way: Way, timing: Timing | None, error: float, job: Job) -> Measured:
    """Describe a way by its times, if there are any, and by the error of its output."""
    precision = precision_of(error, job)
    return Measured(
        key,
        way.name,
        way.border,
        timing.median_ms if timing else None,
        timing.quartiles_ms if timing else None,
        len(timing.samples_ms) if timing else 0,
        error,
        precision,
        ok=precision is not None,
        why_not=None if precision else f"Its output is off by {error:.3g}.",
    )


def max_error(job: Job, output: Any, known: Oracle | None = None, taps: int = TAPS) -> float:
    """Compare a library's output, of any type and shape, with the reference; in sample values."""
    found = np.asarray(output).reshape(job.picture.shape)
    if found.dtype != job.picture.dtype:
        found = to_pixel_type(found.astype(np.float64), job.picture.dtype)
    tolerance = Tolerance(job.ksize**2, ROUNDINGS)
    *_, check = checking(job, np.ascontiguousarray(found), tolerance, taps, known)
    return check.max_error


def seconds_of(run: Callable[[], Any]) -> float:
    """Time a function that returns when its work is done."""
    began = perf_counter()
    run()
    return perf_counter() - began


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


# -- on the CPU


def ways(name: str, job: Job) -> Iterator[Way]:
    """Create every way there is here to do `job`, whose border is clamp.

    name  of its filter, or "random"
    """
    yield from cv2_ways(name, job)
    for module, (title, library) in LIBRARIES.items():
        if _why_not(module, title) is None:
            yield from library(name, job)
    if c_loop() is not None and job.pixel_type in C_TYPES:
        yield Way("C", "four loops", partial(_loop_in_c, job))


def missing() -> list[str]:
    """List what is not here, a sentence each."""
    reasons = (_why_not(module, title) for module, (title, _) in LIBRARIES.items())
    absent = [reason for reason in reasons if reason]
    if c_loop() is None:
        absent.append("No C compiler with OpenMP was found (cc), so there is no C loop.")
    return absent


def use_threads(count: int) -> bool:
    """Set the threads of OpenCV, 0 for its own choice; return True if that changed them."""
    return opencv.use_threads(count or _plain_threads())


@cache
def _plain_threads() -> int:
    import cv2

    cv2.setNumThreads(-1)
    return int(cv2.getNumThreads())


def cv2_ways(name: str, job: Job, out: NDArray[Any] | None = None) -> Iterator[Way]:
    """Create OpenCV's ways; into `out`, or a new array each time."""
    import cv2

    source, weights, k = job.picture, job.weights, job.ksize
    how: dict[str, Any] = {"dst": out, "borderType": cv2.BORDER_REPLICATE}
    # 0 where its own choice is ours, the binomial
    sigma = 0.0 if k in gaussian.BINOMIAL else gaussian.default_sigma(k)
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

    source, k = job.picture, job.ksize
    # In integers it would cut off fractions after each pass, and wrap what is too large.
    how: dict[str, Any] = {"mode": "nearest", "output": np.float32}
    if name == "gaussian" and k not in gaussian.BINOMIAL:
        sigmas = (gaussian.default_sigma(k),) * 2
        how |= {"radius": k // 2, "axes": (0, 1)}
        function, run = "gaussian_filter", lambda: ndimage.gaussian_filter(source, sigmas, **how)
    elif name == "box":
        how |= {"axes": (0, 1)}
        function, run = "uniform_filter", lambda: ndimage.uniform_filter(source, (k, k), **how)
    else:
        weights = job.weights[:, :, np.newaxis]
        function, run = "correlate", lambda: ndimage.correlate(source, weights, **how)
    yield Way("SciPy", function, run)


def _scikit_image(name: str, job: Job) -> Iterator[Way]:
    from skimage import filters

    if name != "gaussian" or job.ksize in gaussian.BINOMIAL:
        return
    sigma = gaussian.default_sigma(job.ksize)
    how: dict[str, Any] = {"mode": "nearest", "channel_axis": -1, "preserve_range": True}
    how["truncate"] = job.radius / sigma
    yield Way("scikit-image", "gaussian", lambda: filters.gaussian(job.picture, sigma, **how))


def _pillow(name: str, job: Job) -> Iterator[Way]:
    from PIL import Image, ImageFilter

    if job.pixel_type != "uint8" or job.channels not in (1, 3):
        return
    image = Image.fromarray(job.picture if job.channels == 3 else job.picture[..., 0])
    if name == "box":
        chosen: Any = ImageFilter.BoxBlur(job.radius)
    elif name == "gaussian" and job.ksize not in gaussian.BINOMIAL:
        chosen = ImageFilter.GaussianBlur(gaussian.default_sigma(job.ksize))
    elif job.ksize in (3, 5):
        chosen = ImageFilter.Kernel((job.ksize, job.ksize), job.weights[::-1].ravel().tolist(), 1)
    else:
        return
    yield Way("Pillow", type(chosen).__name__, lambda: np.asarray(image.filter(chosen)))


def _loop_in_c(job: Job) -> NDArray[Any]:
    out, weights = np.empty_like(job.picture), np.ascontiguousarray(job.weights)
    arrays = [ctypes.c_void_p(each.ctypes.data) for each in (job.picture, out, weights)]
    sides = map(ctypes.c_long, (job.height, job.width, job.channels))
    library = c_loop()
    assert library is not None
    call = library[f"filter_{job.pixel_type}"]
    call(*arrays[:2], *sides, arrays[2], ctypes.c_long(job.ksize))
    return out


@cache
def c_loop() -> ctypes.CDLL | None:
    """Compile `cpu_loop.c`; None where no compiler makes it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    with TemporaryDirectory() as folder:
        library = str(Path(folder) / "cpu_loop.so")
        command = [compiler, *C_FLAGS, str(C_SOURCE), "-o", library]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        return ctypes.CDLL(library)  # which is in memory then


_why_not = cache(importable)
LIBRARIES = {
    "scipy": ("SciPy", _scipy),
    "skimage": ("scikit-image", _scikit_image),
    "PIL": ("Pillow", _pillow),
}
