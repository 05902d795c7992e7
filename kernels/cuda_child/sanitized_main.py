"""The process that compute-sanitizer watches: it runs one kernel once, and ends.

Every array is an allocation of its own, so that an access beside it is noticed.
"""

from __future__ import annotations

import json
import os
import pickle
import stat
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.device import Device
from kernels.core.device_turns import Turns, note_process, purpose
from kernels.core.errors import (
    CannotRunError,
    CompileFailedError,
    KernelError,
    cuda_errors_in_words,
)
from kernels.core.job import Job
from kernels.cuda.launch import Programs, plan_steps, prepare_launch, ran_of
from kernels.cuda.nvrtc import LINES
from kernels.cuda.probing import probe
from kernels.cuda_child.device_layout import layout_of, packed
from kernels.rungs.rung import Rung

MAX_S = 300.0  # longer than it is waited for
# Files of the folder; WAITING: all is ready for the kernel's turn on the device.
ASKED, SAID, ANSWER, WAITING = "asked.pickle", "said.json", "answer.npy", "waiting"


@dataclass(frozen=True, slots=True)
class ToSanitize:
    """A kernel to run once.

    index      of the GPU
    is_filled  fill what it writes with poison before; else none of it was ever written
    """

    rung: Rung
    job: Job
    index: int
    is_filled: bool


def main(folder: str) -> None:
    """Run what the folder's request asks for; leave there what came of it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # What a kernel prints is not to be taken for what compute-sanitizer does.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    place = Path(folder)
    asked = pickle.loads((place / ASKED).read_bytes())
    said: dict[str, Any] = {}
    note_process()
    try:
        with purpose("the search for a bug"):
            _run(asked, place, said)
    except KernelError as error:
        said |= {
            "error": type(error).__name__,
            "sentence": str(error),
            "log": error.log if isinstance(error, CompileFailedError) else "",
            "status": str(error.__cause__ or "").partition(":")[0],
        }
    except Exception:  # noqa: BLE001 - whoever asked raises it
        said["bug"] = traceback.format_exc()
    say(place, said)  # and it ends as programs do, so that compute-sanitizer can report


def say(folder: Path, said: dict[str, Any]) -> None:
    """Write it down, whole or not at all."""
    beside = folder / f"{SAID}.new"
    beside.write_text(json.dumps(said), encoding="utf-8")
    beside.replace(folder / SAID)


def _end_with_parent() -> None:
    """End at once when who asked has ended, or wants no more, whatever the GPU does.

    Where compute-sanitizer does not pass on standard input it ends after a while all the same.
    """
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        while os.read(0, 1):
            pass
    else:
        time.sleep(MAX_S)
    os._exit(1)


def _run(asked: ToSanitize, folder: Path, said: dict[str, Any]) -> None:
    """Run it; add to `said` what is known as soon as it is."""
    rung, job = asked.rung, asked.job
    device = probe(asked.index)
    if not isinstance(device, Device):
        raise CannotRunError(device.reason)
    import cupy as cp

    with cuda_errors_in_words(f"running {rung.title}"):
        cp.cuda.Device(asked.index).use()
        cp.cuda.set_allocator(None)  # so that each array is one of CUDA's
        programs = Programs(cp, LINES)
        program = programs.get(rung, job)
        layout = layout_of(rung, job, device)
        block = np.empty(layout.size, np.uint8)
        layout.fill(block, job, 0)
        arrays = {}
        for name, (begin, end) in layout.places.items():
            arrays[name] = cp.empty(end - begin, np.uint8)
            if asked.is_filled or name == "source":
                arrays[name].set(block[begin:end])
        shared = (each.shared_bytes or 0 for each in ran_of(program, plan_steps(rung, job, device)))
        said["arrays"] = {name: (int(each.data.ptr), each.nbytes) for name, each in arrays.items()}
        said["shared_bytes"] = max(shared, default=0)
        source, target = (
            arrays.pop(name).view(job.picture.dtype).reshape(layout.shape)
            for name in ("source", "target")
        )
        launch = prepare_launch(cp, programs, program, job, device, source, target, None, arrays)
        go = launch.ready()
        cp.cuda.runtime.deviceSynchronize()
        (folder / WAITING).touch()
        with Turns([device]).held():
            say(folder, said)  # from now on the kernel may do anything
            go()
            cp.cuda.runtime.deviceSynchronize()
        if asked.is_filled:
            np.save(folder / ANSWER, packed(target.get(), job))
            bits = f"u{job.picture.itemsize}"
            after = packed(source.get(), job)
            said["changed"] = not np.array_equal(after.view(bits), job.picture.view(bits))
