"""NVIDIA's compute-sanitizer, which checks what the kernels of a process do: where it is."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# In the packages of CUDA 13 and CUDA 12, on Linux and Windows; of several the last: the newest.
IN_PACKAGES = (
    "cu*/compute-sanitizer/compute-sanitizer",
    "cu*/compute-sanitizer/compute-sanitizer.exe",
    "cuda_sanitizer_api/bin/compute-sanitizer",
    "cuda_sanitizer_api/bin/compute-sanitizer.exe",
)
TOOLKITS = ("CUDA_PATH", "CUDA_HOME")  # variables that NVIDIA's installers set
TOOLKIT = "/usr/local/cuda"
MIN_VERSION = (2022, 4)  # came with CUDA 12.0
HOW_TO_GET_IT = "`pip install nvidia-cuda-sanitizer-api` brings one (18 MB)"
WITHOUT_IT = f"NVIDIA's compute-sanitizer is not installed here; {HOW_TO_GET_IT}."
PATIENCE_S = 20.0
VERSION = re.compile(r"Version (\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Sanitizer:
    """An installed compute-sanitizer; `version` is (2025, 4) for 2025.4."""

    program: Path
    version: tuple[int, int]


def why_no_sanitizer() -> str | None:
    """Return why nothing can be checked with it here, and what to do; None if it can be."""
    found = the_sanitizer()
    return found if isinstance(found, str) else None


@cache
def the_sanitizer() -> Sanitizer | str:
    """Return the package's, or a toolkit's; or the sentence that says why there is none of use."""
    program = next(_programs(), None)
    if program is None:
        return WITHOUT_IT
    try:
        ran = subprocess.run(
            [program, "--version"],
            capture_output=True,
            timeout=PATIENCE_S,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"compute-sanitizer does not run: {error}."
    found = VERSION.search(ran.stdout.decode(errors="replace"))
    if found is None:
        return f"{program} does not say its version, as a compute-sanitizer does."
    version = int(found[1]), int(found[2])
    if version < MIN_VERSION:
        return (
            f"compute-sanitizer {found[1]}.{found[2]} is too old, as CUDA before 12 is; "
            f"{HOW_TO_GET_IT}."
        )
    return Sanitizer(program, version)


def _programs() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for pattern in IN_PACKAGES:
            yield from sorted(Path(folder).glob(pattern), reverse=True)
    name = "compute-sanitizer"
    if on_path := shutil.which(name):
        yield Path(on_path)
    for toolkit in (*(os.environ.get(each, "") for each in TOOLKITS), TOOLKIT):
        if toolkit and (found := shutil.which(name, path=str(Path(toolkit, "bin")))):
            yield Path(found)
