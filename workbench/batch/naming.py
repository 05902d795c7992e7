"""Names of results, made from the names of their pictures: "{stem}_{filter}.png"."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePath
from string import Formatter

from workbench.files.image_files import EXTENSIONS

Naming = Callable[[str], str]  # from a picture's name to its result's, both without their folders
OF_THE_PICTURE = ("stem", "ext")


class PairingError(Exception):
    """Inputs and output do not fit together.  str(error) is one sentence for the user."""


def with_extension(extension: str | None) -> Naming:
    """Return what puts `extension` in the place of a name's own; None: it leaves the name alone."""
    if extension is None:
        return str
    return lambda name: os.path.splitext(name)[0] + extension  # noqa: PTH122 - much quicker


def by_pattern(pattern: str, values: Mapping[str, str], extension: str | None = None) -> Naming:
    """Return what makes a result's name by `pattern`.

    pattern    such as "{stem}_{filter}.png": {stem} and {ext} are the picture's; a pattern that
               names no format gets an extension
    values     what else may stand in braces, by its name
    extension  that it gets; None: the picture's own

    Raises PairingError where the pattern makes no sense.
    """
    _refuse_unknown(pattern, (*OF_THE_PICTURE, *values))
    if PurePath(pattern).name != pattern or os.sep in pattern:
        raise PairingError(
            f"The name {pattern} is one within the output folder, so no / can stand in it."
        )
    if pattern.endswith(".{ext}") or PurePath(pattern).suffix.lower() in EXTENSIONS:
        if extension is not None:
            raise PairingError(
                f"The name {pattern} says the format already; choose none beside it."
            )
        return partial(_named, pattern, values)
    return partial(_named, f"{pattern}{extension or '.{ext}'}", values)


def _named(pattern: str, values: Mapping[str, str], name: str) -> str:
    stem, dot_ext = os.path.splitext(name)  # noqa: PTH122 - much quicker
    return pattern.format(stem=stem, ext=dot_ext[1:], **values)


def _refuse_unknown(pattern: str, known: tuple[str, ...]) -> None:
    try:
        parts = list(Formatter().parse(pattern))
    except ValueError:
        parts = [("", "", "", None)]
    for _, field, form, conversion in parts:
        if field is not None and (field not in known or form or conversion):
            names = ", ".join(f"{{{each}}}" for each in known)
            raise PairingError(
                f"The name {pattern} has braces around something else than {names}; write {{{{ and "
                "}} for braces themselves."
            )
