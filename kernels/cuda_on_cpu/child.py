"""The process that runs other people's kernels: each in a fork of it, which may die of it.

It reads requests, as (length, pickle), from its standard input, and writes a line of JSON for each:
what the run said of itself, and how it ended.  It ends with its parent.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import pickle
import resource
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.job import Job
from kernels.cuda_on_cpu.building import runtime_of
from kernels.cuda_on_cpu.checked import CheckedShim
from kernels.cuda_on_cpu.confinement import NoConfinementError, confine
from kernels.cuda_on_cpu.counting import CountingShim
from kernels.cuda_on_cpu.device_code import key_of, knobs_of
from kernels.cuda_on_cpu.elf import variables_of
from kernels.cuda_on_cpu.run_counts import counted
from kernels.cuda_on_cpu.shared_run import LENGTH, MAX_MEMORY, Request, SharedRun
from kernels.cuda_on_cpu.shim import LaunchError, Order, Shim, TriedShim, load_transforms
from kernels.cuda_on_cpu.stepped import TRACE_BYTES, SteppedShim

LOOK_S = 0.004  # between two looks at whether a run has ended
PATIENCE = 2  # times the CPU time that a run may take: then it ends, however it waits
KILLING_S = 0.5  # later it is killed, where it does not end by itself
MAX_SAID = 64 << 20  # bytes that it may say
PR_SET_PDEATHSIG = 1


def main(memory: int) -> None:
    """Run what is asked for until nobody is left to ask; who asks shares `memory` with runs."""
    replies = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a kernel prints is not ours
    _say(replies, {"ready": True})
    while (request := _next()) is not None:
        if isinstance(request, Request):
            _serve(request, memory, replies)


def _serve(request: Request, memory: int, replies: int) -> None:
    """Run it, and say in one line what it said and how it ended."""
    us, word = os.getpid(), os.urandom(16).hex().encode()
    hearing, telling = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(hearing)
        os.close(replies)  # whatever it writes, it speaks for itself alone,
        os.dup2(1, 0)  # and what is asked for next is not for it
        try:
            _die_with(us)
            _run(request, memory, telling, word)
        except Exception:  # noqa: BLE001 - a bug of ours, not to be taken for the kernel's
            _say(telling, {"bug": traceback.format_exc()}, word)
        finally:
            os._exit(2)
    os.close(telling)
    said, code, is_late = _ending(process, hearing, PATIENCE * request.seconds + KILLING_S)
    os.close(hearing)
    _say(replies, {**_understood(said, word), "ended": code, "late": is_late})


def _ending(process: int, hearing: int, patience_s: float) -> tuple[bytes, int, bool]:
    """Wait for a run's end, or bring it about.

    Return what it said, its exit code, and whether it was killed as its time was over.
    """
    said, from_where, until = b"", [0, hearing], time.monotonic() + patience_s
    ended = status = 0
    is_late = False
    while True:
        if not ended:
            ended, status = os.waitpid(process, os.WNOHANG)
        ready, _, _ = select.select(from_where, [], [], 0 if ended else LOOK_S)
        if hearing in ready:
            part = os.read(hearing, 1 << 16)
            said += part
            if not part:
                from_where.remove(hearing)
        elif ended:
            return said, os.waitstatus_to_exitcode(status), is_late
        is_late = is_late or (not ended and time.monotonic() > until)
        is_too_much = is_late or len(said) > MAX_SAID
        if not ended and (is_too_much or (0 in ready and not isinstance(_next(), Request))):
            os.kill(process, signal.SIGKILL)
            until = float("inf")


def _understood(said: bytes, word: bytes) -> dict[str, Any]:
    """Parse the reply of a run, which begins with `word`: else a kernel wrote there.

    It decides nothing: whether the answer is right, who asked for it sees by itself.
    """
    try:
        found = json.loads(said.removeprefix(word)) if said.startswith(word) else {}
    except (ValueError, RecursionError):  # it was ended in the midst, or a kernel wrote there, too
        return {}
    return found if isinstance(found, dict) else {}


def _next() -> Any:
    """Return what the parent asks for next; anything else ends a run; None: the parent is gone."""
    head = _read(LENGTH.size)
    if head is None:
        sys.exit()
    body = _read(LENGTH.unpack(head)[0])
    return None if body is None else pickle.loads(body)


def _read(size: int) -> bytes | None:
    found = b""
    while len(found) < size:
        part = os.read(0, size - len(found))
        if not part:
            return None
        found += part
    return found


def _say(to: int, words: dict[str, Any], before: bytes = b"") -> None:
    os.write(to, before + json.dumps(words).encode() + b"\n")


# ---- In the fork. -------------------------------------------------------------------------------


def _die_with(parent: int) -> None:
    """Have the system end this process when its parent ends, or end it now if that is too late."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(2)


