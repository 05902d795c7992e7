"""A rung as a library for the CPU: built for the macros of some jobs, loaded, launched."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.cuda.launch import LaunchStep, plan_steps
from kernels.cuda_on_cpu.building import build
from kernels.cuda_on_cpu.compile_errors import with_line
from kernels.cuda_on_cpu.compiler import PLAIN, TRIED, ZEROED, Flavour
from kernels.cuda_on_cpu.device_code import Knobs, generated, key_of, knobs_of
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.rungs.job_facts import Facts
from kernels.rungs.own_kernels import NUMBERS
from kernels.rungs.rung import PICTURE, Pass, Rung

KINDS = {"f": "float", "i": "integer", "u": "integer"}
POINTED = re.compile(r"p([a-z])(\d+)")


def why_not_signature(
    function: str, signature: str, reads: list[str], writes: str, weights: int, job: Job
) -> str:
    """Return the sentence that says what is wrong with its parameters; empty: nothing.

    signature  as cuda_cpu::signature has it: "pu1 pu1 pf4 i4 i4 i4 i4 i4"
    """
    expected = [*reads, writes, *["weights"] * weights, *NUMBERS]
    taken = signature.split()
    if len(taken) != len(expected):
        names = ", ".join([*(f"{name} to read" for name in reads), f"{writes} to write"])
        and_weights = ", weights" * weights
        return (
            f"{function} takes {_counted(len(taken))} and is handed {len(expected)}: {names}"
            f"{and_weights}, {', '.join(NUMBERS)}."
        )
    for place, (kind, name) in enumerate(zip(taken, expected, strict=True), 1):
        if reason := _why_not(kind, name, job):
            return f"{function} takes as argument {place} {reason}."
    return ""


def _why_not(kind: str, name: str, job: Job) -> str:
    if name in NUMBERS:
        if kind in ("i4", "u4"):
            return ""
        return f"{_described(kind)}, and is handed {name}, which is an int"
    pointed = POINTED.fullmatch(kind)
    if pointed is None:
        return f"{_described(kind)}, and is handed a pointer to {name}"
    size = int(pointed[2])
    if name == "picture" and pointed[1] in KINDS and size != job.picture.itemsize:
        return (
            f"a pointer to numbers of {size * 8} bits, and is handed one to the picture's samples, "
            f"which are {job.pixel_type}"
        )
    return ""


def _described(kind: str) -> str:
    if kind.startswith("p"):
        return "a pointer"
    if kind[0] in KINDS:
        article = "an" if kind[0] in "iu" else "a"
        return f"{article} {KINDS[kind[0]]} of {int(kind[1:]) * 8} bits"
    return "an object"


def _counted(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"


POISON = 0xA5  # every byte of an answer before it is written
NEVER_STORED = 0xFF  # every byte of what lies between passes: NaN, read as floats
MAX_STATIC_SHARED = 48 * 1024  # of a block: CUDA's compiler refuses more

Named = Sequence[tuple[str, NDArray[Any]]]


class Order(IntEnum):
    """The turn in which blocks, and the threads of a block, run: as enum Order in cuda_cpu.h."""

    FORWARD = 0
    REVERSE = 1
    SHUFFLED = 2


class LaunchError(Exception):
    """A kernel cannot be launched, or cannot go on: its threads wait at different barriers.

    line  of the rung's file, that the sentence names
    """

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


class _Launch(ctypes.Structure):
    """The layout of struct Launch in cuda_cpu.h."""

    _fields_ = (
        ("grid_x", ctypes.c_uint),
        ("grid_y", ctypes.c_uint),
        ("block_x", ctypes.c_uint),
        ("block_y", ctypes.c_uint),
        ("shared_bytes", ctypes.c_size_t),
        ("order", ctypes.c_int),
        ("seed", ctypes.c_uint),
        ("cross", ctypes.c_uint),
    )


def launch_of(
    grid: tuple[int, int],
    block: tuple[int, int],
    shared_bytes: int,
    order: Order,
    seed: int = 0,
    cross: int = 0,
) -> _Launch:
    """Return how to launch a function, as C++ takes it."""
    return _Launch(*grid, *block, shared_bytes, order, seed, cross)


class Shim:
    """One rung, compiled for the knobs of `jobs`, in one library; loaded when it first runs.

    cache  a folder for libraries, which several processes may share
    built  the path of a library that was made already, for other jobs as well; it takes no cache
    """

    flavour = PLAIN

    def __init__(
        self,
        rung: Rung,
        jobs: Iterable[Job],
        cache: Path | None,
        flavour: Flavour | None = None,
        built: str = "",
    ) -> None:
        self.rung = rung
        self._sets = dict.fromkeys(knobs_of(rung, job) for job in jobs)
        self._built = built
        if not built:
            assert cache is not None
            text = self.text(rung, self._sets)
            self._built = str(build(text, flavour or self.flavour, cache))

    @classmethod
    def text(cls, rung: Rung, sets: Iterable[Knobs]) -> str:
        """Return what is compiled of a rung."""
        return generated(rung, sets)

    @cached_property
    def library(self) -> ctypes.CDLL:
        """Return the library, which stays loaded."""
        return ctypes.CDLL(self._built)

    def has(self, job: Job) -> bool:
        """Return whether it was compiled for the job's knobs."""
        return knobs_of(self.rung, job) in self._sets

    def run(
        self,
        job: Job,
        order: Order = Order.FORWARD,
        rows: tuple[int, int] | None = None,
        constants: dict[str, NDArray[Any]] | None = None,
    ) -> NDArray[Any]:
        """Return what the rung makes of job.picture; bytes that it did not write are POISON.

        rows       (first, end) to write; None: all
        constants  what some __constant__ arrays hold instead of what they should
        Raises LaunchError where threads wait for each other in vain.
        """
        # Of exactly the size they must have, so that ASan sees what lies beyond.
        source = in_rows(job.picture, Facts(job, DEVICE)["PITCH"])
        target = np.full(source.nbytes, POISON, np.uint8).view(source.dtype).reshape(source.shape)
        self.run_into(job, source, target, order, rows, constants)
        return out_of_rows(target, job)

    def run_into(
        self,
        job: Job,
        source: NDArray[Any],
        target: NDArray[Any],
        order: Order,
        rows: tuple[int, int] | None = None,
        constants: dict[str, NDArray[Any]] | None = None,
        seed: int = 0,
        cross: int = 0,
    ) -> None:
        """Do the same from `source` to `target`, which lie as on a device.

        seed   of a shuffled order
        cross  chooses a column and a row of blocks, which run alone; 0: all
        """
        key = key_of(knobs_of(self.rung, job))
        operands, facts = self.rung.operands(job), Facts(job, DEVICE)
        arrays = {"source": source, "target": target}
        for name, size in self.rung.buffers:
            arrays[name] = self._placed(np.full(facts.value(size), NEVER_STORED, np.uint8))
        for name, stored in {**operands.constants, **(constants or {})}.items():
            ctypes.memmove(self._address(f"{name}_{key}"), stored.ctypes.data, stored.nbytes)
        given = [self._placed(np.array(argument)) for argument in operands.arguments]
        for step in plan_steps(self.rung, job, DEVICE, rows):
            each = self.rung.passes[step.number]
            names = (each.reads, *each.also_reads)
            read = [arrays["source" if name == PICTURE else name] for name in names]
            written = arrays["target" if each.writes == PICTURE else each.writes]
            if each.library:
                _transform(each, facts, read[0], written)
                continue
            # By the names that its header has for what it loads and what it stores.
            loads = [*zip(names, read, strict=True), *(("weights", one) for one in given)]
            numbers = (job.height, job.width, facts["PITCH"], *step.rows)
            self._check_signature(key, each.function, loads, (each.writes, written), job)
            pointers = [ctypes.c_void_p(one.ctypes.data) for one in (*read, written, *given)]
            values = [*pointers, *map(ctypes.c_int, numbers)]
            assert step.grid is not None
            assert step.block is not None
            how = launch_of(step.grid, step.block, step.shared_bytes, order, seed, cross)
            with self._watching(step, loads, [(each.writes, written)]):
                self._launch(f"launch_{each.function}_{key}", how, values)

    def _placed(self, data: NDArray[Any]) -> NDArray[Any]:
        """Place in memory what a launch is given besides the pictures."""
        return data

    def _watching(
        self,
        _step: LaunchStep,
        _loads: Named,
        _stores: Named,
    ) -> AbstractContextManager[None]:
        """Watch a launch, which is given these arrays; here nobody does."""
        return nullcontext()

    def _check_signature(
        self, key: str, function: str, loads: Named, store: tuple[str, Any], job: Job
    ) -> None:
        said = self._text(f"signature_{function}_{key}")
        arguments = [name for name, _ in loads if name != "weights"]
        weights = len(loads) - len(arguments)
        if reason := why_not_signature(function, said, arguments, store[0], weights, job):
            raise LaunchError(reason)
        static = self.library[f"static_shared_bytes_{key}"]()
        if static > MAX_STATIC_SHARED:
            raise LaunchError(
                f"Arrays declared __shared__ take {static / 1024:.1f} KiB; a block has "
                f"{MAX_STATIC_SHARED // 1024} KiB for those, and more only as dynamic shared "
                "memory."
            )

    def _text(self, function: str) -> str:
        call = self.library[function]
        call.restype = ctypes.c_char_p
        said: bytes = call()
        return said.decode()

    def _launch(self, name: str, how: _Launch, values: list[Any]) -> None:
        arguments = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        launch = self.library[name]
        launch.restype = ctypes.c_char_p
        if message := launch(ctypes.byref(how), arguments):
            raise LaunchError(*with_line(message.decode(), self.rung.file))

    def _address(self, function: str) -> int:
        find = self.library[function]
        find.restype = ctypes.c_void_p
        return int(find())


