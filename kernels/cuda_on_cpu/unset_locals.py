"""Local variables that a kernel uses before it gives them a value: `float sum;` without `= 0`.

What they hold is by chance, on a GPU often zero.  Here it is a pattern that no kernel gets right
with; where another one makes another answer, the answer depends on such a variable.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

import numpy as np

from kernels.core.driving import run_with_progress
from kernels.core.job import Job, Progress
from kernels.cuda_on_cpu.building import BuildError, warnings
from kernels.cuda_on_cpu.children import Child
from kernels.cuda_on_cpu.compile_errors import diagnostics_of
from kernels.cuda_on_cpu.compiler import WARNED
from kernels.cuda_on_cpu.cpu_runs import Ended, built, default_cache, run_once
from kernels.cuda_on_cpu.device_code import generated, knobs_of
from kernels.cuda_on_cpu.shim import ZeroedShim
from kernels.rungs.cuda_text import without_comments
from kernels.rungs.rung import Rung

NAMED = re.compile(r"[‘'`]([^’']+)[’'].* uninitialized")
TYPES = r"float\d*|double|int|unsigned|char|short|bool|long|u?int\d+(?:_t)?|size_t|sample"
DECLARED = re.compile(rf"(?:^|[;{{}}])\s*(?:(?:{TYPES})\s+)+(\w[^;(){{}}]*);", re.M)
DEPENDS = "and the answer depends on what happens to be there"


def unset_in_words(
    child: Child, rung: Rung, ended: Ended, seconds: float
) -> Generator[Progress, None, tuple[str, int | None]]:
    """Return the variable that a wrong answer depends on, in a sentence, and its line.

    Empty where it depends on none.
    """
    library = yield from built(ZeroedShim, rung, ended.job)
    if isinstance(library, BuildError):  # a compiler that knows no such option
        return "", None
    zeroed = yield from run_once(child, ZeroedShim, rung, ended.job, library, seconds)
    if ended.answer is None or zeroed.answer is None or _are_equal(ended, zeroed):
        return "", None
    warned = yield from _warned(rung, ended.job)
    for line, name in warned.items():
        return f"Line {line}: {name} is used before it was given a value, {DEPENDS}.", line
    return _of_declared(rung)


def with_unset(
    rung: Rung, job: Job, sentence: str, line: int | None
) -> Generator[Progress, None, str]:
    """Return the sentence for a fault on a line, with the variable that has no value there."""
    if line is None:
        return sentence
    warned = yield from _warned(rung, job)
    if line not in warned:
        return sentence
    return f"{sentence} {warned[line]} is used there before it was given a value."


def _are_equal(one: Ended, other: Ended) -> bool:
    assert one.answer is not None
    assert other.answer is not None
    return np.array_equal(one.answer.view(np.uint8), other.answer.view(np.uint8))


def _warned(rung: Rung, job: Job) -> Generator[Progress, None, dict[int, str]]:
    """Return the variables that the compiler warns of, by the line of the rung's file."""
    text = generated(rung, [knobs_of(rung, job)])
    doing = Progress(f"looking for variables of {rung.title} without a value")
    try:
        said = yield from run_with_progress(warnings(text, WARNED, default_cache()), doing)
    except (BuildError, OSError):
        return {}
    found: dict[int, str] = {}
    for each in diagnostics_of(said, rung):
        if each.file == rung.file and (named := NAMED.search(each.text)):
            found.setdefault(each.line, _short(named[1]))
    return dict(sorted(found.items()))


def _short(name: str) -> str:
    """Return a name without what it lies in: "s.a" for "s.convolve(int)::S::a"."""
    of, dot, member = name.partition(".")
    return f"{of}{dot}{member.rpartition('::')[2]}"


def _of_declared(rung: Rung) -> tuple[str, int | None]:
    """Return the sentence where the compiler has no word: which are declared without a value."""
    found = dict(_declared(without_comments(rung.source)))
    if len(found) == 1:
        (name, line) = next(iter(found.items()))
        return f"Line {line}: {name} is not given a value on every way to its use, {DEPENDS}.", line
    names = " or ".join(f"{name} (line {line})" for name, line in found.items())
    return f"{names or 'A variable'} is used before it was given a value, {DEPENDS}.", None


def _declared(code: str) -> Iterator[tuple[str, int]]:
    """Yield the names that are declared without a value, and their lines."""
    for each in DECLARED.finditer(code):
        line = code.count("\n", 0, each.start(1)) + 1
        for declared in each[1].split(","):
            if "=" not in declared and (name := re.search(r"\w+", declared)):
                yield name[0], line
