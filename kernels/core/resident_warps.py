"""The warps of a kernel that a multiprocessor holds at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The warps of a kernel on one multiprocessor.

    blocks       resident on one multiprocessor, from the driver's own query
    warps, most  resident warps, and as many as the device can hold; most is 0 where not known
    limit        one sentence: which resource keeps more from fitting
    """

    blocks: int
    warps: int
    most: int
    limit: str

    @property
    def share(self) -> float:
        """Return resident warps over those the device can hold: 0 to 1; 0 where not known."""
        return self.warps / self.most if self.most else 0.0
