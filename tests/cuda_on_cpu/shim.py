"""A rung as a shared library for the CPU: generate its text for many jobs, build, load, launch."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.cuda.launch import LaunchStep, plan_steps
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Pass, Rung
from tests.cuda_on_cpu.compiler import PLAIN, Flavour, build
from tests.cuda_on_cpu.functions import functions_of
from tests.made_up import H200

# So few multiprocessors that blocks which share out the rows among them walk some way, as they do
# down large pictures.
DEVICE = replace(H200, multiprocessors=2)
POISON = 0xA5  # every byte of an answer before it is written

CONSTANT = re.compile(r"^__constant__ .*?(\w+)(?:\[.*)?;", re.MULTILINE)
Knobs = tuple[tuple[str, str], ...]
Named = Sequence[tuple[str, NDArray[Any]]]


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
    """One rung, compiled for the knobs of `jobs`, in one library; loaded when it first runs.

    cache  a folder for libraries, which several processes may share
    """

    def __init__(
        self, rung: Rung, jobs: Iterable[Job], cache: Path, flavour: Flavour = PLAIN
    ) -> None:
        self.rung = rung
        self._numbers = {knobs: i for i, knobs in enumerate(dict.fromkeys(map(self._knobs, jobs)))}
        self._built = build(self._generate(), flavour, cache)

    @cached_property
    def _library(self) -> ctypes.CDLL:
        return ctypes.CDLL(str(self._built))

    def has(self, job: Job) -> bool:
        """Whether it was compiled for the job's knobs."""
        return self._knobs(job) in self._numbers

    def run(
        self,
        job: Job,
        order: Order = Order.FORWARD,
        rows: tuple[int, int] | None = None,
        constants: dict[str, NDArray[Any]] | None = None,
    ) -> NDArray[Any]:
        """What the rung makes of job.picture, like it; bytes that it did not write are POISON.

        rows       (first, end) to write; None: all
        constants  what some __constant__ arrays hold instead of what they should
        Raises LaunchError where threads wait for each other in vain.
        """
        number = self._numbers[self._knobs(job)]
        operands = self.rung.operands(job)
        facts = Facts(job, DEVICE)
        # Of exactly the size they must have, so that ASan sees what lies beyond.
        source = _in_rows(job.picture, facts["PITCH"])
        target = np.full(source.nbytes, POISON, np.uint8).view(source.dtype).reshape(source.shape)
        arrays = {"source": source, "target": target}
        for name, size in self.rung.buffers:
            arrays[name] = np.full(facts.value(size), 0xFF, np.uint8)
        for name, stored in {**operands.constants, **(constants or {})}.items():
            ctypes.memmove(self._address(f"{name}_{number}"), stored.ctypes.data, stored.nbytes)
        given = [np.array(argument) for argument in operands.arguments]
        for step in plan_steps(self.rung, job, DEVICE, rows):
            each = self.rung.passes[step.number]
            read = [
                arrays["source" if name == "picture" else name]
                for name in (each.reads, *each.also_reads)
            ]
            written = arrays["target" if each.writes == "picture" else each.writes]
            if each.library:
                _transform(each, facts, *read, written)
                continue
            pointers = [ctypes.c_void_p(one.ctypes.data) for one in (*read, written, *given)]
            numbers = (job.height, job.width, facts["PITCH"], *step.rows)
            values = [*pointers, *map(ctypes.c_int, numbers)]
            assert step.grid is not None
            assert step.block is not None
            shape = _Launch(*step.grid, *step.block, step.shared_bytes, order, seed=1)
            # By the names that its header has for what it loads and what it stores.
            loads = [*zip((each.reads, *each.also_reads), read, strict=True)]
            loads += [("weights", one) for one in given]
            with self._watching(each, step, loads, [(each.writes, written)]):
                self._launch(f"launch_{number}_{each.function}", shape, values)
        samples = job.width * job.channels
        return target[:, :samples].reshape(job.picture.shape)

    def _watching(
        self, each: Pass, step: LaunchStep, loads: Named, stores: Named
    ) -> AbstractContextManager[None]:
        """For a shim that counts: around every launch, with the arrays that it is given."""
        return nullcontext()

    def _launch(self, name: str, how: _Launch, values: list[Any]) -> None:
        arguments = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        launch = self._library[name]
        launch.restype = ctypes.c_char_p
        if message := launch(ctypes.byref(how), arguments):
            raise LaunchError(f"{self.rung.key}: {message.decode()}")

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

    def _written(self, text: str) -> str:
        """Device code as it is to be compiled: as it is."""
        return text

    def _one(self, number: int, knobs: Knobs) -> str:
        # extern "C" looks through namespaces, so the passes must have names of their own.
        passes = [(name, f"{name}_{number}") for name in functions_of(self.rung)]
        lines = [f"#define {name} {value}" for name, value in (*knobs, *passes)]
        lines += [f"namespace rung_{number} {{", '#line 1 "prelude.cuh"']
        lines += [self._written(self.rung.headers)]
        lines += [f'#line 1 "{self.rung.key}.cu"', self._written(self.rung.source), "}"]
        lines += [f"#undef {name}" for name, _ in (*knobs, *passes)]
        for name, unique in passes:
            lines.append(
                f'extern "C" const char* launch_{number}_{name}(const cuda_cpu::Launch* how, '
                f"void** arguments) {{ return cuda_cpu::launch(*how, rung_{number}::{unique}, "
                "arguments); }"
            )
        for name in CONSTANT.findall(self.rung.source):
            lines.append(f'extern "C" void* {name}_{number}() {{ return &rung_{number}::{name}; }}')
        return "\n".join(lines)


def _transform(each: Pass, facts: Facts, source: NDArray[Any], target: NDArray[Any]) -> None:
    """What cuFFT does, in float32 as there; the arrays may be one."""
    assert each.shape is not None
    shape = tuple(facts.value(expression) for expression in each.shape)
    transform, norm = {
        "fft2": (scipy.fft.fft2, "backward"),
        "ifft2": (scipy.fft.ifft2, "forward"),
    }[each.library]
    tiles = source.view(np.complex64).reshape(shape)
    target.view(np.complex64).reshape(shape)[:] = transform(tiles, norm=norm)


def _in_rows(picture: NDArray[Any], pitch: int) -> NDArray[Any]:
    """(H, pitch): the picture as it lies on a device, with bits of NaN between its rows."""
    height, width, channels = picture.shape
    rows = np.full(height * pitch * picture.itemsize, 0xFF, np.uint8).view(picture.dtype)
    rows = rows.reshape(height, pitch)
    rows[:, : width * channels] = picture.reshape(height, width * channels)
    return rows
