"""The child that compiles and runs user kernels: each in a fork of it, which may die of it.

It replies to each request with what the fork reported, and how that ended.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.child_process import next_request, reply, take_replies
from kernels.cuda_on_cpu.children import Compilation
from kernels.cuda_on_cpu.compiler import runtime_of
from kernels.cuda_on_cpu.confinement import NoConfinementError, confine, give_up_files
from kernels.cuda_on_cpu.counting import LOOKED_AT, CountingShim, counted
from kernels.cuda_on_cpu.cpu_runs import Request
from kernels.cuda_on_cpu.device_code import key_of, knobs_of
from kernels.cuda_on_cpu.elf import LineTable, symbols_of, variables_of
from kernels.cuda_on_cpu.recording import TRACE_BYTES, SteppedShim
from kernels.cuda_on_cpu.shared_run import MAX_MEMORY, SharedRun
from kernels.cuda_on_cpu.shim import CheckedShim, LaunchError, Order, TriedShim, load_transforms

PATIENCE = 2  # times the CPU time that a run may take: then it ends, however it waits
KILLING_S = 0.5  # later it is killed, where it does not end by itself
MAX_REPORT = 64 << 20  # bytes that a fork may report
MAX_WORDS = 1 << 20  # of a compiler that are passed on, and as many of its last ones
PR_SET_PDEATHSIG = 1


def main(memory: str) -> None:
    """Serve requests; `memory` is the descriptor of what runs share with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when something is to end
    replies = take_replies()
    os.set_inheritable(int(memory), False)  # no compiler gets it
    reply(replies, {"ready": True})
    while (request := next_request()) is not None:
        if isinstance(request, Compilation):
            reply(replies, _compiled(request, replies))
        elif isinstance(request, Request):
            reply(replies, _ran(request, int(memory), replies))


def _compiled(order: Compilation, replies: int) -> dict[str, Any]:
    try:
        said, code, is_late = _forked(partial(_become, order), replies, order.seconds)
    except SystemExit:  # nobody else would
        shutil.rmtree(order.folder, ignore_errors=True)
        raise
    words = said[:MAX_WORDS] + said[max(len(said) - MAX_WORDS, MAX_WORDS) :]
    return {"ended": code, "late": is_late, "said": words.decode("utf-8", "replace")}


def _ran(request: Request, memory: int, replies: int) -> dict[str, Any]:
    """Run a kernel; reply with what it reported, its exit code, and whether it was killed."""
    word = os.urandom(16).hex().encode()

    def run(telling: int) -> None:
        try:
            _Run(request, memory).run(telling, word)
        except Exception:  # noqa: BLE001 - a bug of ours, not to be taken for the kernel's
            reply(telling, {"bug": traceback.format_exc()}, word)

    said, code, is_late = _forked(run, replies, PATIENCE * request.seconds + KILLING_S)
    try:
        # The report begins with `word`: else a kernel wrote there.  It decides nothing: the parent
        # looks itself at whether the output is right.
        found = json.loads(said.removeprefix(word)) if said.startswith(word) else {}
    except (ValueError, RecursionError):  # it was ended in the midst, or a kernel wrote there, too
        found = {}
    known = found if isinstance(found, dict) else {}
    return {**known, "ended": code, "late": is_late}


def _forked(
    work: Callable[[int], None], replies: int, patience_s: float
) -> tuple[bytes, int, bool]:
    """Do `work` in a fork, which is given the pipe to report to; end it, and all it has started.

    Return its report, its exit code, and whether it was killed as its time was over.
    """
    us = os.getpid()
    hearing, telling = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(hearing)
            os.close(replies)  # whatever it writes, it speaks for itself alone,
            os.dup2(1, 0)  # and what is requested next is not for it
            os.setpgid(0, 0)
            # The system ends this process when its parent ends, or has ended by now.
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == us:
                work(telling)
        finally:
            os._exit(2)
    os.close(telling)
    with suppress(OSError):  # it did so itself
        os.setpgid(process, process)
    said, until = b"", time.monotonic() + patience_s
    is_late = is_cancelled = False
    while not is_late and not is_cancelled and len(said) <= MAX_REPORT:
        left_s = until - time.monotonic()
        ready, _, _ = select.select([0, hearing], [], [], max(left_s, 0))
        if 0 in ready:  # what comes meanwhile ends it
            is_cancelled = True
        elif left_s < 0:
            is_late = True
        elif hearing in ready:
            if not (part := os.read(hearing, 1 << 16)):
                break  # it has ended, or says nothing more
            said += part
    os.close(hearing)
    os.killpg(process, signal.SIGKILL)  # with whatever it has started
    _, status = os.waitpid(process, 0)
    if is_cancelled and next_request() is None:
        sys.exit()
    return said, os.waitstatus_to_exitcode(status), is_late


# ---- In the fork. -------------------------------------------------------------------------------


