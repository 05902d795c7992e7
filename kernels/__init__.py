"""Image filters on the CPU and, rung by rung, on the GPU.  Knows nothing of Qt.

    from kernels import Engine, Job, filters
    job = Job(picture, filters.get("gaussian").weights(5), implementation="shared")
    result = Engine().run(job)          # result.picture, result.kernel.median_ms, result.check

Importing this package imports neither CuPy nor numba nor OpenCV.
"""

from kernels.core.job import Job, Progress, Result, Sampling
from kernels.engine.engine import Engine

__all__ = ["Engine", "Job", "Progress", "Result", "Sampling"]
