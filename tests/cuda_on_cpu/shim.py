"""A rung as a shared library for the CPU: generate its text for many jobs, build, load, launch."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.job import Job
from kernels.rung import Rung
from tests.cuda_on_cpu.compiler import PLAIN, Flavour, build

POISON = 0xA5  # every byte of an answer before it is written

Knobs = tuple[tuple[str, str], ...]


class Order(IntEnum):
    """In which turn blocks, and the threads of a block, get to run: as enum Order in cuda_cpu.h."""

    FORWARD = 0
    REVERSE = 1
    SHUFFLED = 2


class LaunchError(Exception):
    """A kernel cannot go on: its threads wait at different barriers."""


class _Launch(ctypes.Structure):
    """As struct Launch in cuda_cpu.h."""

    _fields_ = (
        ("grid_x", ctypes.c_uint),
        ("grid_y", ctypes.c_uint),
        ("block_x", ctypes.c_uint),
        ("block_y", ctypes.c_uint),
        ("shared_bytes", ctypes.c_size_t),
        ("order", ctypes.c_int),
        ("seed", ctypes.c_uint),
    )


class Shim:
    """One rung, compiled for the knobs of `jobs`, in one library.

    cache  a folder for libraries, which several processes may share
    """

    def __init__(
        self, rung: Rung, jobs: Iterable[Job], cache: Path, flavour: Flavour = PLAIN
    ) -> None:
        self.rung = rung
        self._numbers = {knobs: i for i, knobs in enumerate(dict.fromkeys(map(self._knobs, jobs)))}
        self._library = ctypes.CDLL(str(build(self._generate(), flavour, cache)))

    def has(self, job: Job) -> bool:
        """Whether it was compiled for the job's knobs."""
        return self._knobs(job) in self._numbers

    def run(
        self,
        job: Job,
        order: Order = Order.FORWARD,
        rows: tuple[int, int] | None = None,
        weights: NDArray[np.float32] | None = None,
    ) -> NDArray[Any]:
        """What the rung makes of job.picture, like it; bytes that it did not write are POISON.

        rows     (first, end) to write; None: all
        weights  what WEIGHTS holds; None: the job's, as it should be
        Raises LaunchError where threads wait for each other in vain.
        """
        first, end = rows or (0, job.height)
        number = self._numbers[self._knobs(job)]
        # Copies, so that nothing is allocated behind their ends: ASan sees reads beyond.
        source, drawn = job.picture.copy(), job.weights.copy()
        out = np.full(job.picture.nbytes, POISON, np.uint8).view(job.picture.dtype)
        values: list[Any] = [ctypes.c_void_p(source.ctypes.data), ctypes.c_void_p(out.ctypes.data)]
        if self.rung.weights == "global":
            values.append(ctypes.c_void_p(drawn.ctypes.data))
        else:
            stored = drawn if weights is None else weights
            ctypes.memmove(self._address(f"weights_{number}"), stored.ctypes.data, stored.nbytes)
        values += [ctypes.c_int(n) for n in (job.height, job.width, first, end)]
        for name in self.rung.passes:
            self._launch(f"launch_{number}_{name}", self._shape(job, end - first, order), values)
        return out.reshape(job.picture.shape)

    def _launch(self, name: str, how: _Launch, values: list[Any]) -> None:
        arguments = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        launch = self._library[name]
        launch.restype = ctypes.c_char_p
        if message := launch(ctypes.byref(how), arguments):
            raise LaunchError(f"{self.rung.key}: {message.decode()}")

    def _shape(self, job: Job, rows: int, order: Order) -> _Launch:
        """One thread a sample: x over the samples of a row, y over the rows."""
        x, y = job.block_xy
        grid_x, grid_y = -(-job.width * job.channels // x), -(-rows // y)
        return _Launch(grid_x, grid_y, x, y, self.rung.shared_bytes_for(job), order, seed=1)

    def _address(self, function: str) -> int:
        find = self._library[function]
        find.restype = ctypes.c_void_p
        return int(find())

    def _knobs(self, job: Job) -> Knobs:
        return tuple(sorted(self.rung.defines(job).items()))

    def _generate(self) -> str:
        """C++ with the rung's whole text once for each set of knobs, each in its own namespace."""
        parts = (self._one(number, knobs) for knobs, number in self._numbers.items())
        return "\n".join(('#include "cuda_cpu.h"', *parts))

    def _one(self, number: int, knobs: Knobs) -> str:
        # extern "C" looks through namespaces, so the passes must have names of their own.
        passes = [(name, f"{name}_{number}") for name in self.rung.passes]
        lines = [f"#define {name} {value}" for name, value in (*knobs, *passes)]
        prelude = self.rung.text.removesuffix(self.rung.source)
        lines += [f"namespace rung_{number} {{", '#line 1 "prelude.cuh"', prelude]
        lines += [f'#line 1 "{self.rung.key}.cu"', self.rung.source, "}"]
        lines += [f"#undef {name}" for name, _ in (*knobs, *passes)]
        for name, unique in passes:
            lines.append(
                f'extern "C" const char* launch_{number}_{name}(const cuda_cpu::Launch* how, '
                f"void** arguments) {{ return cuda_cpu::launch(*how, rung_{number}::{unique}, "
                "arguments); }"
            )
        if self.rung.weights == "constant":
            lines.append(
                f'extern "C" void* weights_{number}() {{ return rung_{number}::WEIGHTS; }}'
            )
        return "\n".join(lines)
