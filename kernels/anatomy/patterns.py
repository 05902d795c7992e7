"""What every thread of a block loads and stores, step by step: found by the name in a header.

`anatomy = "tiles.flat"` is the function `flat` of `from_tiles`: (Scene) -> Threads, written
beside the rungs' text, and as it has it: a test runs that text and compares all addresses.  A pass
without that line is not described, nor is what a library launches.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from kernels import anatomy
from kernels.anatomy.launch_scene import Scene
from kernels.anatomy.layouts import LAYOUTS
from kernels.anatomy.pattern import Pattern, Threads
from kernels.anatomy.tile_shapes import Shape
from kernels.core.job import Job
from kernels.rungs.headers import header_of
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

Make = Callable[[Scene], Threads]

BEGIN = "from_"  # of the names of modules that hold patterns
SIGNATURE = ["Scene", "Threads"]


def pattern_of(rung: Rung, shape: Shape, job: Job) -> Pattern | None:
    """Return the pattern of the pass that `shape` is of; None: it is not described."""
    name, facts = rung.passes[shape.number].anatomy, Facts(job)
    if not name:
        return None
    return Pattern(lambda block: patterns()[name](Scene(facts, shape, block)), shape.covers)


@cache
def patterns() -> dict[str, Make]:
    """Return all there are, by the name that a header gives them: the folder is the registry."""
    return {
        f"{each.name.removeprefix(BEGIN)}.{name}": make
        for each in pkgutil.iter_modules(anatomy.__path__)
        if each.name.startswith(BEGIN)
        for name, make in vars(import_module(f"{anatomy.__name__}.{each.name}")).items()
        if _is_pattern(make, each.name) and not name.startswith("_")
    }


def _is_pattern(make: object, module: str) -> bool:
    if not inspect.isfunction(make) or not make.__module__.endswith(f".{module}"):
        return False
    return list(inspect.get_annotations(make).values()) == SIGNATURE


def why_not_told(rung: Rung) -> str | None:
    """Return the sentence about a name in the header that nothing is called by; None: all are."""
    for number, each in enumerate(rung.passes):
        for field, name, known in (
            ("anatomy", each.anatomy, list(patterns())),
            ("layout", each.layout, list(LAYOUTS)),
        ):
            if name and name not in known:
                near = get_close_matches(name, known, 1)
                what = f"there is no {field} {name}" + "".join(
                    f"; the nearest is {n}" for n in near
                )
                return str(header_of(rung.file, rung.source).error(what, field, number))
    return None
