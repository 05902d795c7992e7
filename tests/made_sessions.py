"""Whole sessions that nobody measured: plans shaped like the published tables, times from a model.

The times are plausible and always the same, so that charts and reports made of them can be judged.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kernels.core.device import Occupancy
from kernels.core.health import Health
from kernels.core.job import Ran
from kernels.core.timing import Timing
from kernels.core.verdict import Check
from kernels.cuda.device_pictures import Transfers
from kernels.engine.engine import all_implementations
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.record import Machine, Measurement, Record, Session
from kernels.sweeps.step_words import list_words, steps_in

STARTED = 1_763_700_000.0  # 21 November 2025
BYTES = {"uint8": 1, "uint16": 2, "float16": 2, "float32": 4}
KINDS = {each.key: each.kind for each in all_implementations()}
CPUS = ("sequential", "parallel", "opencv")
MEMORIES = ("global", "constant", "shared")
SQUARES = tuple((side, side) for side in (256, 512, 1024, 2048, 4096))
CAMERINO = "Università di Camerino, CUDA-Optimized 2D Convolution"

# One plan a published table, and what else charts and reports have to cope with.
PLANS = {
    "sizes": Plan(
        "Image size", (*CPUS, *MEMORIES), SQUARES, (3,), ((16, 16),), source=CAMERINO, table="5.5"
    ),
    "ksizes": Plan(
        "Kernel size", (*CPUS, *MEMORIES), ((1024, 1024),), (3, 5, 7), ((16, 16),),
        source=CAMERINO, table="5.7",
    ),
    "blocks": Plan(
        "Block shapes", MEMORIES, ((2048, 2048),), (5,),
        ((8, 8), (16, 8), (16, 16), (32, 4), (32, 8), (32, 16), (32, 32)),
        source=CAMERINO, table="5.9",
    ),
    "block_grid": Plan(
        "Every block shape", ("shared",), ((2048, 2048),), (5,),
        tuple((x, y) for x in (8, 16, 32, 64, 128) for y in (1, 2, 4, 8, 16, 32) if x * y <= 1024),
    ),
    "correctness": Plan(
        "Correctness", (*CPUS, *MEMORIES), ((64, 64),), (3, 5, 7), ((16, 16),),
        ("gaussian", "sobel_x", "laplacian", "box"), pictures=("checkerboard",), tolerance=1e-5,
    ),
    "five_steps": Plan(
        "Five steps", ("sequential", "constant", "shared_apron", "separable", "separable_flat"),
        ((400, 400), (2000, 2000)), (17,), ((16, 16),), channels=(3,),
        source="BCCN Göttingen 2011, Convolution in CUDA", table="Runtime and speedups",
    ),
    "transfers": Plan(
        "2048², with transfers", (*CPUS, "global", "shared_two_batch", "tile_separable"),
        ((2048, 2048),), (3,), ((32, 32),), ("laplacian_diagonal",), channels=(3,),
        pixel_types=("uint8",), transfers=True,
    ),
    "pays_off": Plan(
        "From which size on a GPU pays off", ("opencv", "shared", "tile_separable"),
        ((64, 64), (128, 128), *SQUARES), (5,), ((32, 8),), transfers=True,
    ),
    "sizes_and_kernels": Plan(
        "Sizes and kernels", ("opencv", "shared_untiled", "shared", "tile_separable"),
        tuple((side, side) for side in (32, 128, 512, 1024, 2048, 4096, 8192, 10000)),
        (3, 7, 15, 31, 63, 127), ((32, 8),),
        source="Politecnico di Milano 2024/2025, 2D-Convolution Algorithm in CUDA", table="1",
    ),
    "everything": Plan(
        "Sizes, kernels, blocks and filters", ("sequential", *MEMORIES), SQUARES, (3, 5, 7),
        ((8, 8), (16, 16), (32, 8), (32, 32)), ("gaussian", "box", "sharpen", "sobel_x"),
        channels=(3,), pixel_types=("uint8",),
        source="Università di Firenze 2025/2026, Kernel Image Processing", table="benchmark sweep",
    ),
    "pictures": Plan(
        "Picture kinds", ("opencv", "shared", "separable"),
        ((640, 480), (1280, 720), (1920, 1080), (3840, 2160), (1023, 767)), (3, 5, 11), ((32, 8),),
        pictures=("photo", "noise", "uniform", "checkerboard", "gradient"), channels=(1, 3, 4),
    ),
    "counts": Plan(
        "Pictures one after another", ("opencv", "shared", "separable"), ((1920, 1080),), (7,),
        ((32, 8),), counts=(1, 2, 4, 8, 16, 32), transfers=True,
    ),
    "types": Plan(
        "Pixel types and borders", ("opencv", "global", "shared"), ((1024, 1024),), (5,),
        ((32, 8),), borders=("zero", "clamp", "reflect"),
        pixel_types=("uint8", "uint16", "float16", "float32"),
    ),
    "caches": Plan(
        "Cold and warm L2", ("global", "shared"), SQUARES, (3,), ((32, 8),), caches=("cold", "warm")
    ),
    "lists": Plan(
        "Lists", ("opencv", "shared", "separable"), ((2048, 2048),),
        lists=("gaussian:7 + sobel_x", list_words("sketch"), "box:15,mix=0.5 + sharpen + edges:5"),
    ),
    "devices": Plan(
        "Several GPUs", ("opencv", "global", "shared"), ((4096, 4096),), (5,), ((32, 8),),
        devices=(1, 2, 4),
    ),
}  # fmt: skip

LAPTOP = Machine("Intel Core i7-1260P, 4 cores", "16 GiB", "Linux 6.8", no_gpu="No GPU was found.")
H200 = Machine(
    cpu="Intel Xeon Platinum 8481C, 16 cores",
    memory="128 GiB",
    system="Linux 6.8",
    gpu="NVIDIA H200",
    limits={
        "multiprocessors": 132, "l2_bytes": 60 << 20, "clock_khz": 1_980_000,
        "warp_size": 32, "max_threads_per_multiprocessor": 2048, "max_threads_per_block": 1024,
        "registers_per_multiprocessor": 65_536, "shared_bytes_per_multiprocessor": 233_472,
    },
    software={"Python": "3.12.3", "NumPy": "2.3.0", "CuPy": "14.2.0", "CUDA": "13.0"},
    ceilings={"copy_gb_s": 4200.0, "fma_tflop_s": 65.6, "empty_launch_ms": 0.0029},
)  # fmt: skip

Outcome = Callable[[Cell, Measurement], Measurement | str]


def a_session(
    plan: Plan | str,
    machine: Machine = H200,
    *,
    is_recorded: bool = False,
    first: int | None = None,
    outcome: Outcome = lambda _, measured: measured,
) -> Session:
    """All records of a plan, or of the one of PLANS that is called so.

    is_recorded  it came with the program
    first    only so many of them, as while it is still being measured
    outcome  what becomes of a cell instead of its measurement: another one, or a sentence
    """
    plan = PLANS[plan] if isinstance(plan, str) else plan
    records = tuple(
        Record(cell, _refused(cell, machine) or outcome(cell, measured(cell, plan)), STARTED + i)
        for i, cell in enumerate(plan.cells()[:first])
    )
    return Session(plan, machine, STARTED, records, is_recorded, is_recorded)


def measured(cell: Cell, plan: Plan | None = None, check: Check | None = None) -> Measurement:
    """A measurement as the engine gives it, verified unless `check` says otherwise."""
    on_gpu = KINDS[cell.implementation] == "cuda"
    picture = cell.pixels * cell.channels * BYTES[cell.pixel_type]
    parts = [replace(cell, list="", filter=e.filter, ksize=e.ksize) for e in steps_in(cell.list)]
    alone_ms = [_model_ms(each) for each in parts]
    whole_ms = (0.9 if on_gpu else 1.0) * sum(alone_ms) or _model_ms(cell)
    return Measurement(
        kernel=_timing(cell, whole_ms * cell.count, cell.cache),
        steps=tuple(_timing(e, ms, cell.cache) for e, ms in zip(parts, alone_ms, strict=True)),
        ran=(_launch(cell) if on_gpu else _function(cell),),
        check=check or Check(2.4e-7 * cell.ksize, (0, 0, 0), 0, 0, 1e-5, cell.pixels, cell.pixels),
        compile_ms=180.0 if on_gpu else None,
        transfers=_transfers(cell, picture) if on_gpu and plan and plan.transfers else None,
        health=Health((1980, 1980), (3201, 3201), (41, 44), (180.0, 310.0)) if on_gpu else None,
        occupancy=_occupancy(cell) if on_gpu else None,
        compulsory_bytes=2 * picture * cell.count,
    )


def wrong(cell: Cell) -> Measurement:
    """Measured, and its answer is not right."""
    return measured(cell, check=Check(35.0, (7, 3, 0), 40, 12, 1e-5, cell.pixels, cell.pixels))


def _model_ms(cell: Cell) -> float:
    samples, taps = cell.pixels * cell.channels, cell.ksize**2
    halves = cell.implementation.startswith(("separable", "ring_sep", "running"))
    work = samples * (2 * cell.ksize if halves else taps)
    match cell.implementation:
        case "sequential":
            return work * 1.1e-6 + 0.002
        case "parallel":
            return work * 1.1e-6 / 12 + 0.03
        case "opencv":
            return samples * min(taps, 4 * cell.ksize) * 6e-8 + 0.012
        case other:
            slow = {"global": 1.5, "constant": 1.25, "shared": 1.0}.get(other, 0.9)
            slow *= _shape_factor(cell.block_xy)
            bytes_ms = 2 * samples * BYTES[cell.pixel_type] / 3.9e9
            warm = 0.45 if cell.cache == "warm" and cell.pixels < 6_000_000 else 1.0
            shared = max(bytes_ms * warm, work * 2 / 3.2e10) / cell.devices
            return 0.0025 + 0.01 * (cell.devices > 1) + slow * shared


def _shape_factor(block_xy: tuple[int, int] | None) -> float:
    """Narrow blocks waste a part of each memory transaction, tiny and huge ones occupancy."""
    if block_xy is None:
        return 1.0
    x, y = block_xy
    threads = x * y
    return (1 + 0.6 * max(0.0, math.log2(32 / x))) * (1 + 0.12 * abs(math.log2(threads / 256)) ** 2)


def _timing(cell: Cell, ms: float, cache: str | None) -> Timing:
    facts = repr(cell)  # as it was before there were texts and several GPUs
    for new in (", list=''", ", devices=1", ", text_sha256=''"):
        facts = facts.replace(new, "")
    rng = np.random.default_rng(zlib.crc32(facts.encode()))
    noise = 0.05 if cache is None else 0.006
    return Timing(tuple(float(ms * (1 + each)) for each in rng.gamma(1.5, noise, 20)), cache)


def _launch(cell: Cell) -> Ran:
    x, y = cell.block_xy or (128, 1)
    grid = (math.ceil(cell.width * cell.channels / x), math.ceil(cell.height / y))
    return Ran("convolve", grid=grid, block=(x, y), registers=32, shared_bytes=4 * (x + 4) * y)


def _function(cell: Cell) -> Ran:
    names = {"sequential": ("convolve_loops", 1), "opencv": ("cv2.sepFilter2D", 8)}
    function, threads = names.get(cell.implementation, ("convolve_strips", 12))
    return Ran(function, threads=threads)


def _transfers(cell: Cell, picture: int) -> Transfers:
    """At 6 GB/s from ordinary memory and 52 GB/s from pinned."""
    times = (picture * cell.count / speed + 0.02 for speed in (6e6, 5.2e6, 5.2e7, 5.3e7))
    return Transfers(picture, *(_timing(cell, ms, None) for ms in times))


def _occupancy(cell: Cell) -> Occupancy:
    x, y = cell.block_xy or (128, 1)
    warps = math.ceil(x * y / 32)
    blocks = min(32, 64 // warps)
    limit = "32 blocks are all it holds." if blocks == 32 else "Its 64 warps are all taken."
    return Occupancy(blocks, blocks * warps, 64, limit)


def _refused(cell: Cell, machine: Machine) -> str | None:
    if KINDS[cell.implementation] == "cuda" and not machine.gpu:
        return machine.no_gpu
    if cell.implementation == "shared_untiled" and cell.pixels > 241**2:
        return (
            "Untiled picture needs more shared memory for the picture than a block of "
            f"{machine.gpu} has, 227 KiB."
        )
    return None
