"""The part of one GPU in a job whose rows several share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# How halo rows reach a GPU: from another one's memory by itself, or through the computer's.
HaloPath = Literal["peer", "host", ""]


@dataclass(frozen=True, slots=True)
class DeviceShare:
    """One GPU's part of a job, and the medians of its times, by its own events.

    index      the GPU's number
    rows       (first, end) of the answer that it wrote
    total_ms   from its start to its end: bringing the halo and filtering
    halo_ms    of that bringing the halo rows from the other GPUs
    halo_rows  how many they are
    halo_path  "peer": straight from the other GPU; "host": through this computer's memory, as the
               driver allows nothing else for one of them; "": there are none
    """

    index: int
    name: str
    rows: tuple[int, int]
    total_ms: float
    halo_ms: float
    halo_rows: int
    halo_path: HaloPath

    @property
    def kernel_ms(self) -> float:
        """Return how long it filtered: all but bringing the halo."""
        return self.total_ms - self.halo_ms
