"""The rate of a batch in its middle, when all that takes part has begun and none has ended."""

from __future__ import annotations

from collections.abc import Sequence

MIDDLE = 1 / 4, 9 / 10  # of what is finished


def middle_per_s(finished_s: Sequence[float]) -> float:
    """Return how many are finished per second, from a time for each, in their order.

    To start processes takes as long whatever there is to do, and is left out; so is the end, where
    some have nothing to do any more.
    """
    first, last = (round(share * (len(finished_s) - 1)) for share in MIDDLE)
    return (last - first) / (finished_s[last] - finished_s[first])
