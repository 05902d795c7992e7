"""The child: it owns a CUDA context of its own, and runs what it is asked to until nobody asks.

`child_requests` says how it is spoken to.  Whatever a kernel prints goes to a file, not to us.
"""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import queue
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import numpy as np

from kernels.core.device import Device, NoDevice
from kernels.core.device_turns import Turns, note_process, purpose
from kernels.core.errors import CompileFailedError, DeviceLostError, KernelError
from kernels.cuda_child.child_requests import LENGTH, Asked, SharedMap, device_in_words
from kernels.cuda_child.guarded_run import GuardedDevice, HostMemory, guarded_run

MAX_PRINTED = 64 << 10  # bytes that are passed on


def main(maker: str, index: str) -> None:
    """Serve on a device: `maker` is "module:function", which takes its `index`."""
    child = _Child(os.dup(1))
    asked: queue.SimpleQueue[Asked] = queue.SimpleQueue()
    threading.Thread(target=_hear, args=(asked,), daemon=True).start()
    child.start(maker, int(index))
    while True:
        child.serve(asked.get())


def _hear(asked: queue.SimpleQueue[Asked]) -> None:
    """Take what is asked for; end at once when who asks has ended, whatever the GPU does."""
    stdin = sys.stdin.buffer
    while (head := stdin.read(LENGTH.size)) and len(head) == LENGTH.size:
        asked.put(pickle.loads(stdin.read(LENGTH.unpack(head)[0])))
    os._exit(0)


class _Child:
    """The device, and what is said of it to `replies`."""

    def __init__(self, replies: int) -> None:
        self._replies = replies
        # Unbuffered: others write to it as well.
        self._printed = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - for the process's life
        for stream in (1, 2):
            os.dup2(self._printed.fileno(), stream)
        self._shared = SharedMap()

    def start(self, maker: str, index: int) -> None:
        """Make the device, and say what it is, or why there is none."""
        module, _, function = maker.partition(":")
        try:
            self._device: GuardedDevice = getattr(import_module(module), function)(index)
            facts = self._device.facts
        except KernelError as error:
            facts = NoDevice(str(error))
        except Exception:  # noqa: BLE001 - whoever waits for it raises it
            self._say(bug=traceback.format_exc())
            os._exit(1)
        else:
            self._host = HostMemory(self._device)
            # Others wait for the process that asks, by its number.
            self._turns = Turns([facts] if isinstance(facts, Device) else [], os.getppid())
            note_process()
        self._say(ready=True, device=device_in_words(facts))

    def serve(self, asked: Asked) -> None:
        """Do one thing that was asked for, and say how it ended."""
        self._printed.truncate(0)
        self._printed.seek(0)
        try:
            found = self._run(asked) if asked.what == "run" else self._compile(asked)
            self._say(
                done=True, **found, printed=self._taken(), device_bytes=self._device.held_bytes()
            )
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
        except Exception:  # noqa: BLE001 - whoever asked raises it
            self._say(bug=traceback.format_exc())

    def _compile(self, asked: Asked) -> dict[str, Any]:
        self._say(phase="compiling")
        return self._device.compile(
            asked.rung, asked.job(np.zeros(asked.shape, asked.blank.picture.dtype))
        )

    def _run(self, asked: Asked) -> dict[str, Any]:
        both = self._shared.array(*asked.memory)[: 2 * asked.picture_bytes]
        picture, answer = both.view(asked.blank.picture.dtype).reshape(2, *asked.shape)
        with purpose(asked.purpose):
            return guarded_run(
                self._device,
                asked.rung,
                asked.job(picture),
                asked.rows,
                asked.turn,
                asked.cache,
                lambda phase: self._say(phase=phase),
                self._host,
                answer,
                self._taking_turn,
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
                self._say(phase="preparing")
            yield

    def _taken(self) -> str:
        """Return what was printed; CUDA prints through C's own buffer."""
        with suppress(OSError, AttributeError):
            (ctypes.CDLL(None) if os.name == "posix" else ctypes.CDLL("ucrtbase")).fflush(None)
        self._printed.seek(0)
        return self._printed.read(MAX_PRINTED).decode("utf-8", "replace")

    def _say(self, **words: Any) -> None:
        os.write(self._replies, json.dumps(words).encode() + b"\n")
