"""A job as a rung sees it: the knobs it is compiled with, the numbers its header counts with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NewType

import numpy as np

from kernels.core.device import Device
from kernels.core.job import Job
from kernels.core.weights import gain, separable_terms, terms_gain
from kernels.rungs.digit_bands import row_of
from kernels.rungs.expressions import text_of, value_of
from kernels.rungs.fixed_point import fixed_point
from kernels.rungs.spectra import fft_side, tiles_of

Expression = NewType("Expression", str)  # over the names of `Facts`
Template = NewType("Template", str)  # a sentence with {expressions}

MAX_WAVES = 4  # of blocks, see `blocks_down`
ROW_BYTES = 128  # rows of a picture on the device begin at multiples of this: one line of L1


def pitch_of(width: int, channels: int, sample_bytes: int) -> int:
    """Return the samples from one row of a picture on the device to the next."""
    samples = ROW_BYTES // sample_bytes
    return -(-width * channels // samples) * samples


def knobs(job: Job) -> dict[str, str | int]:
    """Return the -D macros that fit a rung to a job, by name; the prelude says what they mean."""
    return {
        "KSIZE": job.ksize,
        "CHANNELS": job.channels,
        "HAS_ALPHA": int(job.has_alpha),
        "SAMPLE": job.pixel_type,
        "BORDER": job.border.upper(),
        "BLOCK_X": job.block_xy[0],
        "BLOCK_Y": job.block_xy[1],
        "HAS_OFFSET": int(bool(job.offset)),
        "OFFSET": f"float({float(job.offset)!r}f)",
    }


def blocks_down(strips: int, resident: int, rows: int, more: int) -> int:
    """Return how many blocks one below another finish a picture soonest.

    A device that runs few blocks at a time runs them in waves, the last of which may be nearly
    empty; and the more blocks, the more rows are read twice.

    strips    of the picture, side by side; each is divided among as many blocks
    resident  blocks that the device runs at a time
    rows      of a strip, or groups of them
    more      of these that a block begins with, in addition to its share
    """
    wanted = {max(1, min(rows, waves * resident // strips)) for waves in range(1, MAX_WAVES + 1)}

    def time(count: int) -> int:
        return -(-strips * count // resident) * (-(-rows // count) + more)

    return min(sorted(wanted), key=time)


class Facts(dict[str, Any]):
    """The names that a header's expressions may use, of one job.

    They are the knobs, and

    RADIUS, HALO_X, HALO_Y   as in the prelude
    WIDTH, HEIGHT, PITCH     of the picture: pixels, rows, samples from row to row on the device
    SAMPLE_BYTES             of one sample
    THREADS                  BLOCK_X * BLOCK_Y
    RANK                     how many separable weights add up to these; see `separable_terms`
    DIGITS                   bytes that hold each weight as an integer; see `fixed_point`
    ROW_DIGITS               the same of the row of separable weights; see `digit_bands`
    GAIN                     Σ|w| of these
    TERMS_GAIN               Σ|w| of all of those over GAIN: 1 where none cancel
    UNIFORM                  whether all weights are one number
    MULTIPROCESSORS          of the device
    FFT_SIDE, FFT_LINE       of the FFT rungs' tiles: FFT_LINE = FFT_SIDE**2 rows and columns
    FFT_PAIRS, FFT_TILES     pairs of those side by side, and tiles one above the other
    FFT_LEVELS               of butterflies in the transform of a tile
    PLANES                   channels that are filtered: all but alpha
    HALVES                   numbers of half precision that hold a sample
    BAND_BLOCKS, BAND_DEPTH  8×8 blocks in a band of weights, 16×16 in two side by side: tensor.cuh
    blocks_down(...)         blocks one below another in a strip, see `blocks_down`
    """

    def __init__(self, job: Job, device: Device | None = None) -> None:
        sample_bytes = int(job.picture.dtype.itemsize)
        super().__init__(
            knobs(job),
            RADIUS=job.radius,
            HALO_X=job.radius * job.channels,
            HALO_Y=job.radius,
            WIDTH=job.width,
            HEIGHT=job.height,
            PITCH=pitch_of(job.width, job.channels, sample_bytes),
            SAMPLE_BYTES=sample_bytes,
            THREADS=job.block_xy[0] * job.block_xy[1],
            MULTIPROCESSORS=device.multiprocessors if device else 1,
            min=min,
            max=max,
            blocks_down=blocks_down,
        )
        self._job = job

    def __missing__(self, name: str) -> Any:
        # Looked at only by the few rungs that ask, since these cost milliseconds.
        self[name] = value = ON_DEMAND[name](self)
        return value

    @property
    def job(self) -> Job:
        """Return the job that all of it is of."""
        return self._job

    def value(self, expression: str) -> int:
        """Return what `expression` comes to, as an integer.  Raises CannotRunError."""
        return value_of(expression, self)

    def text(self, template: str) -> str:
        """Return `template` with each {expression} worked out.  Raises CannotRunError."""
        return text_of(template, self)


def _tiles(facts: Facts) -> tuple[int, int]:
    return tiles_of(facts["WIDTH"], facts["HEIGHT"], facts["RADIUS"], facts["FFT_SIDE"])


# What `Facts` works out when it is asked for it.
ON_DEMAND: dict[str, Callable[[Facts], Any]] = {
    "RANK": lambda facts: len(separable_terms(facts.job.weights)),
    "DIGITS": lambda facts: fixed_point(facts.job.weights).digits,
    "ROW_DIGITS": lambda facts: row_of(facts.job.weights).digits,
    "GAIN": lambda facts: gain(facts.job.weights),
    "TERMS_GAIN": lambda facts: terms_gain(facts.job.weights),
    "UNIFORM": lambda facts: bool(np.ptp(facts.job.weights) == 0),
    "FFT_SIDE": lambda facts: fft_side(facts["WIDTH"], facts["HEIGHT"], facts["RADIUS"]),
    "FFT_LINE": lambda facts: facts["FFT_SIDE"] ** 2,
    "FFT_PAIRS": lambda facts: _tiles(facts)[0],
    "FFT_TILES": lambda facts: _tiles(facts)[1],
    "FFT_LEVELS": lambda facts: 2 * (facts["FFT_LINE"].bit_length() - 1),
    "PLANES": lambda facts: facts["CHANNELS"] - facts["HAS_ALPHA"],
    "HALVES": lambda facts: 1 if facts["SAMPLE"] in ("uint8", "float16") else 2,
    "BAND_BLOCKS": lambda facts: max(2, (-facts["RADIUS"] % 8 + facts["KSIZE"] + 14) // 8),
    "BAND_DEPTH": lambda facts: (-facts["RADIUS"] % 8 + facts["KSIZE"] + 30) // 16,
}


@cache
def names() -> frozenset[str]:
    """Return the names that an Expression may use."""
    smallest = Job(np.zeros((1, 1, 1), np.uint8), np.ones((1, 1), np.float32))
    return frozenset((*Facts(smallest), *ON_DEMAND))
