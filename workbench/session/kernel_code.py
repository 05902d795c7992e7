"""The code that compilers make of kernels: PTX, SASS and resources, with or without a GPU."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import lru_cache

from kernels.core.device import Device, NoDevice
from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.cuda import nvrtc
from kernels.cuda.nvrtc import Compiled, CompilerEndedError, listing_of
from kernels.cuda_child.worker_pool import child_failed, failed, how_it_ended, too_long
from kernels.rungs.rung import Rung

WITHOUT_A_DEVICE = 90  # sm_90, compiled for where there is no GPU
REMEMBERED = 16


@dataclass(frozen=True, slots=True)
class PtxRequest:
    """One compilation; equal requests give equal output.

    in_words  the settings: "sm_90 · size 5 · 3 × uint8 · clamp · 32×8"
    """

    rung: Rung
    architecture: int
    options: tuple[str, ...]
    in_words: str = field(compare=False)


def request_for(rung: Rung, job: Job, device: Device | NoDevice | None) -> PtxRequest:
    """Request a compilation for `device`, or for a common GPU where there is none."""
    major, minor = device.compute_capability if isinstance(device, Device) else (0, 0)
    architecture = 10 * major + minor or WITHOUT_A_DEVICE
    options = tuple(nvrtc.options_for(rung, job, architecture))
    x, y = job.block_xy
    parts = [f"sm_{architecture}", f"size {job.ksize}", f"{job.channels} × {job.pixel_type}"]
    parts += [job.border, *(() if rung.own_block else (f"{x}×{y}",))]
    return PtxRequest(rung, architecture, options, " · ".join(parts))


@dataclass(frozen=True, slots=True)
class RungCode:
    """The compiler's output, and its machine code as text, or a sentence on why there is none."""

    compiled: Compiled
    sass: str


@lru_cache(maxsize=REMEMBERED)
def compile_request(request: PtxRequest) -> RungCode:
    """Compile a rung, a second or more for large weights.  Raises CompileFailedError."""
    compiled = nvrtc.compiler_here(request.architecture).compile(request.rung.text, request.options)
    try:
        sass = "\n".join(row.text for row in listing_of(compiled, "sass"))
    except CompileFailedError as error:
        sass = str(error)
    return RungCode(compiled, sass)


def resources_in_words(compiled: Compiled) -> str:
    """List the resources: "22 registers, no spills"; by name where there are several functions."""
    found = compiled.resources
    each_in_words = [
        f"{f'{each.function} ' if len(found) > 1 else ''}{each.registers} registers"
        for each in found
    ]
    spilt = sum(each.spill_bytes for each in found)
    return ", ".join([*each_in_words, f"{spilt} bytes spilt" if spilt else "no spills"])


def compiling_apart(request: PtxRequest) -> Generator[None, None, Compiled]:
    """Compile a user kernel in a process of its own, which its source may crash.

    Closing the generator ends the compiler.  Raises RunEndedError.
    """
    try:
        compiler = nvrtc.compiler_here(request.architecture)
        return (yield from compiler.compiling_apart(request.rung.text, request.options))
    except CompileFailedError as error:
        said = {"error": "CompileFailedError", "sentence": str(error), "log": error.log}
        raise failed(request.rung, said) from error
    except CompilerEndedError as error:
        if error.code is None:
            raise too_long("compiling", nvrtc.PATIENCE_S) from error
        raise child_failed("compiling", how_it_ended(error.code)) from error
