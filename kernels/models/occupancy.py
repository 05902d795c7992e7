"""How many warps of a kernel fit on a multiprocessor at once, and what keeps more from fitting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Occupancy:
    """blocks       resident on one multiprocessor, from the driver's own query
    warps, most  resident warps, and as many as the device can hold
    limit        one sentence: which resource keeps more from fitting
    """

    blocks: int
    warps: int
    most: int
    limit: str

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.warps / self.most
