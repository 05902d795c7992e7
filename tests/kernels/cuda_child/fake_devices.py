"""Devices that a child runs on in place of CUDA's: they do what a text names, however bad.

A text names it in a comment: "// compile: crash", "// run: hang", "// registers: 48".
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import stat
import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import count

import numpy as np

from kernels.core.device import Occupancy
from kernels.core.errors import (
    CompileFailedError,
    DeviceLostError,
    LaunchRefusedError,
    OutOfMemoryError,
)
from kernels.core.job import Ran
from kernels.cuda_on_cpu.shared_run import layout_of
from kernels.oracle.reference import filtered, to_pixel_type
from tests.made_up import H200

LOG = 'mine.cu(8): error: identifier "heigth" is undefined\n'
SAID_BY_ASSERT = "mine.cu:8: void convolve(): block: [1,0,0], thread: [8,3,0] Assertion `x < 40` "


def fake(index):
    return FakeDevice()


def with_a_display(index):
    device = FakeDevice()
    device.facts = replace(H200, watchdog=True)
    return device


def that_is_not_there(index):
    device = FakeDevice()
    device.facts = None
    raise DeviceLostError("There is no GPU today.")


def with_a_bug(index):
    raise ZeroDivisionError("ours")


def that_crashes(index):
    crash()


def crash():
    ctypes.string_at(0)


def hang():
    while True:
        time.sleep(0.01)


def be_slow():
    time.sleep(0.1)


def take_memory():
    kept = []
    while True:
        kept.append(np.ones(1 << 24, np.uint8))
        time.sleep(0.001)


def _is_pipe_to_write(number):
    try:
        is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
    except OSError:
        return False
    return is_pipe and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY


def lost(name):
    error = DeviceLostError("The GPU failed.")
    error.__cause__ = RuntimeError(f"{name}: in the words of CUDA")
    raise error


# What a kernel does, by its name in the text: how it ends, or a byte that it changes besides.
ENDS = {
    "hang": hang,
    "crash": crash,
    "leave": lambda: os._exit(0),
    "be_killed": lambda: os.kill(os.getpid(), 9),
    "memory": take_memory,
    "illegal": lambda: lost("cudaErrorIllegalAddress"),
    "stack": lambda: lost("cudaErrorHardwareStackError"),
    "some_failure": lambda: lost("cudaErrorUnheardOf"),
}
CHANGES = {
    "behind_the_answer": lambda one: (one.block, one.end + 3),
    "before_the_answer": lambda one: (one.block, one.begin - 64),
    "to_the_picture": lambda one: (one.block, one.layout.places["source"][0]),
    "between_rows": lambda one: (one.layout.array(one.block, "target", one.job), (3, -1)),
}


class FakeDevice:
    facts = H200

    def __init__(self):
        self._modules = {}  # what each program counts, and keeps, from launch to launch

    def held_bytes(self):
        return 1 << 20

    def host_memory(self, size):
        return np.empty(size, np.uint8)

    def compile(self, rung, job):
        doing = _named("compile", rung)
        if doing == "error":
            raise CompileFailedError.from_log(
                "A kernel did not compile", LOG.replace("mine.cu", rung.file)
            )
        if doing:
            {"crash": crash, "hang": hang, "memory": take_memory, "slow": be_slow}[doing]()
        registers = int(_named("registers", rung) or 40)
        facts = {"registers": registers, "local_bytes": 0, "shared_bytes": 0}
        x, y = job.block_xy
        occupancy = asdict(Occupancy(2, x * y // 16, 64, f"Registers: those of {x}×{y} threads."))
        grid = -(-job.width * job.channels // x), -(-job.height // y)
        launch = Ran("mine.cu.convolve", None, grid, job.block_xy, registers, 0)
        return {"compile_ms": 1.0, **facts, "occupancy": occupancy, "ran": [asdict(launch)]}

    def launch(self, rung, job, rows, block, places, cache, enter):
        enter("launching")
        key = rung.source, job.picture.dtype
        launches, kept = self._modules.setdefault(key, (count(), {}))
        layout = layout_of(rung, job, self.facts)
        launch = _Launch(job, rows, block, layout, next(launches), kept)
        doing = _named("run", rung) or "good"
        if doing in CHANGES:
            launch.good()
            memory, at = CHANGES[doing](launch)
            memory[at] ^= 1
            ms = None
        else:
            ms = (ENDS.get(doing) or getattr(launch, doing))()
        enter("fetching")
        if _named("fetch", rung) == "slow":
            time.sleep(0.4)
        return 0.1 if ms is None else ms


class _Launch:
    """One launch; each method is a kernel."""

    def __init__(self, job, rows, block, layout, number, kept):
        self.is_some_rows = rows is not None
        self.rows = slice(*rows) if rows else slice(None)
        self.job, self.block, self.layout, self.number, self.kept = job, block, layout, number, kept
        self.samples = layout.array(block, "target", job)[:, : job.width * job.channels]
        self.target = self.samples[self.rows]
        self.begin, self.end = layout.places["target"]

    def right(self):
        right = to_pixel_type(filtered(self.job), self.job.picture.dtype)
        return right.reshape(self.samples.shape)[self.rows]

    def good(self):
        self.target[:] = self.right()

    def is_whole(self):
        return self.job.height > 64

    # ---- What ends it. --------------------------------------------------------------------------

    def garble(self):
        """Write to the pipe of replies, as a library may that has found it."""
        pipes = (each for each in range(3, 64) if _is_pipe_to_write(each))
        os.write(next(pipes), b"no reply\n")

    def hang_on_the_whole(self):
        self.good()
        if self.is_whole():
            hang()

    def hang_when_timed(self):
        self.good()
        if self.number > 4:
            hang()

    def out_of_memory(self):
        raise OutOfMemoryError("The GPU ran out of memory while running; use a smaller picture.")

    def refused(self):
        raise LaunchRefusedError("The GPU refused while running.")

    def misaligned_and_told_late(self):
        time.sleep(0.6)
        lost("cudaErrorMisalignedAddress")

    def ends_late(self):
        self.good()
        time.sleep(0.6)
        return 600.0

    def assertion(self):
        os.write(2, (SAID_BY_ASSERT + "failed.\n").encode())
        lost("cudaErrorAssert")

    def bug(self):
        raise ZeroDivisionError("ours")

    # ---- What it writes where it may not, or does not where it has to. --------------------------

    def when_timed_behind_the_answer(self):
        self.good()
        if self.number > 5:
            self.block[self.end] ^= 1

    def in_the_last_chunk_of_a_row(self):
        self.good()
        if self.job.width % 16:
            self.layout.array(self.block, "target", self.job)[3, self.job.width] ^= 1

    def nothing(self):
        pass

    def half(self):
        self.target[:, ::2] = self.right()[:, ::2]

    def all_rows(self):
        """Write all of them, whichever are asked for."""
        self.rows = slice(None)
        self.samples[:] = self.right()

    def rows_moved(self):
        """Write the rows that are asked for, but what belongs to the first ones."""
        asked, self.rows = self.rows, slice(None)
        self.target[:] = self.right()[: len(self.target)]
        self.rows = asked

    def by_chance(self):
        self.good()
        self.target[0, 0] = self.number % 256

    def wrong(self):
        self.target[:] = ~self.right() if self.target.dtype.kind == "u" else -self.right() - 1

    def nan(self):
        self.good()
        self.target[3:, :] = np.nan

    def storm(self):
        self.good()
        for stream in (1, 2):
            os.write(stream, b"thread 0 says hello\n" * 100_000)

    # ---- Cheats: right at first, or for nothing. ------------------------------------------------

    def keep_the_answer(self):
        """Work it out once for each size, and give that ever after."""
        self.target[:] = self.kept.setdefault(self.target.shape, self.right())
        return 0.001

    def keep_the_answer_for_long(self):
        """Keep it, and take so long that a second run seems too much; the strip is quick."""
        self.keep_the_answer()
        return 4_000.0 if self.is_whole() else 100.0

    def keep_and_move(self):
        """Give the answer that was kept, moved as the picture was."""
        if self.is_some_rows:
            self.good()
            return
        key = self.target.shape
        if key not in self.kept:
            self.kept[key] = self.job.picture.copy(), self.right()
        before, answer = self.kept[key]
        row = int(self.job.picture.sum(axis=(1, 2), dtype=np.int64).argmax())
        was = int(before.sum(axis=(1, 2), dtype=np.int64).argmax())
        move = row - was, 0
        self.target[:] = np.roll(answer.reshape(before.shape), move, (0, 1)).reshape(key)

    def right_at_first(self):
        """Warm-ups are noticed by their number."""
        if self.number < 5:
            self.good()
        return 0.001

    def right_in_most(self):
        if self.number != 7:
            self.good()

    def a_part_when_timed(self):
        right = self.right()
        rows = len(right) if self.number < 5 else len(right) // 2
        self.target[:rows] = right[:rows]

    def the_answer_before(self):
        """Give what is in the memory of the last run: there is only poison."""
        if self.number < 5:
            self.good()

    def looks_for_the_answer(self):
        """Copy from anywhere in the device's memory what looks like the answer."""
        right = self.right().tobytes()
        found = self.block.tobytes().find(right)
        if found < 0 and self.number >= 5:
            return 0.001
        self.good()
        return 0.1

    def slow(self):
        self.good()
        return 2_000.0

    def slow_beside_others(self):
        """Whose run on a part, and whose run on a strip, is slow the first time."""
        self.good()
        if self.is_some_rows:
            return 0.1
        shapes = self.kept.setdefault("shapes", set())
        is_first = self.job.picture.shape not in shapes
        shapes.add(self.job.picture.shape)
        return 2_000.0 if is_first and len(shapes) < 3 else 0.1

    def slow_on_the_whole(self):
        self.good()
        return 4_000.0 if self.is_whole() else 2_000.0

    def slow_for_a_display(self):
        self.good()
        return 100.0


def _named(what, rung):
    found = re.search(rf"// {what}: (\w+)", rung.source)
    return found[1] if found else ""


def written_down(index):
    return WrittenDown()


class WrittenDown(FakeDevice):
    """A device that other processes share, each launch on which is written to a file."""

    facts = replace(H200, uuid="GPU-made-up")

    def launch(self, *arguments):
        with noting("trial"):
            return super().launch(*arguments)


@contextmanager
def noting(who):
    """Write down, in a file that all processes share, who used a device from when until when."""
    begun = time.monotonic_ns()
    time.sleep(0.003)
    yield
    with open(os.environ["WRITTEN_DOWN"], "a", encoding="ascii") as file:  # noqa: PTH123
        file.write(f"{begun} {time.monotonic_ns()} {who}\n")
