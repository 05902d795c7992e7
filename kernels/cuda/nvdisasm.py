"""NVIDIA's disassembler, which makes text of machine code, on computers without a GPU as well."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from kernels.core.errors import CompileFailedError
from kernels.core.installed import how_to_add

IN_PACKAGE = ("cu*/bin/nvdisasm", "cu*/bin/nvdisasm.exe")  # a folder for each CUDA
OPTIONS = ("--print-line-info-inline", "--print-code")
PATIENCE_S = 30.0
WITHOUT_IT = (
    "There is no SASS to show: NVIDIA's disassembler (5 MB) is not installed here. "
    "It needs no GPU: {}."
)


def disassembled(cubin: bytes) -> str:
    """Return machine code as `nvdisasm -gi` writes it.

    Raises CompileFailedError where it is not installed, or cannot read this.
    """
    program = the_program()
    if program is None:
        raise CompileFailedError(WITHOUT_IT.format(how_to_add("nvidia-cuda-nvdisasm")))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        try:
            ran = subprocess.run(
                [program, *OPTIONS, path],
                capture_output=True,
                timeout=PATIENCE_S,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileFailedError(f"nvdisasm does not run: {error}.") from error
    if ran.returncode != 0:
        said = " ".join(ran.stderr.decode(errors="replace").split())
        raise CompileFailedError(f"The disassembler refuses the machine code: {said}")
    return ran.stdout.decode(errors="replace")


@cache
def the_program() -> Path | None:
    """Return the disassembler: the package's, or the one on the PATH; None: there is none."""
    on_path = shutil.which("nvdisasm")
    return next(_in_packages(), Path(on_path) if on_path else None)


def _in_packages() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for pattern in IN_PACKAGE:
            yield from sorted(Path(folder).glob(pattern), reverse=True)
