"""Make samples ready to paint as a `DisplayMapping` asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.pictures.generated import white
from workbench.imaging.display import Display, to_display
from workbench.imaging.display_mapping import DisplayMapping, default_levels
from workbench.imaging.fitted_levels import around_zero


def show(samples: NDArray[Any], look: DisplayMapping) -> Display:
    """Make `samples`, (H, W, C) of any pixel type, ready to paint; they stay as they are.

    Raises ValueError and MemoryError as `to_display`.
    """
    full = white(samples.dtype) if look.full is None else look.full
    levels = look.levels or default_levels(look.negative_display, full)
    if levels is None:
        levels = around_zero(samples, look.negative_display) or (-1.0, 1.0)
    if look.negative_display == "absolute":
        samples = np.abs(samples)
    return to_display(samples, levels, full)
