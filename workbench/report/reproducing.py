"""The exact commands that measure a session again and write this report again."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from kernels.sweeps.presets import presets

from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml
from kernels.sweeps.record import Session


@dataclass(frozen=True, slots=True)
class Commands:
    """lines  to type, in order
    file   what the plan's file is called; "" where a preset is it
    toml   what stands in that file
    """

    lines: tuple[str, ...]
    file: str = ""
    toml: str = ""


def commands_for(session: Session) -> Commands:
    """Of the preset that the plan is, or of its own file."""
    preset = next((each.key for each in presets() if each.plan == session.plan), None)
    name = preset or _file_stem(session.plan)
    what = preset or f"{name}.toml"
    lines = (
        f"workbench sweep {shlex.quote(what)} --out {name}",
        f"workbench report {name} --out {name}",
    )
    if preset:
        return Commands(lines)
    return Commands(lines, what, as_toml(session.plan))


def _file_stem(plan: Plan) -> str:
    """ "Image size" as image-size: letters and digits that any shell takes as they are."""
    return re.sub(r"[^a-z0-9]+", "-", plan.title.lower()).strip("-") or "plan"
