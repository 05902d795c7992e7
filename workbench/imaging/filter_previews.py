"""Small pictures of what each filter makes of a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from kernels.core.job import Job
from kernels.core.step import Correlation, Step
from kernels.oracle.reference import filtered
from workbench.imaging.display import show
from workbench.imaging.display_mapping import (
    DisplayMapping,
    NegativeDisplay,
    Tone,
    is_signed,
    natural_display,
)

Samples = NDArray[Any]


def reduced(samples: Samples, width: int, height: int) -> Samples:
    """The middle of `samples`, (H, W, C), averaged down to (height, width, C) float32."""
    import cv2  # here: the window paints before anything heavy is imported

    rows, columns = samples.shape[:2]
    scale = max(width / columns, height / rows)
    taken_h, taken_w = min(rows, round(height / scale)), min(columns, round(width / scale))
    top, left = (rows - taken_h) // 2, (columns - taken_w) // 2
    middle = samples[top : top + taken_h, left : left + taken_w]
    if middle.dtype == np.float16:  # which OpenCV only stores
        middle = middle.astype(np.float32)
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_NEAREST
    small = cv2.resize(np.ascontiguousarray(middle), (width, height), interpolation=how)
    return np.ascontiguousarray(small.reshape(height, width, -1), np.float32)


def preview(small: Samples, full: float, steps: tuple[Step, ...], tone: Tone) -> QImage:
    """Apply one filter to a reduced picture.

    small  (H, W, C) float32
    full   the value of full intensity
    steps  of a job: the filter, and a length where it has one
    tone   how bright it is shown
    """
    job = Job(small, steps)
    look: NegativeDisplay = "clip"
    if isinstance(steps[0].filter, Correlation):
        weights = steps[0].filter.weights
        look = natural_display(weights) if is_signed(weights, job.has_length) else "clip"
    found = np.ascontiguousarray(filtered(job), np.float32)
    return show(found, DisplayMapping(None, look, full, tone)).images[0].copy()
