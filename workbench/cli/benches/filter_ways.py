"""Other libraries at filters that are no weighted sum: `bench kernels --peers`, `bench cpu`.

Each is called with our parameters.  One that means something else by them, as kornia does by a
bilateral filter, is off by so much, and does not count.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, cast

import numpy as np

from kernels.core.cpu_load import usable_cores
from kernels.core.job import Job
from workbench.cli.benches import gpu_ways
from workbench.cli.benches.gpu_ways import INSIDE, Clock, Library, Size, Task, interleaved, pointer
from workbench.cli.benches.ways import Way, importable

# The largest medians of those that would take minutes beyond, or more memory than there is.
MEDIANS = {"cupy_ndimage": 15, "cvcuda": 15, "kornia": 7, "npp": 15, "scikit_image": 3, "torch": 7}
BORDERS = {  # where a library has no clamp
    **{"npp median": INSIDE, "npp minimum": INSIDE, "kornia median": "zero"},
    **{"kornia guided": "mirror", "opencv guided": "reflect", "opencv non_local_means": "mirror"},
}
CUCIM, CUPY = "cucim.skimage", "cupyx.scipy.ndimage"
Calls = dict[str, Callable[[], Any]]  # by the filter's key


def _ndimage(package: str, task: Task) -> Calls:
    """Of CuPy and of SciPy."""
    names = {"median": "median_filter", "minimum": "minimum_filter", "opening": "grey_opening"}
    source, module = task.job.picture, import_module(package)
    how: dict[str, Any] = {"size": (task.job.ksize, task.job.ksize, 1), "mode": "nearest"}
    if package == CUPY:  # on the CPU a new array each time, as ours
        source = task.source
        how["output"] = task.clock.cp.empty_like(source)
    return {key: partial(getattr(module, names[key]), source, **how) for key in names}


def _skimage(package: str, task: Task) -> Calls:
    """Of cuCIM and of scikit-image: plane by plane."""
    filters, morphology = (import_module(f"{package}.{e}") for e in ("filters", "morphology"))
    calls = {"median": filters.median, "minimum": morphology.erosion, "opening": morphology.opening}
    on_cpu = np, task.job.picture
    xp, picture = (task.clock.cp, task.source) if package == CUCIM else on_cpu
    element = xp.ones((task.job.ksize,) * 2, xp.uint8)
    planes = [xp.ascontiguousarray(picture[:, :, n]) for n in range(task.job.channels)]

    def run(call: Callable[..., Any]) -> list[Any]:
        return [call(plane, element) for plane in planes]

    return {key: partial(run, call) for key, call in calls.items()}


def _cvcuda(task: Task) -> Calls:
    import cvcuda

    k, own, out = task.job.ksize, cast(Any, task.job.filter), task.clock.cp.empty_like(task.source)
    images = [cvcuda.as_tensor(each, "HWC") for each in (out, task.source)]
    stream = cvcuda.cuda.as_stream(task.clock.stream.ptr)
    edge, erosion = {"border": cvcuda.Border.REPLICATE}, cvcuda.MorphologyType.ERODE

    def run(call: Callable[..., Any], *how: Any, **border: Any) -> Any:
        call(*images, *how, **border, stream=stream)
        return out

    return {
        "median": lambda: run(cvcuda.median_blur_into, (k, k)),
        "minimum": lambda: run(cvcuda.morphology_into, erosion, (k, k), (-1, -1), **edge),
        "bilateral": lambda: run(
            cvcuda.bilateral_filter_into, k, own.sigma_colour, own.sigma_space, **edge
        ),
    }


def _npp(task: Task) -> Calls:
    """What is inside: with a border, medians of size 7 were seen to read memory of others."""
    job, cp, call = task.job, task.clock.cp, partial(gpu_ways.call_npp, task)
    out, inner = cp.empty_like(task.source), (slice(job.radius, -job.radius),) * 2
    area = Size(job.width - 2 * job.radius, job.height - 2 * job.radius)
    window, anchor = Size(job.ksize, job.ksize), Size(job.radius, job.radius)
    kind, count = f"{gpu_ways.NPP_TYPES[job.pixel_type]}_C{job.channels}R", ctypes.c_uint()
    call(f"FilterMedianGetBufferSize{kind}", area, window, ctypes.byref(count))
    room, step = cp.empty(max(count.value, 1), cp.uint8), ctypes.c_int(task.source.strides[0])
    images = pointer(task.source[inner]), step, pointer(out[inner]), step

    def run(name: str, *more: Any) -> Any:
        call(f"{name}{kind}", *images, area, window, anchor, *more)
        return out

    return {
        "median": lambda: run("FilterMedian", pointer(room)),
        "minimum": lambda: run("FilterMin"),
    }


def _opencv(task: Task) -> Calls:
    cv2: Any = import_module("cv2")
    source, k, element = task.job.picture, task.job.ksize, np.ones((task.job.ksize,) * 2, np.uint8)
    own, edge = cast(Any, task.job.filter), cv2.BORDER_REPLICATE
    return {
        "median": lambda: cv2.medianBlur(source, k),
        "minimum": lambda: cv2.erode(source, element),
        "opening": lambda: cv2.morphologyEx(source, cv2.MORPH_OPEN, element),
        "bilateral": lambda: cv2.bilateralFilter(
            source, k, own.sigma_colour, own.sigma_space, borderType=edge
        ),
        "non_local_means": lambda: cv2.fastNlMeansDenoising(
            source, None, own.strength, own.patch, k
        ),
        "guided": lambda: cv2.ximgproc.guidedFilter(source, source, k // 2, own.epsilon),
    }


def _torch(task: Task) -> Calls:
    from torch.nn import functional

    k, radius, planes = task.job.ksize, task.job.radius, gpu_ways.planes_of(task).float()

    def median() -> Any:
        around = functional.pad(planes, (radius,) * 4, mode="replicate")
        windows = around.unfold(2, k, 1).unfold(3, k, 1)
        return interleaved(windows.flatten(4).median(-1).values)

    def minimum() -> Any:
        return interleaved(-functional.max_pool2d(-planes, k, 1, radius))

    return {"median": median, "minimum": minimum}


def _kornia(task: Task) -> Calls:
    from kornia import filters

    k, own = task.job.ksize, cast(Any, task.job.filter)
    planes = gpu_ways.planes_of(task).float()

    def bilateral() -> Any:
        colour, space = own.sigma_colour, own.sigma_space
        found = filters.bilateral_blur(planes, k, colour, (space, space), "replicate", "l1")
        return interleaved(found)

    return {
        "median": lambda: interleaved(filters.median_blur(planes, k)),
        "bilateral": bilateral,
        "guided": lambda: interleaved(filters.guided_blur(planes, planes, k, own.epsilon)),
    }


def _ways(key: str, title: str, make: Callable[[Task], Calls], task: Task) -> Iterator[Way]:
    is_long = task.name == "median" and task.job.ksize > MEDIANS.get(key, task.job.ksize)
    if not is_long and (run := make(task).get(task.name)):
        border, threads = BORDERS.get(f"{key} {task.name}", "clamp"), usable_cores()
        name, on_gpu = f"{title} {task.name}{', inside' * (border == INSIDE)}", "CPU" not in title
        yield Way("", name, run, border, on_gpu=on_gpu, threads=threads * (key == "opencv"))


LIBRARIES: dict[str, Library] = {
    key: (title, module, partial(_ways, key, title, make))
    for key, title, module, make in (
        ("cucim", "cuCIM", CUCIM, partial(_skimage, CUCIM)),
        ("cupy_ndimage", "CuPy", CUPY, partial(_ndimage, CUPY)),
        ("cvcuda", "CV-CUDA", "cvcuda", _cvcuda),
        ("kornia", "kornia", "kornia", _kornia),
        ("npp", "NPP", "ctypes", _npp),
        ("opencv", "OpenCV on the CPU", "cv2", _opencv),
        ("scikit_image", "scikit-image on the CPU", "skimage", partial(_skimage, "skimage")),
        ("torch", "PyTorch", "torch", _torch),
    )
}

# As `ways.ways` names them, with their modules.
ON_CPU: dict[str, tuple[str, Callable[[Task], Calls]]] = {
    "cv2": ("cv2", _opencv),
    "SciPy": ("scipy.ndimage", partial(_ndimage, "scipy.ndimage")),
    "scikit-image": ("skimage", partial(_skimage, "skimage")),
}


def on_cpu(name: str, job: Job) -> Iterator[Way]:
    """Create every way there is here to do `job`, without a GPU; some refuse as they are run."""
    task = Task(name, job, cast(Clock, None), job.picture, None)
    for library, (module, make) in ON_CPU.items():
        if importable(module, library) is None and (run := make(task).get(name)):
            border = BORDERS.get(f"opencv {name}", "clamp") if library == "cv2" else "clamp"
            yield Way(library, name, run, border)
