"""Ways that people type to filter on a CPU: OpenCV, SciPy, scikit-image, Pillow, a C loop.

Each is called plainly, as its documentation shows, with its own number of threads, and makes a new
array for its answer.
"""

from __future__ import annotations

import ctypes
import importlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.weights import separate
from kernels.filters import gaussian

C_SOURCE = Path(__file__).with_name("cpu_loop.c")
C_FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")
C_TYPES = ("uint8", "float32")


@dataclass(frozen=True, slots=True, eq=False)
class CpuWay:
    """One way to filter a job's picture.

    library  "cv2", "SciPy", "scikit-image", "Pillow" or "C"
    name     what is called
    run      () -> (H, W, C) or (H, W), new at every call
    """

    library: str
    name: str
    run: Callable[[], Any]


def ways(name: str, job: Job) -> Iterator[CpuWay]:
    """Yield every way there is here to do `job`, whose border is clamp.

    Its filter is `name` of kernels.filters, or "random".
    """
    for library in (_cv2, _scipy, _scikit_image, _pillow, _c):
        yield from library(name, job)


def missing() -> list[str]:
    """Return a sentence for each library that is not here."""
    absent = [
        f"{title} is not installed."
        for module, title in (("scipy", "SciPy"), ("skimage", "scikit-image"), ("PIL", "Pillow"))
        if not _is_here(module)
    ]
    if c_loop() is None:
        absent.append("No C compiler with OpenMP was found (cc), so there is no C loop.")
    return absent


def _cv2(name: str, job: Job) -> Iterator[CpuWay]:
    import cv2

    source, weights, k = job.picture, job.weights, job.ksize
    border = cv2.BORDER_REPLICATE
    named: dict[str, tuple[str, Callable[[], Any]]] = {
        "gaussian": (
            "GaussianBlur",
            lambda: cv2.GaussianBlur(source, (k, k), _sigma(k), borderType=border),
        ),
        "box": ("blur", lambda: cv2.blur(source, (k, k), borderType=border)),
        "sobel_x": ("Sobel", lambda: cv2.Sobel(source, -1, 1, 0, borderType=border)),
        "laplacian": ("Laplacian", lambda: cv2.Laplacian(source, -1, borderType=border)),
    }
    if name in named:
        yield CpuWay("cv2", *named[name])
    if (factors := separate(weights)) is not None:
        column, row = factors
        yield CpuWay(
            "cv2",
            "sepFilter2D",
            lambda: cv2.sepFilter2D(source, -1, row, column, borderType=border),
        )
    yield CpuWay("cv2", "filter2D", lambda: cv2.filter2D(source, -1, weights, borderType=border))


def _sigma(ksize: int) -> float:
    """Return what cv2 is to be given: 0 where its own choice is ours, the binomial."""
    return 0.0 if ksize in gaussian.BINOMIAL else gaussian.default_sigma(ksize)


def _scipy(name: str, job: Job) -> Iterator[CpuWay]:
    if not _is_here("scipy"):
        return
    from scipy import ndimage

    source, weights, k = job.picture, job.weights[:, :, np.newaxis], job.ksize
    # In integers it would cut off fractions after each pass, and wrap what is too large.
    real = {"output": np.float32}
    if name == "gaussian" and k not in gaussian.BINOMIAL:
        sigma = gaussian.default_sigma(k)
        yield CpuWay(
            "SciPy",
            "gaussian_filter",
            lambda: ndimage.gaussian_filter(
                source, (sigma, sigma), radius=k // 2, axes=(0, 1), mode="nearest", **real
            ),
        )
    elif name == "box":
        yield CpuWay(
            "SciPy",
            "uniform_filter",
            lambda: ndimage.uniform_filter(source, (k, k), axes=(0, 1), mode="nearest", **real),
        )
    else:
        yield CpuWay(
            "SciPy", "correlate", lambda: ndimage.correlate(source, weights, mode="nearest", **real)
        )


def _scikit_image(name: str, job: Job) -> Iterator[CpuWay]:
    if not _is_here("skimage") or name != "gaussian" or job.ksize in gaussian.BINOMIAL:
        return
    from skimage import filters

    sigma, source = gaussian.default_sigma(job.ksize), job.picture
    yield CpuWay(
        "scikit-image",
        "gaussian",
        lambda: filters.gaussian(
            source,
            sigma,
            mode="nearest",
            truncate=job.radius / sigma,
            channel_axis=-1,
            preserve_range=True,
        ),
    )


def _pillow(name: str, job: Job) -> Iterator[CpuWay]:
    if not _is_here("PIL") or job.pixel_type != "uint8" or job.channels not in (1, 3):
        return
    from PIL import Image, ImageFilter

    image = Image.fromarray(job.picture if job.channels == 3 else job.picture[..., 0])
    if name == "box":
        wanted: Any = ImageFilter.BoxBlur(job.radius)
    elif name == "gaussian" and job.ksize not in gaussian.BINOMIAL:
        wanted = ImageFilter.GaussianBlur(gaussian.default_sigma(job.ksize))
    elif job.ksize in (3, 5):
        wanted = ImageFilter.Kernel((job.ksize, job.ksize), job.weights[::-1].ravel().tolist(), 1)
    else:
        return
    yield CpuWay("Pillow", type(wanted).__name__, lambda: np.asarray(image.filter(wanted)))


def _c(name: str, job: Job) -> Iterator[CpuWay]:  # noqa: ARG001
    library = c_loop()
    if library is None or job.pixel_type not in C_TYPES:
        return
    call = library[f"filter_{job.pixel_type}"]
    weights = np.ascontiguousarray(job.weights)
    shape = (ctypes.c_long(job.height), ctypes.c_long(job.width), ctypes.c_long(job.channels))

    def run() -> NDArray[Any]:
        out = np.empty_like(job.picture)
        call(_at(job.picture), _at(out), *shape, _at(weights), ctypes.c_long(job.ksize))
        return out

    yield CpuWay("C", "four loops", run)


def _at(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@cache
def c_loop() -> ctypes.CDLL | None:
    """Return the compiled `cpu_loop.c`; None where no compiler makes it."""
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
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
