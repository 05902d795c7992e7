"""The child: it owns a CUDA context of its own, and serves requests until its parent ends.

See `child_requests` for the protocol.  A kernel prints into a file.
"""

from __future__ import annotations

import ctypes
import os
import queue
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.core.child_process import next_request, reply, take_replies
from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import Turns, note_process, purpose
from kernels.core.errors import (
    CompileFailedError,
    DeviceLostError,
    KernelError,
    OutOfMemoryError,
)
from kernels.cuda_child.child_requests import Request, shared_bytes
from kernels.cuda_on_cpu.shared_run import Bytes, KeptMemory, layout_of

if TYPE_CHECKING:
    from kernels.cuda_child.cuda_device import CudaDevice

MAX_PRINTED = 64 << 10  # bytes that are passed on


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
            # Others wait for the process that sends requests, by its number.
            self._turns = Turns([facts] if isinstance(facts, Device) else [], os.getppid())
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

    @property
    def _facts(self) -> Device:
        assert isinstance(self._device.facts, Device)
        return self._device.facts

    def _allocated(self, size: int) -> Bytes:
        if size <= self._facts.memory_bytes:
            with suppress(MemoryError):
                return self._device.host_memory(size)
        raise OutOfMemoryError(
            f"It takes {size / (1 << 30):,.3g} GiB for the picture, the answer and the kernel's "
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