def _become(order: Compilation, telling: int) -> None:
    try:
        os.dup2(telling, 2)
        for each in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python does not listen to
            signal.signal(each, signal.SIG_DFL)
        for kind, most in order.limits:
            resource.setrlimit(kind, (most, most))
        os.chdir(order.folder)
        os.environ.update(LC_ALL="C", TMPDIR=order.folder, CCACHE_DISABLE="1")
        if order.readable:
            give_up_files([*order.readable, os.devnull], [order.folder, os.devnull])
        os.execvp(order.words[0], order.words)
    except OSError as error:
        os.write(2, f"{order.words[0]}: {error}".encode())


class _Run:
    """One run, prepared while files can still be opened."""

    def __init__(self, request: Request, memory: int) -> None:
        # Both timers end it, with a report where there can be one: of the clock from now on, asleep
        # or not, and in `_limit` that of the CPU's time.
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * request.seconds)
        self.request = request
        picture = np.zeros(request.shape, request.blank.picture.dtype)  # only its shape counts
        self.job = replace(request.blank, picture=picture)
        self.shared = shared = SharedRun(
            *(memory, self.job),
            is_new=False,
            at_page_begin=request.at_page_begin,
            trace_bytes=TRACE_BYTES if request.at else 0,
        )
        self.shim = request.shim(request.rung, request.library)
        self.key = key_of(knobs_of(request.rung, self.job))  # which imports what it takes
        if isinstance(self.shim, CheckedShim):
            self.shim.shared, self.shim.row_bytes = shared, picture[0].nbytes
            self.shim.variables = variables_of(Path(request.library))
        if any(each.library for each in request.rung.passes):
            load_transforms()
        if isinstance(self.shim, CountingShim):
            import numpy.ma  # noqa: F401 - which np.unique imports

            self.lines = LineTable(Path(request.library))
            self.places = {each.name: each.begin for each in symbols_of(Path(request.library))}
        if isinstance(self.shim, TriedShim) and request.is_guarded:  # others look at each access
            shared.guard()

    def run(self, telling: int, word: bytes) -> None:
        """Run it, report, and end this process."""
        request, said = self.request, dict[str, Any]()
        _limit(request.seconds)
        # What the library was linked with comes first, so that it takes no other file.
        linked = reversed(runtime_of(Path(request.library)))
        runtime, *_ = [ctypes.CDLL(str(each)) for each in linked]
        runtime.take_printed.restype = ctypes.c_char_p
        try:
            runtime.hand_over(os.open(request.library, os.O_RDONLY))
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
            confine(is_needed=not request.is_unconfined)
            library = self.shim.library
            runtime.end_hand_over()
            said |= {**self._launched(library), "done": True}
        except (LaunchError, NoConfinementError, OSError) as error:
            said["refused"], said["line"] = str(error), getattr(error, "line", None)
        except MemoryError:
            said["refused"] = (
                f"The run needs more than the {MAX_MEMORY >> 30} GiB of memory it may have."
            )
        said["arrays"] = getattr(self.shim, "names", [])
        said["printed"] = bytes(runtime.take_printed()).decode("utf-8", "replace")
        reply(telling, said, word)
        os._exit(0)

    def _launched(self, library: ctypes.CDLL) -> dict[str, Any]:
        shim, shared, request = self.shim, self.shared, self.request
        if isinstance(shim, CountingShim):
            name = f"static_shared_bytes_{self.key}"
            begin = (ctypes.cast(library[name], ctypes.c_void_p).value or 0) - self.places[name]
            shim.room = LOOKED_AT
            shim.run_into(self.job, shared.source, shared.target, Order.FORWARD)
            return {"counts": counted(shim, begin, self.lines)}
        library.report_to(ctypes.c_void_p(shared.address))
        if isinstance(shim, SteppedShim):
            assert request.at is not None
            shim.step_through(self.job, shared, request.at, is_sought=request.is_sought)
        elif request.is_repeated:
            return {"changes": self._repeated()}
        else:
            self._launch(Order(request.order))
        return {}

    def _launch(self, order: Order) -> None:
        arrays = self.shared.source, self.shared.target
        self.shim.run_into(self.job, *arrays, order, self.request.rows, self.request.cross)

    def _repeated(self) -> int:
        """Launch it on another picture, then twice on its own; count differing bytes.

        The output is poisoned before each, and each has an order of its own.
        """
        source, target = self.shared.source, self.shared.target
        own = source[:, : self.job.width * self.job.channels]
        picture, poison = own.copy(), target.copy()
        own[...] = ~picture if picture.dtype.kind == "u" else 1 - picture
        self._launch(Order.FORWARD)
        own[...] = picture
        answers = []
        for order in (Order.SHUFFLED, Order.REVERSE):
            target[...] = poison
            self._launch(order)
            answers.append(target.view(np.uint8).copy())
        return int((answers[0] != answers[1]).sum())


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
