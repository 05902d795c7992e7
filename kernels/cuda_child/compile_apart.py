"""A user kernel compiled to be shown, in a process of its own: a source may crash a compiler."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.cuda import nvrtc
from kernels.cuda.nvrtc import LINES, Compiled, CompilerEndedError, compiler_here, options_for
from kernels.cuda_child.child_endings import died, failed, too_long
from kernels.rungs.rung import Rung


@dataclass(frozen=True, slots=True)
class Compilation:
    """A text to compile; equal ones give the same output."""

    text: str
    options: tuple[str, ...]
    architecture: int


def compilation_of(rung: Rung, job: Job, architecture: int) -> Compilation:
    """Return the compilation of a rung for a job, whose output names the source's lines."""
    return Compilation(rung.text, (*options_for(rung, job, architecture), LINES), architecture)


def compiling_apart(rung: Rung, asked: Compilation) -> Generator[None, None, Compiled]:
    """Compile; closing the generator ends the compiler.

    rung  whose source it is, for the sentences
    Raises RunEndedError.
    """
    try:
        compiler = compiler_here(asked.architecture)
        return (yield from compiler.compiling_apart(asked.text, asked.options))
    except CompileFailedError as error:
        said = {"error": "CompileFailedError", "sentence": str(error), "log": error.log}
        raise failed(rung, said) from error
    except CompilerEndedError as error:
        if error.code is None:
            raise too_long("compiling", nvrtc.PATIENCE_S) from error
        raise died("compiling", error.code) from error