class TriedShim(Shim):
    """A shim as a user's file runs: quick to compile, and it tells where it crashed."""

    flavour = TRIED


class ZeroedShim(TriedShim):
    """The same, where local variables that nobody gave a value are zero."""

    flavour = ZEROED


def load_transforms() -> Any:
    """Return what stands in for cuFFT; LaunchError where it is not installed."""
    try:
        import scipy.fft  # a fifth of a second, and not everywhere
    except ImportError as error:
        raise LaunchError("What cuFFT does takes SciPy here: `pip install scipy`.") from error
    return scipy.fft


def _transform(each: Pass, facts: Facts, source: NDArray[Any], target: NDArray[Any]) -> None:
    """Do what cuFFT does, in float32 as there; the arrays may be one."""
    assert each.shape is not None
    shape = tuple(facts.value(expression) for expression in each.shape)
    fft = load_transforms()
    transform, norm = {
        "fft2": (fft.fft2, "backward"),
        "ifft2": (fft.ifft2, "forward"),
    }[each.library]
    tiles = source.view(np.complex64).reshape(shape)
    target.view(np.complex64).reshape(shape)[:] = transform(tiles, norm=norm)


def in_rows(picture: NDArray[Any], pitch: int) -> NDArray[Any]:
    """Return (H, pitch): the picture as it lies on a device, with bits of NaN between its rows."""
    height, width, channels = picture.shape
    rows = np.full(height * pitch * picture.itemsize, 0xFF, np.uint8).view(picture.dtype)
    rows = rows.reshape(height, pitch)
    rows[:, : width * channels] = picture.reshape(height, width * channels)
    return rows


def out_of_rows(rows: NDArray[Any], job: Job) -> NDArray[Any]:
    """Return (H, W, C): the picture in what lies as on a device."""
    return rows[:, : job.width * job.channels].reshape(job.picture.shape)
