"""Kernels of the user's own in the plan of `workbench sweep`: named by their files, and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kernels.rungs.own_kernels import is_own
from kernels.sweeps.cell_jobs import Texts
from kernels.sweeps.own_texts import with_texts
from kernels.sweeps.plan import Plan
from workbench.cli.command_error import USAGE, CommandError
from workbench.cli.own_kernel_option import read_named


def with_kernels(plan: Plan, names: Sequence[str], folder: Path) -> tuple[Plan, Texts]:
    """Return `plan` with these implementations, files among them, and the texts in those.

    folder  that files are named from
    Raises CommandError for a file that makes no kernel, and for two of one name.
    """
    files = {name: folder / name for name in names if is_own(name)}
    keys = [files[name].name if name in files else name for name in names]
    if twice := [key for key in keys if keys.count(key) > 1 and is_own(key)]:
        raise CommandError(
            f"Two kernels are called {twice[0]}, and tables would not tell them apart; rename one.",
            USAGE,
        )
    planned = replace(plan, implementations=tuple(keys))
    return with_texts(planned, map(read_named, files.values()))
