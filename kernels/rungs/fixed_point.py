"""Weights as integers of few 8-bit digits, for tensor cores that multiply bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kernels.core.weights import UNIT_ROUNDOFF, gain

MAX_DIGITS = 3
MIN_LARGEST = 2.0**-90  # smaller weights are not scaled up so far
MAX_SCALES = 4096  # that are tried
SLICE = 1 << 14  # scaled weights at once: they stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class FixedPoint:
    """Weights as integers times `undo`, a float32.

    digits    so many bytes hold every integer
    signed    whether these are signed; else no weight is negative
    integers  (K, K) int32
    undo      what an integer times this is: its weight
    """

    digits: int
    signed: bool
    integers: NDArray[np.int32]
    undo: float


def fixed_point(weights: NDArray[np.float32]) -> FixedPoint:
    """Return `weights` in as few digits as hold them well enough, scaled so that these lose least.

    Any sums of bytes may lose as much as `may_lose` says; the digits of three bytes always do less.
    """
    return fixed_point_of_bytes(np.ascontiguousarray(weights).tobytes(), len(weights))


def may_lose(weights: NDArray[np.float32]) -> float:
    """Return what sums of samples up to 1 may be off by for the rounding of weights.

    The check lets float32 round 2 (K² + 40) times, of which 8 are left to the sums.
    """
    return (2 * (weights.size + 40) - 8) * UNIT_ROUNDOFF * gain(weights)


def lost(exact: NDArray[np.float64], rounded: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the most that sums of samples from 0 to 1 are off by: over the last two axes.

    Such a sum is furthest off where samples are 1 for errors of one sign, and 0 for the others.
    """
    errors = rounded - exact
    too_large: NDArray[np.float64] = np.maximum(errors, 0).sum(axis=(-2, -1))
    too_small: NDArray[np.float64] = np.maximum(-errors, 0).sum(axis=(-2, -1))
    worst: NDArray[np.float64] = np.maximum(too_large, too_small)
    return worst


def largest_of(digits: int, signed: bool) -> int:
    """Return the largest integer that so many bytes hold, and its negative if they are signed."""
    return sum((127 if signed else 255) << 8 * i for i in range(digits))


@lru_cache(maxsize=64)
def fixed_point_of_bytes(raw: bytes, ksize: int) -> FixedPoint:
    """Return `fixed_point` of the float32 weights in `raw`; remembered, as bytes can be."""
    weights = np.frombuffer(raw, np.float32).reshape(ksize, ksize)
    exact = weights.astype(np.float64)
    largest = max(float(np.abs(exact).max()), MIN_LARGEST)
    signed = bool(exact.min() < 0)
    for digits in range(1, MAX_DIGITS + 1):
        undos = scales(largest, largest_of(digits, signed), digits == MAX_DIGITS)
        undo, loss = best_of(exact, undos)
        if loss <= may_lose(weights) or digits == MAX_DIGITS:
            break
    integers = np.rint(exact / undo).astype(np.int32)
    integers.flags.writeable = False
    return FixedPoint(digits, signed, integers, undo)


def best_of(exact: NDArray[np.float64], undos: NDArray[np.float64]) -> tuple[float, float]:
    """Return that of `undos` with which weights lose least, the first of equals, and how much."""
    losses = []
    at_once = max(1, SLICE // exact.size)
    for first in range(0, len(undos), at_once):
        tried = undos[first : first + at_once, None, None]
        rounded = np.rint(exact / tried) * tried
        losses.append(lost(exact, rounded))
    all_losses = np.concatenate(losses)
    best = int(all_losses.argmin())
    return float(undos[best]), float(all_losses[best])


def scales(largest: float, top: int, one: bool) -> NDArray[np.float64]:
    """Return numbers whose multiples weights may become, (n,): of float32.

    With a power of two weights like 1/16 stay exact; the others make an integer of the largest.
    """
    power = math.ldexp(1.0, math.frexp(largest)[1] - math.frexp(top)[1])
    powers = [power if round(largest / power) <= top else 2 * power]
    if one:
        return np.array(powers)
    least = max(1, top // 2) if top > MAX_SCALES else 1
    wanted = np.unique(np.linspace(top, least, min(MAX_SCALES, top - least + 1)).astype(int))[::-1]
    undos = (largest / wanted).astype(np.float32).astype(np.float64)
    fitting = undos[np.rint(largest / undos) <= top]
    return np.concatenate((powers, fitting))
