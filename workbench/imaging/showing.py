"""Make samples ready to paint as a `DisplayMapping` asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.pictures.generated import white
from workbench.imaging.display import Display, to_display
from workbench.imaging.display_mapping import DisplayMapping


def show(samples: NDArray[Any], look: DisplayMapping) -> Display:
    """Make `samples`, (H, W, C) of any pixel type, ready to paint; they stay as they are.

    Raises ValueError and MemoryError as `to_display`.
    """
    full = white(samples.dtype) if look.full is None else look.full
    low, high = look.levels or (0.0, full)
    match look.negative_display:
        case "absolute":
            samples = np.abs(samples)
        case "offset":
            half = (high - low) / 2
            low, high = low - half, high - half
        case "scaled":
            most = furthest(samples)
            low, high = -most, most
    return to_display(samples, (low, high), full)


def furthest(samples: NDArray[Any]) -> float:
    """Return the finite value furthest from zero, alpha left out; 1 where all are zero."""
    colours = samples[..., :-1] if samples.shape[2] in (2, 4) else samples
    low, high = float(colours.min()), float(colours.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = colours[np.isfinite(colours)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    return max(abs(low), abs(high)) or 1.0
