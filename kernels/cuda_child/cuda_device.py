"""CUDA's device in the child: the only module of this room that calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.errors import cuda_errors_in_words
from kernels.core.job import Job
from kernels.core.timing import Cache
from kernels.cuda.event_timer import EventTimer
from kernels.cuda.launch import Programs, occupancy_on, plan_steps, prepare_launch, ran_of
from kernels.cuda.probing import probe
from kernels.cuda_child.child_requests import Phase
from kernels.cuda_on_cpu.shared_run import KeptMemory, Place
from kernels.rungs.rung import Rung

MAX_LOCKED = 256 << 20  # bytes of this computer's memory that are locked at once, to be copied fast


class CudaDevice:
    """One GPU, with a context that dies with this process; tests have fakes in its place.

    facts  of it, or why there is none
    """

    def __init__(self, index: int) -> None:
        self.facts = probe(index)
        if not isinstance(self.facts, Device):
            return
        import cupy as cp

        self._cp = cp
        pool = cp.get_default_memory_pool()
        self._memory = KeptMemory(lambda size: cp.empty(size, np.uint8), pool.free_all_blocks)
        with cuda_errors_in_words("starting to use it"):
            cp.cuda.Device(index).use()
            with suppress(ImportError):  # loads the compiler, while nobody waits for it
                import_module("cupy_backends.cuda.libs.nvrtc").getVersion()
            self._stream = cp.cuda.Stream(non_blocking=True)
            with self._stream:
                self._timer = EventTimer(cp, self.facts.l2_bytes)
            self._stream.synchronize()
        self._programs = Programs(cp)

    def compile(self, rung: Rung, job: Job) -> dict[str, Any]:
        """Compile it; return the fields of `Built`: resources, launches, and the time it took."""
        begun = perf_counter()
        with self._using(f"compiling {rung.title}"):
            program = self._programs.get(rung, job)
            compile_ms = (perf_counter() - begun) * 1e3
            functions = [each for each in program.functions if each is not None]
            occupancy = occupancy_on(self._cp, program, job, self._device)
            return {
                "compile_ms": compile_ms,
                "registers": max((int(each.num_regs) for each in functions), default=0),
                "local_bytes": max((int(each.local_size_bytes) for each in functions), default=0),
                "shared_bytes": max((int(each.shared_size_bytes) for each in functions), default=0),
                "occupancy": None if occupancy is None else asdict(occupancy),
                "ran": [
                    asdict(each) for each in ran_of(program, plan_steps(rung, job, self._device))
                ],
            }

    def launch(
        self,
        rung: Rung,
        job: Job,
        rows: tuple[int, int] | None,
        block: NDArray[np.uint8],
        places: Mapping[str, Place],
        cache: Cache,
        enter: Callable[[Phase], None],
    ) -> float:
        """Bring `block` to the device, run the kernel, wait for all of the device, fetch `block`.

        rows  (first, end) to write; None: all
        Says when it enters "launching" and "fetching"; returns the kernel's time in milliseconds.
        """
        with self._using("making room for the picture"):
            memory = self._memory.get(block.nbytes)
            memory.set(block, stream=self._stream)
        arrays = {name: memory[first:end] for name, (first, end) in places.items()}
        source, target = (self._samples(arrays.pop(name), job) for name in ("source", "target"))
        with self._using("running"):
            program = self._programs.get(rung, job)
            launch = prepare_launch(
                self._cp, self._programs, program, job, self._device, source, target, rows, arrays
            )
            go = launch.ready()
            self._stream.synchronize()
            enter("launching")
            ms = self._timer.sample_ms(go, cache)
            # All of the device: what ran on another stream would be done, and seen, by then.
            self._cp.cuda.runtime.deviceSynchronize()
            enter("fetching")
            memory.get(stream=self._stream, out=block)
            self._stream.synchronize()
        return ms

    def host_memory(self, size: int) -> NDArray[np.uint8]:
        """Allocate memory of this computer; a little is locked, to be copied at the bus's speed."""
        if size > MAX_LOCKED:
            return np.empty(size, np.uint8)
        self._cp.get_default_pinned_memory_pool().free_all_blocks()  # what was dropped before
        try:
            return np.frombuffer(self._cp.cuda.alloc_pinned_memory(size), np.uint8, size)
        except self._cp.cuda.runtime.CUDARuntimeError:  # a limit of the system's
            return np.empty(size, np.uint8)

    def held_bytes(self) -> int:
        """The memory of its arrays; CUDA's context takes some hundred MB besides."""
        return int(self._cp.get_default_memory_pool().total_bytes())

    @property
    def _device(self) -> Device:
        assert isinstance(self.facts, Device)
        return self.facts

    def _samples(self, array: Any, job: Job) -> Any:
        return array.view(job.picture.dtype).reshape(job.height, -1)

    @contextmanager
    def _using(self, doing: str) -> Iterator[None]:
        with cuda_errors_in_words(doing), self._cp.cuda.Device(self._device.index), self._stream:
            yield
