"""What a job is to a rung: the knobs it is compiled with, the numbers its header counts with."""

from __future__ import annotations

from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from kernels.device import Device
from kernels.job import Job
from kernels.spectra import fft_side, tiles_of
from kernels.weights import gain, separable_terms, terms_gain

ROW_BYTES = 128  # rows of a picture on the device begin at multiples of this: one line of L1


def pitch_of(width: int, channels: int, sample_bytes: int) -> int:
    """Samples from one row of a picture on the device to the next."""
    samples = ROW_BYTES // sample_bytes
    return -(-width * channels // samples) * samples


def knobs(job: Job) -> dict[str, str | int]:
    """The -D macros that fit a rung to a job, by name; see the prelude for what they mean."""
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


class Facts(dict[str, Any]):
    """The names that a header's expressions may use: the knobs, and

    RADIUS, HALO_X, HALO_Y   as in the prelude
    WIDTH, HEIGHT, PITCH     of the picture: pixels, rows, samples from row to row on the device
    SAMPLE_BYTES             of one sample
    THREADS                  BLOCK_X * BLOCK_Y
    RANK                     how many separable weights add up to these; see `separable_terms`
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
        )
        self._job = job

    def __missing__(self, name: str) -> Any:
        # Looked at only by the few rungs that ask, since these cost milliseconds.
        match name:
            case "RANK":
                value: Any = len(separable_terms(self._job.weights))
            case "GAIN":
                value = gain(self._job.weights)
            case "TERMS_GAIN":
                value = terms_gain(self._job.weights)
            case "UNIFORM":
                value = bool(np.ptp(self._job.weights) == 0)
            case "FFT_SIDE":
                value = fft_side(self["WIDTH"], self["HEIGHT"], self["RADIUS"])
            case "FFT_LINE":
                value = self["FFT_SIDE"] ** 2
            case "FFT_PAIRS" | "FFT_TILES":
                size = self["WIDTH"], self["HEIGHT"], self["RADIUS"]
                value = tiles_of(*size, self["FFT_SIDE"])[name == "FFT_TILES"]
            case "FFT_LEVELS":
                value = 2 * (self["FFT_LINE"].bit_length() - 1)
            case "PLANES":
                value = self["CHANNELS"] - self["HAS_ALPHA"]
            case "HALVES":
                value = 1 if self["SAMPLE"] in ("uint8", "float16") else 2
            case "BAND_BLOCKS":
                value = max(2, (-self["RADIUS"] % 8 + self["KSIZE"] + 14) // 8)
            case "BAND_DEPTH":
                value = (-self["RADIUS"] % 8 + self["KSIZE"] + 30) // 16
            case _:
                raise KeyError(name)
        self[name] = value
        return value

    def value(self, expression: str) -> int:
        """`expression` worked out, as an integer."""
        return int(eval(_compiled(expression), {"__builtins__": {}}, self))  # our own files' text

    def text(self, template: str) -> str:
        """`template` with each {expression} worked out."""
        return str(eval(_compiled(f"f{template!r}"), {"__builtins__": {}}, self))


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<header>", "eval")
