"""A rung as a library for the CPU: built for the macros of some jobs, loaded, launched."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import IntEnum
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.job import Job
from kernels.core.poison import RED_BYTES
from kernels.cuda.launch import LaunchStep, plan_steps
from kernels.cuda_on_cpu.compile_errors import with_line
from kernels.cuda_on_cpu.compiler import CHECKED, TRIED, ZEROED, Flavour
from kernels.cuda_on_cpu.device_code import Knobs, generated, key_of, knobs_of
from kernels.cuda_on_cpu.elf import Symbol
from kernels.cuda_on_cpu.regions import DEVICE, Rows
from kernels.cuda_on_cpu.shared_run import ALIGNMENT, WORDS, SharedRun
from kernels.rungs.headers import Facts
from kernels.rungs.rung import PICTURE, Pass, Rung

NEVER_STORED = 0xFF  # every byte of what lies between passes: NaN, read as floats
MAX_STATIC_SHARED = 48 * 1024  # of a block: CUDA's compiler refuses more

Named = Sequence[tuple[str, NDArray[Any]]]


class Order(IntEnum):
    """The turn in which blocks, and the threads of a block, run: as enum Order in cuda_cpu.h."""

    FORWARD, REVERSE, SHUFFLED = range(3)


class LaunchError(Exception):
    """A kernel cannot be launched, or cannot go on: its threads wait at different barriers.

    line  of the rung's file, that the sentence names
    """

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


class Launch(ctypes.Structure):
    """The layout of struct Launch in cuda_cpu.h."""

    _fields_ = (
        *((name, ctypes.c_uint) for name in ("grid_x", "grid_y", "block_x", "block_y")),
        *(("shared_bytes", ctypes.c_size_t), ("order", ctypes.c_int)),
        *(("seed", ctypes.c_uint), ("cross", ctypes.c_uint)),
    )


class Shim:
    """One rung, in a library that was made for some jobs, and is loaded when it first runs."""

    flavour: Flavour
    headers: tuple[str, ...] = ()  # that its text includes besides

    def __init__(self, rung: Rung, library: str) -> None:
        self.rung, self._library = rung, library

    @classmethod
    def text(cls, rung: Rung, sets: Iterable[Knobs]) -> str:
        return generated(rung, sets, partial(cls._written, rung), *cls.headers)

    @classmethod
    def _written(cls, _rung: Rung, text: str) -> str:
        return text

    @cached_property
    def library(self) -> ctypes.CDLL:
        """The library, which stays loaded."""
        return ctypes.CDLL(self._library)

    def run_into(
        self,
        job: Job,
        source: NDArray[Any],
        target: NDArray[Any],
        order: Order,
        rows: Rows | None = None,
        cross: int = 0,
    ) -> None:
        """Filter the picture in `source` into `target`, which lie as on a device.

        rows   (first, end) to write; None: all
        cross  chooses a column and a row of blocks, which run alone; 0: all
        Raises LaunchError where threads wait for each other in vain.
        """
        facts = Facts(job, DEVICE)
        arrays = {"source": source, "target": target}
        for name, size in self.rung.buffers:
            arrays[name] = self._placed(np.full(facts.value(size), NEVER_STORED, np.uint8))
        given = [("weights", self._placed(one)) for one in self._operands(job)]
        static = self.library[f"static_shared_bytes_{self._key(job)}"]()
        if static > MAX_STATIC_SHARED:
            raise LaunchError(
                f"Arrays declared __shared__ take {static / 1024:.1f} KiB; a block has "
                f"{MAX_STATIC_SHARED >> 10} KiB for those, and more only as dynamic shared memory."
            )
        for step in plan_steps(self.rung, job, DEVICE, rows):
            each = self.rung.passes[step.number]
            names = (each.reads, *each.also_reads)
            read = [(name, arrays["source" if name == PICTURE else name]) for name in names]
            written = each.writes, arrays["target" if each.writes == PICTURE else each.writes]
            if each.library:
                assert each.shape is not None
                shape = tuple(facts.value(expression) for expression in each.shape)
                fft = load_transforms()  # as cuFFT does, in float32; the arrays may be one
                ways = {"fft2": (fft.fft2, "backward"), "ifft2": (fft.ifft2, "forward")}
                transform, norm = ways[each.library]
                tiles = read[0][1].view(np.complex64).reshape(shape)
                written[1].view(np.complex64).reshape(shape)[:] = transform(tiles, norm=norm)
                continue
            assert step.grid is not None
            assert step.block is not None
            how = Launch(*step.grid, *step.block, step.shared_bytes, order, order, cross)
            # By the names that its header has for what it loads and what it stores.
            with self._watching(step, [*read, *given], [written]):
                pointers = [one for _, one in (*read, written, *given)]
                self._launch(each, job, how, pointers, step.rows)

    def _key(self, job: Job) -> str:
        return key_of(knobs_of(self.rung, job))

    def _operands(self, job: Job) -> list[NDArray[Any]]:
        """Set the __constant__ arrays; return what each launch is given behind the pictures."""
        operands, key = self.rung.operands(job), self._key(job)
        for name, stored in operands.constants.items():
            find = self.library[f"{name}_{key}"]
            find.restype = ctypes.c_void_p
            ctypes.memmove(int(find()), stored.ctypes.data, stored.nbytes)
        return [np.array(argument) for argument in operands.arguments]

    def _placed(self, data: NDArray[Any]) -> NDArray[Any]:
        return data

    def _watching(
        self, _step: LaunchStep, _loads: Named, _stores: Named
    ) -> AbstractContextManager[None]:
        return nullcontext()

    def _launch(
        self, each: Pass, job: Job, how: Launch, arrays: Sequence[NDArray[Any]], rows: Rows
    ) -> None:
        numbers = (job.height, job.width, Facts(job, DEVICE)["PITCH"], *rows)
        pointers = [ctypes.c_void_p(one.ctypes.data) for one in arrays]
        values = [*pointers, *map(ctypes.c_int, numbers)]
        arguments = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        launch = self.library[f"launch_{each.function}_{self._key(job)}"]
        launch.restype = ctypes.c_char_p
        if message := launch(ctypes.byref(how), arguments):
            raise LaunchError(*with_line(message.decode(), self.rung.file))


class TriedShim(Shim):
    """A shim as a user's file runs: quick to compile, and a crash names its line."""

    flavour = TRIED


