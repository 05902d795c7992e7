"""The exact commands that measure a session again and write this report again."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import as_toml
from kernels.sweeps.presets import presets
from kernels.sweeps.record import Session


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands to type.

    lines  to type, in order
    file   what the plan's file is called; "" where a preset is it
    toml   what stands in that file
    """

    lines: tuple[str, ...]
    file: str = ""
    toml: str = ""


def commands_for(session: Session) -> Commands:
    """Return the commands of the preset that the plan is, or of a file of its own.

    A preset perhaps with options.
    """
    for preset in presets():
        if (options := _options(session.plan, preset.plan)) is not None:
            return Commands(_lines(preset.key, preset.key, options))
    stem = _file_stem(session.plan)
    file = f"{stem}.toml"
    return Commands(_lines(file, stem, ""), file, as_toml(session.plan))


def _lines(what: str, folder: str, options: str) -> tuple[str, ...]:
    return (f"workbench sweep {what}{options} --out {folder}", f"workbench report {folder}")


def _options(plan: Plan, preset: Plan) -> str | None:
    """Return what has to be said beside the preset's name; None where that is not enough."""
    implementations, seconds = plan.implementations, plan.cell_seconds
    like = replace(
        preset,
        implementations=implementations,
        cell_seconds=seconds,
        own_texts=plan.own_texts,
    )
    if like != plan:
        return None
    options = ""
    if implementations != preset.implementations:
        options += f" --implementations {','.join(implementations)}"
    if seconds != preset.cell_seconds:
        options += f" --seconds {seconds:g}"
    return options


def _file_stem(plan: Plan) -> str:
    """Return "Image size" as image-size: letters and digits that any shell takes."""
    return re.sub(r"[^a-z0-9]+", "-", plan.title.lower()).strip("-") or "plan"
