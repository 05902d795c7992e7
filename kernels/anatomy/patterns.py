"""The registry of patterns: what every thread of a block loads and stores, by name.

`anatomy = "tiles.flat"` in a header is the function `flat` of `from_tiles`: (Scene) -> Threads. It
is written to match the rungs' text: a test runs that text and compares all addresses.  A pass
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
    """Return the pattern of the pass that `shape` belongs to; None if it is not described."""
    name, facts = rung.passes[shape.number].anatomy, Facts(job)
    if not name:
        return None
    return Pattern(lambda block: patterns()[name](Scene(facts, shape, block)), shape.covers)


@cache
def patterns() -> dict[str, Make]:
    """Return all patterns by the names that headers use; the folder is the registry."""
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
    """Return a sentence about a pattern or layout that does not exist; None if all do."""
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
