"""What it takes to bring a picture to the device and back, from ordinary and from pinned memory."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.timing import Timing


@dataclass(frozen=True, slots=True)
class Transfers:
    """A picture of `picture_bytes` each way.  Pageable: as NumPy makes arrays; pinned: memory that
    the device may read and write by itself."""

    picture_bytes: int
    pageable_up: Timing
    pageable_down: Timing
    pinned_up: Timing
    pinned_down: Timing