class ZeroedShim(TriedShim):
    """The same, where local variables that nobody gave a value are zero."""

    flavour = ZEROED


WATCHED = np.dtype("u8, u8, u8, u8, u4, u4")  # struct Watched in checking.cpp


class CheckedShim(Shim):
    """A shim whose launches end at the first access that breaks a rule.

    variables  of the library
    names      of the arrays that reports number
    """

    flavour = CHECKED
    shared: SharedRun
    row_bytes: int
    variables: Sequence[Symbol] = ()
    names: Sequence[str] = ()

    def _placed(self, data: NDArray[Any]) -> NDArray[Any]:
        """Place it with nothing near it that an access could mean."""
        whole = np.zeros(data.nbytes + 2 * RED_BYTES + ALIGNMENT, np.uint8)
        begin = RED_BYTES + -(whole.ctypes.data + RED_BYTES) % ALIGNMENT
        placed = whole[begin : begin + data.nbytes].view(data.dtype).reshape(data.shape)
        placed[...] = data
        return placed

    @contextmanager
    def _watching(self, _step: LaunchStep, loads: Named, stores: Named) -> Iterator[None]:
        shared, seen = self.shared, dict[int, str]()
        watched = np.zeros(len(loads) + len(stores) + len(self.variables), WATCHED)
        for number, (name, array) in enumerate((*loads, *stores)):
            if array.ctypes.data in seen:
                continue
            is_picture = array is shared.source or array is shared.target
            watched[len(seen)] = (
                *(array.ctypes.data, array.ctypes.data + array.nbytes),
                self.row_bytes if is_picture else 0,
                array.nbytes // len(array) if is_picture else 0,
                any(array is one for _, one in loads),
                any(array is one for _, one in stores),
            )
            picture = WORDS["target" if number >= len(loads) else "source"]
            known = {PICTURE: picture, "weights": "the weights"}
            seen[array.ctypes.data] = known.get(name, f"the buffer {name}")
        self.names = [*seen.values(), *(each.name for each in self.variables)]
        for place, each in enumerate(self.variables, len(seen)):
            watched[place] = (each.begin, each.end, 0, 0, True, True)
        size = ctypes.c_uint(shared.target.itemsize)
        is_last = any(array is shared.target for _, array in stores)
        storers = shared.address + shared.writers_offset
        writers = ctypes.c_void_p(storers if is_last else None)
        count = len(seen), len(self.variables)
        self.library.check_accesses(ctypes.c_void_p(watched.ctypes.data), *count, writers, size)
        yield
        self.library.check_accesses(None, 0, 0, None, size)


def load_transforms() -> Any:
    """Import the stand-in for cuFFT; LaunchError where it is not installed."""
    try:
        import scipy.fft  # a fifth of a second, and not everywhere
    except ImportError as error:
        raise LaunchError("What cuFFT does takes SciPy here: `pip install scipy`.") from error
    return scipy.fft
