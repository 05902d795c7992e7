"""A CuPy of several made-up GPUs: streams with clocks of their own, which wait for each other.

What is queued is done only when somebody waits for it, and then as unfortunately as streams allow:
of those that could go on, the one that `order` has first does, as far as it can.  Where there are
several of one GPU, all take turns.
"""

from __future__ import annotations

import ctypes
from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import RLock, local
from types import SimpleNamespace

import numpy as np

from kernels.core.errors import LaunchRefusedError
from kernels.cuda.device_pictures import DevicePictures
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.rungs.headers import pitch_of
from tests.kernels.on_cpu import POISON, in_rows
from tests.made_up import H200

COPY_MS, EVICT_MS, HOLD_MS = 0.5, 0.25, 1.0


class OnDevice(np.ndarray):
    """An array on a made-up GPU."""

    cuda = None

    def __array_finalize__(self, parent):
        self.cuda = getattr(parent, "cuda", None)

    @property
    def data(self):
        return Memory(self.cuda, self.ctypes.data)


class Memory:
    """An address on a made-up GPU."""

    def __init__(self, cuda, ptr):
        self._cuda, self.ptr = cuda, ptr

    def __add__(self, count):
        return Memory(self._cuda, self.ptr + count)

    def __sub__(self, count):
        return self + -count

    def copy_from_host_async(self, host, count, stream):
        stream.put(lambda: ctypes.memmove(self.ptr, host, count), COPY_MS)

    def copy_to_host_async(self, host, count, stream):
        stream.put(lambda: ctypes.memmove(host, self.ptr, count), COPY_MS)


class Event:
    """Remembers when its stream came by."""

    def __init__(self, cuda):
        self._cuda, self.at_ms, self.stream = cuda, None, None

    def record(self, stream=None):
        stream = stream or self._cuda.current
        assert self.stream in (None, stream), "an event belongs to one device"
        self.at_ms, self.stream = None, stream

        def pass_by():
            self.at_ms = stream.now_ms

        stream.put(pass_by, 0.0)

    def synchronize(self):
        self._cuda.run(lambda: self.at_ms is not None)


class Stream:
    """What is queued on one GPU, and its clock."""

    def __init__(self, cuda, device):
        self._cuda, self.device, self.now_ms = cuda, device, 0.0
        self.queue, self.ptr = deque(), 1000 + device

    def __enter__(self):
        self._on = self._cuda.on(self)
        self._on.__enter__()

    def __exit__(self, *error):
        self._on.__exit__(*error)

    def put(self, do, ms):
        with self._cuda.lock:
            self.queue.append((None, do, ms))

    def record(self):
        event = Event(self._cuda)
        event.record(self)
        return event

    def wait_event(self, event):
        with self._cuda.lock:
            self.queue.append((event, lambda: None, 0.0))

    def synchronize(self):
        self._cuda.run(lambda: not self.queue)

    def step(self) -> bool:
        """Do what is next, unless there is nothing or it has to wait."""
        if not self.queue:
            return False
        event, do, ms = self.queue[0]
        if event is not None:
            if event.at_ms is None:
                return False
            self.now_ms = max(self.now_ms, event.at_ms)
        self.queue.popleft()
        do()
        self.now_ms += ms
        return True


