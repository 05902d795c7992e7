"""The option --implementation where it names a kernel of the user's own, by its file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import is_own, read_own_kernel
from kernels.rungs.rung import Rung
from workbench.cli.command_error import CommandError


def named_kernel(arguments: Namespace) -> Path | None:
    """Return the file that --implementation names; None where that is no kernel's."""
    named = arguments.implementation
    return Path(named) if named is not None and is_own(named) else None


def read_named(path: Path) -> Rung:
    """Read the kernel in a file.  Raises CommandError where it makes none."""
    try:
        return read_own_kernel(path)
    except HeaderError as error:
        raise CommandError(str(error)) from error