def _run(request: Request, memory: int, telling: int, word: bytes) -> None:
    # Both timers end it, with a report where there can be one: of the clock from now on, asleep or
    # not, and in `_limit` that of the CPU's time.
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * request.seconds)
    job = request.job(np.zeros(request.shape, request.blank.picture.dtype))
    trace_bytes = TRACE_BYTES if request.at else 0
    at_begin = request.at_page_begin
    shared = SharedRun(memory, job, is_new=False, at_page_begin=at_begin, trace_bytes=trace_bytes)
    samples = job.width * job.channels
    job = request.job(np.ascontiguousarray(shared.source[:, :samples]).reshape(request.shape))
    shim = request.shim(request.rung, [job], None, built=request.library)
    if isinstance(shim, CheckedShim):
        shim.shared, shim.row_bytes = shared, samples * job.picture.itemsize
        shim.variables = variables_of(Path(request.library))
    if any(each.library for each in request.rung.passes):
        load_transforms()  # before there are no files any more
    if isinstance(shim, CountingShim):
        import numpy.ma  # noqa: F401 - which np.unique imports
    if isinstance(shim, TriedShim) and request.is_guarded:  # others look at each access, or go on
        shared.guard()
    said: dict[str, Any] = {}
    _limit(request.seconds)
    runtime = _runtime(request.library)
    try:
        runtime.hand_over(os.open(request.library, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        confine(is_needed=not request.is_unconfined)
        library = shim.library
        runtime.end_hand_over()
        begin = _begin_of(library[f"static_shared_bytes_{key_of(knobs_of(request.rung, job))}"])
        if isinstance(shim, CountingShim):
            traces = shim.watch_into(job, shared.source, shared.target)
            said["counts"] = counted(shim, traces, begin)
        elif isinstance(shim, SteppedShim):
            assert request.at is not None
            library.report_to(ctypes.c_void_p(shared.address))
            shim.step_through(job, shared, request.at)
        else:
            library.report_to(ctypes.c_void_p(shared.address))
            if request.is_repeated:
                said["changes"] = _repeated(shim, job, shared, request)
            else:
                _launch(shim, job, shared, request, Order(request.order))
        said["done"] = True
    except (LaunchError, NoConfinementError, OSError) as error:
        said["refused"], said["line"] = str(error), getattr(error, "line", None)
    except MemoryError:
        said["refused"] = (
            f"The run needs more than the {MAX_MEMORY >> 30} GiB of memory it may have."
        )
    said["arrays"] = getattr(shim, "names", [])
    said["printed"] = _printed(runtime)
    _say(telling, said, word)
    os._exit(0)


def _launch(shim: Shim, job: Job, shared: SharedRun, request: Request, order: Order) -> None:
    how: dict[str, Any] = {"seed": request.seed + order, "cross": request.cross}
    shim.run_into(job, shared.source, shared.target, order, request.rows, **how)


def _repeated(shim: Shim, job: Job, shared: SharedRun, request: Request) -> int:
    """Launch it on another picture, then twice on its own; return in how many bytes those differ.

    The answer is poisoned before each, and each has an order of its own.
    """
    own = shared.source[:, : job.width * job.channels]
    picture, poison = own.copy(), shared.target.copy()
    own[...] = ~picture if picture.dtype.kind == "u" else 1 - picture
    _launch(shim, job, shared, request, Order.FORWARD)
    own[...] = picture
    answers = []
    for order in (Order.SHUFFLED, Order.REVERSE):
        shared.target[...] = poison
        _launch(shim, job, shared, request, order)
        answers.append(shared.target.view(np.uint8).copy())
    return int((answers[0] != answers[1]).sum())


def _runtime(library: str) -> ctypes.CDLL:
    """Load what a library was linked with, so that it takes no other file and binds nothing."""
    loaded = [ctypes.CDLL(str(each)) for each in reversed(runtime_of(Path(library)))]
    return loaded[0]


class _Found(ctypes.Structure):
    """The layout of Dl_info."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("begin", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _begin_of(function: Any) -> int:
    """Address at which the library of a function was loaded."""
    found = _Found()
    inside = ctypes.cast(function, ctypes.c_void_p)
    ctypes.CDLL(None).dladdr(inside, ctypes.byref(found))
    return int(found.begin or 0)


def _printed(runtime: ctypes.CDLL) -> str:
    take = runtime.take_printed
    take.restype = ctypes.c_char_p
    return bytes(take()).decode("utf-8", "replace")


def _limit(seconds: float) -> None:
    """Take away what no kernel needs: more memory, larger files, more time than anybody waits."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    size = int(pages) * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_AS, size + MAX_MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, math.ceil(PATIENCE * seconds)),
        (resource.RLIMIT_FSIZE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]))