class MadeUpCuda:
    """Plays CuPy for `count` GPUs.

    order   the GPUs, those that go on first in front
    peers   whether one may reach into another's memory
    opened  (taker, giver) of the ways that were opened
    """

    def __init__(self, count, order=None, *, peers=True):
        self.lock, self._current = RLock(), local()
        self.streams = [Stream(self, device) for device in range(count)]
        self._order = [self.streams[device] for device in order or range(count)]
        self._peers, self._memory, self.opened, self.copies = peers, [], set(), []
        self.cuda = SimpleNamespace(
            Event=lambda: Event(self),
            Stream=lambda non_blocking: self._beside(),
            alloc_pinned_memory=partial(np.empty, dtype=np.uint8),
            get_elapsed_time=self._elapsed,
            runtime=SimpleNamespace(
                deviceCanAccessPeer=lambda taker, giver: peers,
                deviceEnablePeerAccess=self._open,
                memcpyPeerAsync=self._copy,
            ),
        )

    @property
    def current(self) -> Stream:
        return self._current.stream

    @contextmanager
    def on(self, stream):
        before = getattr(self._current, "stream", None)
        self._current.stream = stream
        try:
            yield
        finally:
            self._current.stream = before

    def run(self, is_enough):
        """Have the streams go on until it is enough."""
        with self.lock:
            while not is_enough():
                assert any(stream.step() for stream in self._order), "all wait, in vain"
                if len(self._order) > len(self.streams):
                    self._order.append(self._order.pop(0))

    def empty(self, shape, dtype):
        made = np.full(np.prod(shape) * np.dtype(dtype).itemsize, POISON, np.uint8)
        made = made.view(dtype).reshape(shape).view(OnDevice)
        made.cuda = self
        self._memory.append((self.current.device, made))
        return made

    def ndarray(self, shape, dtype, start):
        """The array that begins there, of which not all need be there."""
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        made = np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(start.ptr))
        made = made.view(dtype).reshape(shape).view(OnDevice)
        made.cuda = self
        return made

    def ascontiguousarray(self, array):
        packed = self.empty(array.shape, array.dtype)
        self.current.put(lambda: np.copyto(packed, array), 0.0)
        return packed

    def get_default_pinned_memory_pool(self):
        return SimpleNamespace(free_all_blocks=lambda: None)

    def _beside(self):
        made = Stream(self, self.current.device)
        self._order.append(made)
        return made

    def _elapsed(self, begun, ended):
        assert begun.stream is ended.stream, "clocks of two GPUs cannot be compared"
        return ended.at_ms - begun.at_ms

    def _open(self, giver):
        way = self.current.device, giver
        if way in self.opened:
            refused = LaunchRefusedError("The GPU refused.")
            refused.__cause__ = SimpleError(704)
            raise refused
        self.opened.add(way)

    def _copy(self, to, taker, source, giver, count, stream):
        (queued_on,) = [each for each in self.streams if each.ptr == stream]
        assert queued_on.device == taker
        assert self._is_on(taker, to, count)
        assert self._is_on(giver, source, count)
        self.copies.append((taker, giver, count))
        queued_on.put(lambda: ctypes.memmove(to, source, count), COPY_MS)

    def _is_on(self, device, start, count):
        spans = [
            (array.ctypes.data, array.nbytes) for owner, array in self._memory if owner == device
        ]
        return any(first <= start and start + count <= first + size for first, size in spans)


class SimpleError(Exception):
    """One of CUDA, with its status."""

    def __init__(self, status):
        super().__init__(str(status))
        self.status = status


class MadeUpGpu:
    """Plays `kernels.cuda.gpu.Gpu`, as far as several of them need it.

    filter_rows  (job, source, target, rows) -> None: does what a launch does
    ms           what that takes
    uuid         by which others know it
    """

    def __init__(self, cuda, index, filter_rows=None, ms=3.0, uuid=""):
        self.cp, self.stream = cuda, cuda.streams[index]
        self.device = replace(H200, index=index, count=len(cuda.streams), uuid=uuid)
        self.timer = SimpleNamespace(
            evict=lambda: cuda.current.put(lambda: None, EVICT_MS),
            hold=lambda times=1: cuda.current.put(lambda: None, times * HOLD_MS),
        )
        self.nvml = SimpleNamespace(look=lambda: None, others_since=lambda _: {})
        self.pictures = DevicePictures(cuda, self.stream, self.using, lambda make: make())
        self._filter_rows, self._ms = filter_rows or by_reference, ms
        self.launched = 0

    @contextmanager
    def using(self, doing):
        with self.cp.on(self.stream):
            yield

    def has_compiled(self, rung, job):
        return False

    def compile(self, rung, job):
        return SimpleNamespace(rung=rung, knobs=rung.defines(job)), 2.0

    def launch_on(self, program, job, source, rows, target=None):
        assert program.knobs == program.rung.defines(job), "compiled for another job"
        with self.using(""):
            target = self.pictures.empty(job.picture) if target is None else target

        def go():
            self.launched += 1
            self.cp.current.put(lambda: self._filter_rows(job, source, target, rows), self._ms)

        arrays = {"source": source, "target": target}
        return SimpleNamespace(arrays=arrays, ready=lambda: go, ran=lambda: ())


def by_reference(job, source, target, rows):
    """Write those rows of the answer that the reference gives."""
    samples = np.asarray(source)[:, : job.width * job.channels]
    picture = np.ascontiguousarray(samples.reshape(job.picture.shape))
    exact = filtered(job.but(picture=picture))
    answer = to_pixel_type(exact, picture.dtype)
    pitch = pitch_of(job.width, job.channels, picture.itemsize)
    target[slice(*rows)] = in_rows(answer, pitch)[slice(*rows)]
