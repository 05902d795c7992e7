"""What NVIDIA's compilers said of a text is kept in compiled.json: that is not compiled again.

    python -m tests.kernels.rungs.compiled

compiles every rung for every card and writes the file anew; what is in it is taken from there.  An
entry stands under a digest of all that the compiler is given, and of its version: what has changed
since then is compiled.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from kernels.core.job import Job
from kernels.cuda import nvrtc
from kernels.cuda.nvrtc import Resources
from kernels.rungs.rung import Rung, ladder, list_ladder
from tests.conftest import ROOT

KEPT = Path(__file__).with_suffix(".json")
compile_anew = nvrtc.compile_rung  # whatever a test puts in its place


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a `Compiled`."""

    resources: tuple[Resources, ...]


def compile_rung(rung: Rung, job: Job, architecture: int) -> Kept:
    """Do as `nvrtc.compile_rung` does, unless it was done before."""
    if (rows := kept().get(digest(rung, job, architecture))) is not None:
        return Kept(tuple(Resources(*row) for row in rows))
    return Kept(compile_anew(rung, job, architecture).resources)


@cache
def kept() -> dict[str, list[list[str | int]]]:
    """Return the fields of each function's `Resources`, by the digest of what was compiled."""
    text = KEPT.read_text(encoding="utf-8") if KEPT.exists() else "{}"
    found: dict[str, list[list[str | int]]] = json.loads(text)
    return found


def digest(rung: Rung, job: Job, architecture: int) -> str:
    """Return what stands for all that the compiler is given, and for the compiler."""
    compiler = nvrtc.compiler_for(architecture)
    assert compiler is not None
    options = nvrtc.options_for(rung, job, architecture)
    words = "\0".join((*map(str, compiler.version), *options, rung.text))
    return hashlib.sha256(words.encode()).hexdigest()[:20]


def ladder_tables() -> ModuleType:
    """Return `packaging/ladder_tables.py`, which is a script and no member of a package."""
    path = ROOT / "packaging" / "ladder_tables.py"
    spec = importlib.util.spec_from_file_location("ladder_tables", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_of_them() -> Iterator[tuple[Rung, Job, int]]:
    """Return what the tests compile: for the ladder's table, and for spills, also of the longest
    transform."""
    from tests.kernels.rungs.test_rungs_compile import ARCHITECTURES, compilations
    from tests.kernels.rungs.test_spectra import RUNGS, a_large_job

    script = ladder_tables()
    for rung in (*ladder(), *list_ladder()):
        for architecture in ARCHITECTURES:
            job = script.usual_job(rung)
            if job is not None and script.applies(rung, architecture):
                yield rung, job, architecture
    for each in compilations():
        if not each.marks:
            yield each.values
    for architecture in ARCHITECTURES[1:]:
        yield RUNGS["fft_registers"], a_large_job("fft_registers"), architecture


def main() -> None:
    found = {}
    for rung, job, architecture in all_of_them():
        if nvrtc.compiler_for(architecture) is not None:
            made = compile_rung(rung, job, architecture).resources
            found[digest(rung, job, architecture)] = [astuple(each) for each in made]
    lines = (f"{json.dumps(key)}: {json.dumps(found[key])}" for key in sorted(found))
    KEPT.write_text("{{\n{}\n}}\n".format(",\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
