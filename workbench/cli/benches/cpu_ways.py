"""Ways that people type to filter on a CPU: OpenCV, SciPy, scikit-image, Pillow, a C loop.

Each is called plainly, as its documentation shows, with its own number of threads, and makes a new
array for its output.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import separate
from kernels.cpu import opencv
from kernels.filters import gaussian
from workbench.cli.benches.ways import Way, importable

C_SOURCE = Path(__file__).with_name("cpu_loop.c")
C_FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
C_TYPES = ("uint8", "float32")


def ways(name: str, job: Job) -> Iterator[Way]:
    """Create every way there is here to do `job`, whose border is clamp.

    name  of its filter, or "random"
    """
    yield from cv2_ways(name, job)
    for module, library in (("scipy", _scipy), ("skimage", _scikit_image), ("PIL", _pillow)):
        if _is_here(module):
            yield from library(name, job)
    if c_loop() is not None and job.pixel_type in C_TYPES:
        yield Way("C", "four loops", partial(_loop_in_c, job))


def missing() -> list[str]:
    """List what is not here, a sentence each."""
    absent = [
        f"{title} is not installed."
        for module, title in (("scipy", "SciPy"), ("skimage", "scikit-image"), ("PIL", "Pillow"))
        if not _is_here(module)
    ]
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


@cache
def _is_here(module: str) -> bool:
    return importable(module, module) is None
