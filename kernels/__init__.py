"""Image filters on the CPU and, rung by rung, on the GPU.  Knows nothing of Qt.

    from kernels import Engine, Job, filters
    job = Job.of(picture, filters.get("gaussian").weights(5), implementation="shared")
    result = Engine().run(job)          # result.picture, result.kernel.median_ms, result.check

Importing this package imports neither CuPy nor numba nor OpenCV.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels.core.job import Job, Progress, Result, Sampling
    from kernels.core.step import Correlation, Length, Step
    from kernels.engine.engine import Engine

_WHERE = {
    **dict.fromkeys(("Job", "Progress", "Result", "Sampling"), "kernels.core.job"),
    **dict.fromkeys(("Correlation", "Length", "Step"), "kernels.core.step"),
    "Engine": "kernels.engine.engine",
}
__all__ = ["Correlation", "Engine", "Job", "Length", "Progress", "Result", "Sampling", "Step"]


def __getattr__(name: str) -> Any:
    """Import a class when it is first used: child processes need no engine."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
