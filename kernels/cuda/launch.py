"""Compile a rung for a job, give it its weights, size its grids, launch it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Protocol

import numpy as np

from kernels.core.cache import LruCache
from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device, Occupancy
from kernels.core.errors import CannotRunError
from kernels.core.job import Job, Progress, Ran
from kernels.cuda.probing import occupancy_of
from kernels.rungs.headers import Facts
from kernels.rungs.operands import Operands
from kernels.rungs.rung import Pass, Rung

Knobs = tuple[tuple[str, str], ...]  # -D macros, name and value

MAX_GRID_Y = 65_535
STATIC_SHARED_LIMIT = 48 * 1024  # above this a kernel has to ask for it
# Where a display hangs on the GPU, a launch may take this long before it is cut in two ...
WATCHDOG_LAUNCH_S = 0.25
# ... if it manages this share of the card's multiply-adds, which the slowest rung exceeds.
WATCHDOG_EFFICIENCY = 0.01
FP32_LANES = 64  # multiply-adds a clock and multiprocessor, on the smallest card supported
# Of each: some 100 KB, as much as is transformed, up to 8 MB.
PROGRAMS_KEPT = 1000
PLANS_KEPT = 2
ARGUMENTS_KEPT = 8
GRAPH_FROM = 2  # launches: as one CUDA graph they follow one another with shorter gaps


@dataclass(frozen=True, slots=True)
class LaunchStep:
    """One launch of one pass, in numbers."""

    number: int  # of the pass in the rung
    grid: tuple[int, int] | None  # blocks; a library's pass has neither these nor
    block: tuple[int, int] | None  # threads in each
    shared_bytes: int
    rows: tuple[int, int]  # (first, end) of those it writes


def plan_steps(
    rung: Rung, job: Job, device: Device, rows: tuple[int, int] | None = None
) -> tuple[LaunchStep, ...]:
    """The launches that write `rows` of the output, or all of it, in their order.

    More than one a pass where a grid would be too tall, or too long for a display's watchdog.
    """
    facts, wanted = Facts(job, device), rows or (0, job.height)
    return tuple(
        step
        for number, each in enumerate(rung.passes)
        for step in _steps(number, each, job, facts, device, wanted)
    )


def _steps(
    number: int, each: Pass, job: Job, facts: Facts, device: Device, wanted: tuple[int, int]
) -> Iterator[LaunchStep]:
    first, last = wanted if each.writes == "picture" else (0, job.height)
    if each.library:
        yield LaunchStep(number, None, None, 0, (first, last))
        return
    across, down = (facts.value(expression) for expression in each.covers)
    if across < 1 or down < 1:
        raise CannotRunError(
            f"A block of {each.function} covers {across}×{down} samples; one is the least."
        )
    block = facts.value(each.block[0]), facts.value(each.block[1])
    shared_bytes = facts.value(each.shared_bytes)
    if each.grid:
        grid = facts.value(each.grid[0]), facts.value(each.grid[1])
        yield LaunchStep(number, grid, block, shared_bytes, (first, last))
        return
    columns, most = -(-job.width * job.channels // across), rows_per_launch(job, device, down)
    for start in range(first, last, most):
        end = min(start + most, last)
        grid = (columns, -(-(end - start) // down))
        yield LaunchStep(number, grid, block, shared_bytes, (start, end))


def rows_per_launch(job: Job, device: Device, block_rows: int) -> int:
    """The rows that one grid can hold and a display's watchdog lets pass, in whole blocks."""
    rows = MAX_GRID_Y * block_rows
    if device.watchdog:
        taps_per_s = device.multiprocessors * FP32_LANES * device.clock_khz * 1e3
        taps = WATCHDOG_LAUNCH_S * WATCHDOG_EFFICIENCY * taps_per_s
        rows = min(rows, int(taps / (job.ksize**2 * job.width * job.channels)))
    return max(rows // block_rows, 1) * block_rows


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A rung compiled for one set of knobs, on one device."""

    rung: Rung
    module: Any
    functions: tuple[Any, ...]  # of its passes; None for a library's

    def bind(self, cp: Any, operands: Operands) -> None:
        """Copy the weights to constant memory, before every launch.

        CuPy shares one module, and so one constant memory, between equal sources.
        """
        for name, values in operands.constants.items():
            self.module.get_global(name).copy_from_host_async(values.ctypes.data, values.nbytes)
        if operands.constants:
            cp.cuda.get_current_stream().synchronize()  # the values have been read


class Programs:
    """Programs, arguments and cuFFT's plans, kept on the current device from job to job."""

    def __init__(self, cp: Any) -> None:
        self._cp = cp
        self._known: LruCache[tuple[Rung, Knobs, int], Program] = LruCache(PROGRAMS_KEPT)
        self._plans: LruCache[tuple[int, ...], Any] = LruCache(PLANS_KEPT)
        # By the identity of a host array, which is kept, so that no other can take it.
        self._arguments: LruCache[int, tuple[Any, Any]] = LruCache(ARGUMENTS_KEPT)

    def has(self, rung: Rung, job: Job) -> bool:
        """True if `get` takes no time."""
        return self._key(rung, job) in self._known

    def get(self, rung: Rung, job: Job, copy: int = 0) -> Program:
        """The program, compiled unless that was done; CuPy also keeps it on disk.

        copy  where it has constant memory, another number has a module, and so one, of its own
        """
        rung, knobs, _ = self._key(rung, job)
        copy = copy if copy and rung.operands(job).constants else 0
        make = partial(self._compile, rung, knobs, copy)
        return self._known.get_or_make((rung, knobs, copy), make)

    def argument(self, array: Any) -> Any:
        if array.flags.writeable:  # and so perhaps changed the next time
            return self._cp.asarray(array)
        return self._arguments.get_or_make(id(array), lambda: (array, self._cp.asarray(array)))[1]

    def transform(self, library: str, shape: tuple[int, ...], *arrays: Any) -> Callable[[], None]:
        """cuFFT's part of a launch, planned, from one array to the other, perhaps the same."""
        try:
            from cupy.cuda import cufft
            from cupyx.scipy.fft import get_fft_plan  # half a second the first time
        except ImportError as error:
            raise CannotRunError(
                "NVIDIA's library cuFFT is not installed; choose another implementation, such as "
                "fft_registers, or install nvidia-cufft."
            ) from error
        tiles, answer = (array.view(self._cp.complex64).reshape(shape) for array in arrays)
        plan = self._plans.get_or_make(
            shape, lambda: get_fft_plan(tiles, axes=(1, 2), value_type="C2C")
        )
        direction = cufft.CUFFT_FORWARD if library == "fft2" else cufft.CUFFT_INVERSE
        return lambda: plan.fft(tiles, answer, direction)

    def forget(self) -> None:
        """Drop plans and arguments, which take much of the device's memory."""
        self._plans.clear()
        self._arguments.clear()

    def _compile(self, rung: Rung, knobs: Knobs, copy: int) -> Program:
        options = ("-std=c++17", *(f"-D{name}={value}" for name, value in knobs))
        if rung.architecture:  # NVRTC prefers it to the card's own, which CuPy adds
            options += (f"--gpu-architecture={rung.architecture}",)
        text = f"{rung.text}// {copy}\n" if copy else rung.text
        module = self._cp.RawModule(code=text, options=options)
        functions = tuple(
            None if each.library else module.get_function(each.function) for each in rung.passes
        )
        return Program(rung, module, functions)

    @staticmethod
    def _key(rung: Rung, job: Job) -> tuple[Rung, Knobs, int]:
        return rung, tuple(rung.defines(job).items()), 0


@dataclass(slots=True, eq=False, weakref_slot=True)
class Launch:
    """One job's launches: `ready()()` puts them on the current stream."""

    cp: Any
    program: Program
    job: Job
    steps: tuple[LaunchStep, ...]
    arrays: dict[str, Any]  # the pictures "source" and "target", and buffers
    operands: Operands
    queue: tuple[Callable[[], None], ...]
    graph: Any = None
    went_before: bool = False

    def ready(self) -> Callable[[], None]:
        """Do what must not be timed; return a function that only queues the kernels."""
        self.program.bind(self.cp, self.operands)
        # Only of launches that were not cut: to a display's watchdog a graph may be one launch.
        is_worth_it = len(self.queue) == len(self.program.rung.passes) >= GRAPH_FROM
        if self.graph is None and self.went_before and is_worth_it:
            self.graph = captured(self.cp, self._go)
        # Not at once: kernels are loaded when they are first launched, which no graph can hold.
        self.went_before = True
        return self._go if self.graph is None else self.graph.launch

    def _go(self) -> None:
        for put in self.queue:
            put()

    def ran(self) -> tuple[Ran, ...]:
        return ran_of(self.program, self.steps)


class Ready(Protocol):
    """Launches that can be made ready, of one job or of a list."""

    @property
    def job(self) -> Job:
        """The job that they do."""

    def ready(self) -> Callable[[], None]:
        """Do what must not be timed; return a function that only queues the kernels."""


def captured(cp: Any, go: Callable[[], None]) -> Any:
    """Capture what `go` queues on the current stream as a CUDA graph, which is ready to launch."""
    stream = cp.cuda.get_current_stream()
    stream.begin_capture()
    try:
        go()
    finally:
        graph = stream.end_capture()
    graph.upload()
    return graph


def prepare_launch(
    cp: Any,
    programs: Programs,
    program: Program,
    job: Job,
    device: Device,
    source: Any,
    target: Any,
    rows: tuple[int, int] | None = None,
    buffers: dict[str, Any] | None = None,
) -> Launch:
    """Make the buffers, send the weights, allow the shared memory the job needs.

    source, target  (H, pitch) device arrays of the job's pixel type
    rows            (first, end) to write; None: all
    buffers         of the rung, by name, where they are there already: device arrays of bytes
    """
    rung, facts = program.rung, Facts(job, device)
    steps = plan_steps(rung, job, device, rows)
    for step in steps:
        allow_shared(program.functions[step.number], step.shared_bytes)
    if buffers is None:
        buffers = {name: cp.empty(facts.value(size), np.uint8) for name, size in rung.buffers}
    operands = rung.operands(job)
    arguments = tuple(programs.argument(array) for array in operands.arguments)
    arrays = {"source": source, "target": target, **buffers}

    def queued(step: LaunchStep) -> Callable[[], None]:
        each = rung.passes[step.number]
        read = ("source" if name == "picture" else name for name in (each.reads, *each.also_reads))
        written = "target" if each.writes == "picture" else each.writes
        taken = tuple(arrays[name] for name in (*read, written))
        if each.library:
            assert each.shape is not None
            shape = tuple(facts.value(expression) for expression in each.shape)
            return programs.transform(each.library, shape, *taken)
        function = program.functions[step.number]
        numbers = map(np.int32, (job.height, job.width, facts["PITCH"], *step.rows))
        values = (*taken, *arguments, *numbers)
        return lambda: function(step.grid, step.block, values, shared_mem=step.shared_bytes)

    return Launch(cp, program, job, steps, arrays, operands, tuple(map(queued, steps)))


def ran_of(program: Program, steps: Sequence[LaunchStep]) -> tuple[Ran, ...]:
    """The record of what runs: the first launch of each pass."""
    firsts = {step.number: step for step in reversed(steps)}

    def ran(step: LaunchStep) -> Ran:
        rung, function = program.rung, program.functions[step.number]
        if function is None:
            return Ran(f"{rung.key}.{rung.passes[step.number].library} by cuFFT")
        name = f"{rung.key}.{rung.passes[step.number].function}"
        shared_bytes = step.shared_bytes + int(function.shared_size_bytes)
        return Ran(name, None, step.grid, step.block, int(function.num_regs), shared_bytes)

    return tuple(ran(firsts[number]) for number in sorted(firsts))


def allow_shared(function: Any, size: int) -> None:
    """Allow a kernel that much dynamic shared memory, or more if another job was allowed it."""
    if size > STATIC_SHARED_LIMIT and size > function.max_dynamic_shared_size_bytes:
        function.max_dynamic_shared_size_bytes = size


def occupancy_on(cp: Any, program: Program, job: Job, device: Device) -> Occupancy | None:
    """The occupancy of the first pass that is ours, by the driver; None if all are a library's."""
    for step in plan_steps(program.rung, job, device):
        function = program.functions[step.number]
        if function is None or step.block is None:
            continue
        threads = step.block[0] * step.block[1]
        allow_shared(function, step.shared_bytes)
        blocks = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
            function.kernel.ptr, threads, step.shared_bytes
        )
        shared_bytes = step.shared_bytes + int(function.shared_size_bytes)
        return occupancy_of(device, threads, int(function.num_regs), shared_bytes, int(blocks))
    return None


