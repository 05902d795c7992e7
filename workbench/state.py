"""The one source of truth: an immutable state, replaced as a whole, announced once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

Matrix = tuple[tuple[float, ...], ...]
ViewMode = Literal["side", "wipe"]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A loaded picture.  Compared by identity, so comparing two States never touches pixels.

    samples   (H, W, C) uint8, uint16 or float32, C-contiguous, read-only; C = 1 to 4
    path      the file it came from; None for a built-in or pasted picture
    notes     what was converted on the way in, one sentence each
    built_in  its key in `kernels.pictures.PICTURES`, if it is one of those
    """

    name: str
    samples: NDArray[Any] = field(repr=False)
    path: Path | None = None
    notes: tuple[str, ...] = ()
    built_in: str | None = None

    def __post_init__(self) -> None:
        self.samples.flags.writeable = False

    @property
    def white(self) -> float:
        """The sample value that is full intensity: 255, 65535, or 1.0 for floats."""
        dtype = self.samples.dtype
        return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


@dataclass(frozen=True, slots=True)
class State:
    """Everything the user has chosen.  Never holds a widget, a result or a GPU array.

    sigma   None: the filter's own default for its size
    matrix  the weights of the filter "custom"
    levels  sample values shown as black and white; None: 0 and the picture's white
    """

    picture: Picture | None = None
    filter: str = "gaussian"
    ksize: int = 5
    sigma: float | None = None
    amount: float = 1.0
    matrix: Matrix = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))
    border: str = "clamp"
    implementation: str = "opencv"
    block_xy: tuple[int, int] = (32, 8)
    baseline: str = "opencv"
    cache: Literal["cold", "warm"] = "cold"
    levels: tuple[float, float] | None = None
    view_mode: ViewMode = "side"


class Store(QObject):
    """Holds the current `State`.

    Signals:
        changed(old, new): after every change, and only when something changed.
    """

    changed = Signal(object, object)

    def __init__(self, state: State | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state or State()

    @property
    def state(self) -> State:
        return self._state

    def update(self, **changes: Any) -> None:
        """Replace the named fields.  An unknown name is a TypeError."""
        old, new = self._state, replace(self._state, **changes)
        if new != old:
            self._state = new
            self.changed.emit(old, new)
