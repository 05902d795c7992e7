"""The child: it owns a CUDA context of its own, and serves requests until its parent ends.

See `worker_pool` for the protocol.  A kernel prints into a file.  `CudaDevice` alone calls CUDA.
"""

from __future__ import annotations

import ctypes
import os
import queue
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from kernels.core.child_process import next_request, reply, take_replies
from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import Turns, note_process, purpose
from kernels.core.errors import (
    CompileFailedError,
    DeviceLostError,
    KernelError,
    OutOfMemoryError,
    cuda_errors_in_words,
)
from kernels.core.job import Job
from kernels.core.timing import Cache
from kernels.cuda.event_timer import EventTimer
from kernels.cuda.launch import Programs, occupancy_on, plan_steps, prepare_launch, ran_of
from kernels.cuda.probing import probe
from kernels.cuda_child.worker_pool import Request, shared_bytes
from kernels.cuda_on_cpu.shared_run import Bytes, KeptMemory, Place, layout_of
from kernels.rungs.rung import Rung

MAX_PRINTED = 64 << 10  # bytes that are passed on
MAX_LOCKED = 256 << 20  # bytes of this computer's memory that are locked at once, to be copied fast


def main(maker: str, index: str) -> None:
    """Serve on a device: `maker` is "module:function", which takes its `index`."""
    child = _Child()
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    child.start(maker, int(index))
    while True:
        child.serve(requests.get())


def _listen(requests: queue.SimpleQueue[Request]) -> None:
    """Take requests; end at once with the parent, whatever the GPU does."""
    while (request := next_request()) is not None:
        requests.put(request)
    os._exit(0)


class _Child:
    """The device, memory of this computer for its runs, and the replies."""

    def __init__(self) -> None:
        # Unbuffered: others write to it as well.
        self._printed = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - for the process's life
        self._replies = take_replies(self._printed)
        self._memory = KeptMemory(self._allocated)  # new memory would cost a fault a page

    def start(self, maker: str, index: int) -> None:
        """Make the device, and report its facts, or why there is none."""
        module, _, function = maker.partition(":")
        try:
            self._device: CudaDevice = getattr(import_module(module), function)(index)
            facts = self._device.facts
        except KernelError as error:
            facts = NoDevice(str(error))
        except Exception:  # noqa: BLE001 - the parent raises it
            self._say(bug=traceback.format_exc())
            os._exit(1)
        else:
            if isinstance(facts, Device):
                self._facts = facts
                # Others wait for the process that sends requests, by its number.
                self._turns = Turns([facts], os.getppid())
            note_process()
        self._say(ready=True, device=asdict(facts))

    def serve(self, request: Request) -> None:
        """Serve one request, and report how it ended."""
        self._printed.truncate(0)
        self._printed.seek(0)
        try:
            found = self._run(request) if request.what == "run" else self._compile(request)
            held = self._device.held_bytes()
            self._say(done=True, **found, printed=self._taken(), device_bytes=held)
        except KernelError as error:
            self._say(
                error=type(error).__name__,
                sentence=str(error),
                log=error.log if isinstance(error, CompileFailedError) else "",
                status=str(error.__cause__ or "").partition(":")[0],
                printed=self._taken(),
            )
            if isinstance(error, DeviceLostError):  # nothing works here any more
                os._exit(1)
        except Exception:  # noqa: BLE001 - the parent raises it
            self._say(bug=traceback.format_exc())

    def _compile(self, request: Request) -> dict[str, Any]:
        self._say(phase="compiling")
        job = request.job(np.zeros(request.shape, request.blank.picture.dtype))
        return self._device.compile(request.rung, job)

    def _run(self, request: Request) -> dict[str, Any]:
        """Run a kernel once, in poisoned memory; report its time, and a rule that it broke."""
        both = shared_bytes(*request.memory)[: 2 * request.picture_bytes]
        picture, answer = both.view(request.blank.picture.dtype).reshape(2, *request.shape)
        rung, job, turn, facts = request.rung, request.job(picture), request.turn, self._facts
        layout = layout_of(rung, job, facts)
        block = self._memory.get(layout.size)
        layout.fill(block, job, turn)
        arrays = block, layout.places
        with purpose(request.purpose), self._taking_turn():
            ms = self._device.launch(rung, job, request.rows, *arrays, request.cache, self._enter)
        answer.reshape(job.height, -1)[:] = layout.samples(block, "target", job)
        return {"ms": ms, "broken_rule": layout.broken_rule(block, job, turn)}

    def _allocated(self, size: int) -> Bytes:
        if size <= self._facts.memory_bytes:
            with suppress(MemoryError):
                return self._device.host_memory(size)
        raise OutOfMemoryError(
            f"It takes {size / (1 << 30):,.3g} GiB for the picture, the output and the kernel's "
            "own buffers, which there is no room for; use a smaller picture, or smaller buffers."
        )

    @contextmanager
    def _taking_turn(self) -> Iterator[None]:
        """Wait for the turn, for which no deadline holds, and have it while the block runs."""
        said: list[str] = []

        def say(words: str) -> None:
            if said[-1:] != [words]:
                said.append(words)
                self._say(phase="waiting", **{"for": words})

        with self._turns.held(say):
            if said:
                self._enter("preparing")
            yield

    def _enter(self, phase: str) -> None:
        self._say(phase=phase)

    def _taken(self) -> str:
        """Read what was printed; CUDA prints through C's own buffer."""
        with suppress(OSError, AttributeError):
            (ctypes.CDLL(None) if os.name == "posix" else ctypes.CDLL("ucrtbase")).fflush(None)
        self._printed.seek(0)
        return self._printed.read(MAX_PRINTED).decode("utf-8", "replace")

    def _say(self, **words: Any) -> None:
        reply(self._replies, words)


class CudaDevice:
    """One GPU, with a context that dies with this process; tests have fakes in its place.

    facts  of it, or why there is none
    """

    def __init__(self, index: int) -> None:
        self.facts = probe(index)
        if not isinstance(self.facts, Device):
            return
        import cupy as cp

        self._cp, self._device = cp, self.facts
        pool = cp.get_default_memory_pool()
        self._memory = KeptMemory(lambda size: cp.empty(size, np.uint8), pool.free_all_blocks)
        with cuda_errors_in_words("starting to use it"):
            cp.cuda.Device(index).use()
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
            ran = ran_of(program, plan_steps(rung, job, self._device))
            occupancy = occupancy_on(self._cp, program, job, self._device)
            return {
                "compile_ms": compile_ms,
                "registers": max((int(each.num_regs) for each in functions), default=0),
                "local_bytes": max((int(each.local_size_bytes) for each in functions), default=0),
                "shared_bytes": max((int(each.shared_size_bytes) for each in functions), default=0),
                "occupancy": None if occupancy is None else asdict(occupancy),
                "ran": [asdict(each) for each in ran],
            }

    def launch(
        self,
        rung: Rung,
        job: Job,
        rows: tuple[int, int] | None,
        block: Bytes,
        places: Mapping[str, Place],
        cache: Cache,
        enter: Callable[[str], None],
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

    def host_memory(self, size: int) -> Bytes:
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

    def _samples(self, array: Any, job: Job) -> Any:
        return array.view(job.picture.dtype).reshape(job.height, -1)

    @contextmanager
    def _using(self, doing: str) -> Iterator[None]:
        with cuda_errors_in_words(doing), self._cp.cuda.Device(self._device.index), self._stream:
            yield
