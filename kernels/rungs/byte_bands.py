"""Weights as bands of halves, for tensor cores that multiply bytes, as lanes hold them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job

LANES = 32
BLOCK = 16  # samples: a column of a product's right matrix, and as many sums

Words = NDArray[np.uint32]
Places = NDArray[np.int64]


def bands_along(row: NDArray[np.float64], job: Job) -> Words:
    """Return the words that lanes hold of a band of `row`, for products along x; see bytes.cuh.

    row  as many as the job's weights are wide, times a power of two

    For each block of samples that matters two times LANES × 4 words, what rounding to halves lost
    and the halves.  Where channels interleave also the same for sparse products, which take two
    blocks at a time, and LANES words for each of these: which two of each four numbers they are
    for.
    """
    band = _Band(row, job)
    whole = [band.words(*band.of_a_block(s)) for s in range(band.span)]
    if job.channels == 1:
        return np.concatenate(whole)
    steps = range((band.span + 1) // 2)
    sparse = [band.words(*band.kept_of_two_blocks(s)) for s in steps]
    return np.concatenate((*whole, *sparse, *(band.places(s) for s in steps)))


class _Band:
    """A band as lanes hold it.

    span  blocks that matter to the sums of one: its own, those beside it, and if their number is
          even one that is half on the right and half on the left
    """

    def __init__(self, row: NDArray[np.float64], job: Job) -> None:
        self.job, self.row, self.lane = job, row, np.arange(LANES)
        self.g, self.t = self.lane // 4, self.lane % 4
        self.halo = len(row) // 2 * job.channels
        self.span = 1 + (self.halo + 7) // 8
        self.side = (self.span - 1) // 2

    def of_a_block(self, s: int) -> tuple[Places, Places]:
        """Return how far from their sums two samples of each word are, and these: (LANES, 4)."""
        i = np.arange(4)
        sums = 2 * self.g[:, None] + i % 2
        away = self._words_away(s, self.t)[:, None] + 4 * self.t[:, None] + i // 2 * 2 - sums
        return np.stack((away, away + 1), -1), sums

    def kept_of_two_blocks(self, s: int) -> tuple[Places, Places]:
        """Return the same of samples that a sparse product keeps; of one block two words alone."""
        i = np.arange(4)
        sums = 2 * self.g[:, None] + i % 2
        corner = self._corner(2 * s, self.t[:, None] + i // 2 * 4, sums)
        first, second = self._kept(corner)
        away = np.stack((corner + _sample_of(first), corner + _sample_of(second)), -1)
        if not self._is_of_two(s):
            away[:, 2:] = 1 << 20  # no tap is so far away
        return away, sums

    def places(self, s: int) -> Words:
        """Return which two of four a lane tells of: both rows, half of eight fours or all four."""
        four = 4 * (self.t % 2) if self._is_of_two(s) else 0 * self.t
        told = np.zeros(LANES, np.uint32)
        for i in range(8):
            first, second = self._kept(self._corner(2 * s, four + i % 4, 2 * self.g + i // 4))
            told |= ((first | second << 2) << 4 * i).astype(np.uint32)
        return told

    def words(self, away: Places, sums: Places) -> Words:
        """Return two weights a word: what rounding lost, then the halves."""
        tap, rest = np.divmod(away + self.halo, self.job.channels)
        is_tap = (rest == 0) & (tap >= 0) & (tap < len(self.row))
        weights = np.where(is_tap, self.row[np.clip(tap, 0, len(self.row) - 1)], 0.0)
        if self.job.has_alpha:  # it is filtered as well: with one weight, which is 1
            is_alpha = (sums % self.job.channels == self.job.channels - 1)[..., None]
            weights = np.where(is_alpha, away == 0, weights)
        high = weights.astype(np.float16)
        return np.concatenate((halves_in_pairs(weights - high), halves_in_pairs(high))).ravel()

    def _is_of_two(self, s: int) -> bool:
        return 2 * s + 1 < self.span

    def _words_away(self, n: int | Places, t: Places) -> Places:
        half = np.where(t < 2, BLOCK * (self.side + 1), -BLOCK * (self.side + 1))
        found: Places = np.where(np.asarray(n) <= 2 * self.side, BLOCK * (n - self.side), half)
        return found

    def _corner(self, n: int, four: Places, sums: Places) -> Places:
        """Return how far from its sum the first sample of a four is, (broadcast)."""
        t = four % 2 * 2
        return self._words_away(n + four // 4, t) + 4 * t + four // 2 % 2 * 2 - sums

    def _kept(self, corner: Places) -> tuple[Places, Places]:
        """Return the two places in a four whose samples may be of the sum's channel."""
        channel = -corner % self.job.channels
        first = channel if self.job.channels == 3 else channel % 2
        return first, first + (1 if self.job.channels == 3 else 2)


def _sample_of(place: Places) -> Places:
    """Return which sample of eight is at a place of a four: 0, 1, 4, 5."""
    return place // 2 * 4 + place % 2


def halves_in_pairs(values: NDArray[np.floating]) -> Words:
    """Return two neighbours along the last axis as halves in a word, the first in the low bits."""
    wide = values.astype(np.float16).view(np.uint16).astype(np.uint32)
    words: Words = wide[..., 0] | wide[..., 1] << np.uint32(16)
    return words
