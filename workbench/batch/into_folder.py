"""Files, names and a folder: a batch as the command line and the window ask for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from workbench.base.same_file import identity
from workbench.batch.naming import Naming, PairingError, by_pattern, with_extension
from workbench.batch.pairs import Pairs, pairs_of
from workbench.files.format_names import EXTENSION_OF
from workbench.model.state import State


def pairs_into(
    inputs: Sequence[Path], folder: Path, *, recursive: bool = False, rename: Naming = str
) -> Pairs:
    """Return which file in `folder` each input is written to.

    Raises PairingError rather than lose a picture.
    """
    if os.path.isdir(folder) and identity(folder) in map(identity, inputs):  # noqa: PTH112
        raise PairingError(f"{folder} is a folder of inputs; write to another one.")
    output = os.path.join(folder, "")  # noqa: PTH118 - a folder, whether it is there or not
    return pairs_of(inputs, output, recursive=recursive, rename=rename)


def naming(pattern: str | None, format_name: str | None, chosen: State) -> Naming:
    """Return what names results.

    pattern      as `by_pattern` has it; None: each is called as its picture
    format_name  one of EXTENSION_OF; None: as the picture's
    chosen       whose filter and size may stand in the pattern

    Raises PairingError where the pattern makes no sense.
    """
    extension = EXTENSION_OF[format_name] if format_name is not None else None
    if pattern is None:
        return with_extension(extension)
    return by_pattern(pattern, {"filter": chosen.filter, "size": str(chosen.ksize)}, extension)