PATIENCE_S = 0.05


def compiling_ahead(device: Device, wanted: Iterable[tuple[Rung, Job]]) -> Iterator[Progress]:
    """Compile every binary that `wanted` needs into CuPy's cache on disk.

    Stopping, wherever this yields, waits for those being compiled and drops the rest.
    """
    import cupy as cp

    def compile_(rung: Rung, job: Job) -> None:
        # What fails here fails again, and is said, when it is to run.
        with suppress(Exception), cp.cuda.Device(device.index):
            Programs(cp).get(rung, job)

    different = {(rung.key, tuple(rung.defines(job).items())): (rung, job) for rung, job in wanted}
    with ThreadPoolExecutor(usable_cores(), thread_name_prefix="kernels-compiling") as pool:
        left = {pool.submit(compile_, *each) for each in different.values()}
        try:
            while left:
                yield Progress(f"compiling, {len(left)} of {len(different)} kernels left")
                left = wait(left, PATIENCE_S).not_done
        finally:
            pool.shutdown(cancel_futures=True)


def memory_bytes(rung: Rung, job: Job, device: Device, height: int | None = None) -> int:
    """Bytes of the device's memory that `job`, or one of another height, takes.

    Source, output, and the output without padding; buffers, arguments, and cuFFT's working space,
    as large as what it transforms.
    """
    facts = Facts(job, device, height)
    samples = facts["HEIGHT"] * (2 * facts["PITCH"] + job.width * job.channels)
    arguments = sum(array.nbytes for array in rung.operands(job).arguments)
    buffers = sum(facts.value(size) for _, size in rung.buffers)
    shapes = {each.shape for each in rung.passes if each.shape}
    transforms = sum(8 * prod(map(facts.value, shape)) for shape in shapes)
    return int(samples * facts["SAMPLE_BYTES"] + buffers + arguments + transforms)


def rows_a_strip(rung: Rung, job: Job, device: Device, room_bytes: int) -> int:
    """The rows to filter at once in at most `room_bytes`.

    The whole picture, or half of it, and so on; 0 if there is no room for one.
    """
    rows = height = job.height
    while rows and memory_bytes(rung, job, device, height) > room_bytes:
        rows = -(-rows // 2) if rows > 1 else 0
        height = rows + 2 * job.reach
    return rows
