"""A rung as a whole CUDA C++ program for one job: copied, compiled with nvcc, it runs by itself.

The device code is the rung's own text.  What is written here is what the launcher does: knobs,
weights, buffers, launches; what surrounds it, from pictures to the check, stands in `host.cu` and
`main.cu` beside this file.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.errors import CannotRunError
from kernels.core.job import Job
from kernels.core.weights import UNIT_ROUNDOFF, gain
from kernels.cuda.launch import STATIC_SHARED_LIMIT, LaunchStep, plan_steps
from kernels.oracle.checking import LENGTH_CHAIN, LENGTH_GAIN, MIN_NORMAL
from kernels.rungs.job_facts import Facts
from kernels.rungs.operands import Operands
from kernels.rungs.rung import Rung

WIDTH = 100  # columns of text
TYPES = {"float32": "float", "int32": "int", "uint32": "unsigned"}


def array(name: str, values: NDArray[Any]) -> str:
    """The definition of `name`, all numbers of `values` in order, of one of TYPES."""
    kind = TYPES[str(values.dtype)]
    rows = values.reshape(-1, values.shape[-1] if values.ndim > 1 else values.size)
    wrap = partial(textwrap.fill, width=WIDTH, initial_indent="    ", subsequent_indent="    ")
    body = "\n".join(wrap(", ".join(map(number, row)) + ",") for row in rows)
    return f"const {kind} {name}[{values.size}] = {{\n{body}\n}};\n"


def number(value: Any) -> str:
    """The shortest literal that is `value` again: "0.0625f", "1e-05f", "-17", "17u"."""
    if isinstance(value, np.integer):
        return f"{int(value)}{'u' if isinstance(value, np.unsignedinteger) else ''}"
    text = str(value)
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


HERE = Path(__file__).parent
NO_WARNING = """
#ifdef __NVCC__
#pragma nv_diag_suppress 128  // of loops that the knobs have made unreachable
#pragma nv_diag_suppress 177  // of constants that this rung has no use for
#endif
"""
INCLUDES = (
    *(
        "cuda_runtime.h",
        "algorithm",
        "cctype",
        "cmath",
        "complex",
        "cstdint",
        "cstdio",
        "cstdlib",
        "cstring",
    ),
    *("utility", "vector"),
)
SPECTRA = {"spectrum": ("spectrum",), "spectrum_and_roots": ("spectrum", "roots_of_a_line")}
# What a grid is sized for where no GPU is known; any number gives the same picture.
ASSUMED = Device(
    index=0,
    name="a GPU with 128 multiprocessors",
    compute_capability=(8, 9),
    multiprocessors=128,
    clock_khz=2_000_000,
    max_threads_per_block=1024,
    max_block_xy=(1024, 1024),
    shared_bytes_per_block=101_376,
    l2_bytes=0,
    memory_bytes=0,
    watchdog=False,
    driver_version=0,
    runtime_version=0,
    count=0,
)


def cuda_program(rung: Rung, job: Job, device: Device | None = None) -> str:
    """The source of a .cu file that runs `job` by itself, on one GPU.

    Of job.picture only the shape and the pixel type are in it.

    device  what grids are sized for; None: a GPU of usual size
    Raises CannotRunError with the rung's reason.
    """
    job = replace(job, devices=1)
    reason = rung.why_not_anywhere(job) if device is None else rung.why_not(job, device)
    if reason:
        raise CannotRunError(reason)
    # A display's watchdog would have it cut into many launches; this is to be read.
    device = replace(device or ASSUMED, watchdog=False)
    operands, steps = rung.operands(job), plan_steps(rung, job, device)
    literals = () if rung.weights in SPECTRA else operands.arguments
    parts = (
        _about(rung, job, device),
        *(f"#include <{name}>" for name in INCLUDES),
        "#include <cufft.h>" if _library(rung) else "",
        NO_WARNING,
        _knobs(rung, job),
        _rule("the words that the rungs share"),
        rung.headers,
        _rule(f"{rung.key}: {rung.title}"),
        rung.source,
        _rule("the program around it"),
        "namespace program {\n",
        _numbers(rung, job),
        array("AS_DRAWN", job.weights),
        *(array(f"HOST_{name}", values) for name, values in operands.constants.items()),
        *(array(f"HOST_{_argument(n)}", each) for n, each in enumerate(literals)),
        _file("host"),
        _file("spectrum") if rung.weights in SPECTRA else "",
        _arrays(rung, job, operands),
        _prepared(rung, job, operands, steps),
        _launch(rung, operands, steps),
        _file("main"),
        "}  // namespace program\n",
        "int main(int count, char** words) { return program::run(count, words); }\n",
    )
    return "\n".join(part for part in parts if part)


def _about(rung: Rung, job: Job, device: Device) -> str:
    name = f"{rung.key}.cu"
    library = " -lcufft" if _library(rung) else ""
    capability = "{}.{}".format(*rung.capability)
    needs = f", compute capability {capability} or more" if any(rung.capability) else ""
    offset = f" and an offset of {job.offset:g}" if job.offset else ""
    lines = (
        f"{rung.title}: {job.filter_title}, {job.ksize}x{job.ksize} weights{offset}, on "
        f"{job.width}x{job.height} pixels of {job.channels} x {job.pixel_type}, border "
        f"{job.border}.",
        f"{rung.idea}",
        "",
        f"  nvcc -O3 -std=c++17 -ftz=true -arch=native {name} -o {rung.key}{library}",
        f"  ./{rung.key} [IN [OUT]]",
        "",
        "Pictures are .pgm or .ppm files, or .raw: samples and nothing else.",
        "",
        f"Needs a GPU with CUDA{needs}.  Its grids are sized for {device.name}.",
    )
    return "".join(f"// {_ascii(line)}".rstrip() + "\n" for line in lines)


def _ascii(text: str) -> str:
    return text.replace("×", "x").replace("²", "^2").encode("ascii", "replace").decode()


def _library(rung: Rung) -> bool:
    return any(each.library for each in rung.passes)


def _knobs(rung: Rung, job: Job) -> str:
    """The knobs as constants, as nvcc expands no macros in a #pragma unroll.

    Those for which a header has a default #define are macros.
    """
    values = {**rung.operands(job).knobs, **rung.defines(job)}
    text = rung.headers + rung.source
    return "".join(
        f"constexpr int {name} = {value};\n"
        if str(value).isdigit() and f"#define {name} " not in text
        else f"#define {name} {value}\n"
        for name, value in values.items()
    )


def _rule(title: str) -> str:
    return f"// {'=' * 20} {_ascii(title)} {'=' * (75 - len(title))}\n"


def _numbers(rung: Rung, job: Job) -> str:
    """The numbers behind `checking.error_bound`, per unit of the largest sample."""
    chain = rung.chain(job) + (LENGTH_CHAIN if job.gradient else bool(job.offset))
    grows = LENGTH_GAIN if job.gradient else 1.0
    roundings = rung.error_factor * chain * UNIT_ROUNDOFF
    at_zero = grows * chain * MIN_NORMAL + roundings * abs(job.offset)
    return (
        f'constexpr const char* NAME = "{rung.key}";\n'
        f"constexpr int WIDTH = {job.width}, HEIGHT = {job.height}, "
        f"PITCH = {Facts(job)['PITCH']};  // pixels, rows, samples from row to row\n"
        f"constexpr bool GRADIENT = {str(job.gradient).lower()};\n"
        "// Roundings may add up to so much, for every unit of the picture's largest sample.\n"
        f"constexpr double ERROR_A_UNIT = {roundings * grows * gain(job.weights)!r}, "
        f"ERROR_AT_ZERO = {at_zero!r};\n"
    )


def _arrays(rung: Rung, job: Job, operands: Operands) -> str:
    facts = Facts(job)
    lines = ["Memory source, target;  // pictures"]
    lines += [f"Memory {name};  // {facts.value(size):,} bytes" for name, size in rung.buffers]
    lines += [f"Memory {_argument(n)};" for n in range(len(operands.arguments))]
    lines += ["cufftHandle plan;"] if _library(rung) else []  # transforms of one shape share it
    return "struct Arrays {\n" + "".join(f"    {line}\n" for line in lines) + "};\n"


def _argument(number: int) -> str:
    return f"weights_{number}"


def _prepared(rung: Rung, job: Job, operands: Operands, steps: tuple[LaunchStep, ...]) -> str:
    facts = Facts(job)
    lines = [
        "Arrays made;",
        "made.source = allocated(sizeof(sample) * PITCH * HEIGHT);",
        "made.target = allocated(sizeof(sample) * PITCH * HEIGHT);",
    ]
    lines += [f"made.{name} = allocated({facts.value(size)});" for name, size in rung.buffers]
    lines += [
        f"CHECK(cudaMemcpyToSymbol(::{name}, HOST_{name}, sizeof(HOST_{name})));"
        for name in operands.constants
    ]
    for number in range(len(operands.arguments)):
        if made := SPECTRA.get(rung.weights):
            given = f"given_{number}"
            lines += [f"const std::vector<float2> {given} = {made[number]}();"]
            what = f"{given}.data(), {given}.size() * sizeof(float2)"
        else:
            what = f"HOST_{_argument(number)}, sizeof(HOST_{_argument(number)})"
        lines += [f"made.{_argument(number)} = uploaded({what});"]
    large: dict[str, int] = {}  # dynamic shared memory that has to be requested, by function
    for step in steps:
        name = rung.passes[step.number].function
        if step.shared_bytes > STATIC_SHARED_LIMIT:
            large[name] = max(step.shared_bytes, large.get(name, 0))
    lines += [
        f"CHECK(cudaFuncSetAttribute({function}, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        f"{size}));"
        for function, size in large.items()
    ]
    if _library(rung):
        first = next(each for each in rung.passes if each.library)
        assert first.shape is not None
        count, rows, columns = (facts.value(expression) for expression in first.shape)
        lines += [
            f"int shape[2] = {{{rows}, {columns}}};",
            f"if (cufftPlanMany(&made.plan, 2, shape, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, "
            f"{count}) != CUFFT_SUCCESS)",
            '    fail("cufftPlanMany", "refused.");',
        ]
    lines += ["return made;"]
    return _function("Arrays prepared()", "Memory, weights, and leave to use much of it.", lines)


def _launch(rung: Rung, operands: Operands, steps: tuple[LaunchStep, ...]) -> str:
    lines = [line for step in steps for line in _one_launch(rung, operands, step)]
    return _function(
        "void launch(const Arrays& arrays)", "All of it, in the order of the passes.", lines
    )


def _one_launch(rung: Rung, operands: Operands, step: LaunchStep) -> Iterator[str]:
    each = rung.passes[step.number]
    reads = ["source" if n == "picture" else n for n in (each.reads, *each.also_reads)]
    taken = [f"arrays.{name}" for name in reads]
    taken.append(f"arrays.{'target' if each.writes == 'picture' else each.writes}")
    if each.library:
        direction = "CUFFT_FORWARD" if each.library == "fft2" else "CUFFT_INVERSE"
        yield f"if (cufftExecC2C(arrays.plan, {', '.join(taken)}, {direction}) != CUFFT_SUCCESS)"
        yield '    fail("cufftExecC2C", "refused.");'
        return
    assert step.grid is not None
    assert step.block is not None
    taken += [f"arrays.{_argument(number)}" for number in range(len(operands.arguments))]
    taken += ["HEIGHT", "WIDTH", "PITCH", *map(str, step.rows)]
    grid, block = ("dim3({}, {})".format(*shape) for shape in (step.grid, step.block))
    yield f"{each.function}<<<{grid}, {block}, {step.shared_bytes}>>>("
    yield f"    {', '.join(taken)});"


def _function(head: str, about: str, lines: list[str]) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"// {about}\n{head} {{\n{body}}}\n"


@cache
def _file(name: str) -> str:
    return (HERE / f"{name}.cu").read_text(encoding="utf-8")
