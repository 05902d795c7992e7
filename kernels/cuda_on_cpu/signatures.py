"""A check of what a kernel takes, made before it reads one argument for another."""

from __future__ import annotations

import re

from kernels.core.job import Job
from kernels.rungs.own_kernels import NUMBERS

KINDS = {"f": "float", "i": "integer", "u": "integer"}
POINTED = re.compile(r"p([a-z])(\d+)")


def why_not_signature(
    function: str, signature: str, reads: list[str], writes: str, weights: int, job: Job
) -> str:
    """Return the sentence that says what is wrong with its parameters; empty: nothing.

    signature  as cuda_cpu::signature has it: "pu1 pu1 pf4 i4 i4 i4 i4 i4"
    """
    expected = [*reads, writes, *["weights"] * weights, *NUMBERS]
    taken = signature.split()
    if len(taken) != len(expected):
        names = ", ".join([*(f"{name} to read" for name in reads), f"{writes} to write"])
        and_weights = ", weights" * weights
        return (
            f"{function} takes {_counted(len(taken))} and is handed {len(expected)}: {names}"
            f"{and_weights}, {', '.join(NUMBERS)}."
        )
    for place, (kind, name) in enumerate(zip(taken, expected, strict=True), 1):
        if reason := _why_not(kind, name, job):
            return f"{function} takes as argument {place} {reason}."
    return ""


def _why_not(kind: str, name: str, job: Job) -> str:
    if name in NUMBERS:
        if kind in ("i4", "u4"):
            return ""
        return f"{_described(kind)}, and is handed {name}, which is an int"
    pointed = POINTED.fullmatch(kind)
    if pointed is None:
        return f"{_described(kind)}, and is handed a pointer to {name}"
    size = int(pointed[2])
    if name == "picture" and pointed[1] in KINDS and size != job.picture.itemsize:
        return (
            f"a pointer to numbers of {size * 8} bits, and is handed one to the picture's samples, "
            f"which are {job.pixel_type}"
        )
    return ""


def _described(kind: str) -> str:
    if kind.startswith("p"):
        return "a pointer"
    if kind[0] in KINDS:
        article = "an" if kind[0] in "iu" else "a"
        return f"{article} {KINDS[kind[0]]} of {int(kind[1:]) * 8} bits"
    return "an object"


def _counted(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"
