"""The plans that come with the program: the folder is the registry, its numbers are the order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import read_plan

FOLDER = Path(__file__).parent / "presets"


@dataclass(frozen=True, slots=True)
class Preset:
    """A plan that comes with the program.

    key: the file's name without its number, "camerino_image_size".
    """

    key: str
    plan: Plan


@cache
def presets() -> tuple[Preset, ...]:
    """Return every plan of the folder: those that reproduce a publication first."""
    files = sorted(FOLDER.glob("[0-9][0-9]_*.toml"))
    return tuple(Preset(path.stem.partition("_")[2], read_plan(path)) for path in files)
