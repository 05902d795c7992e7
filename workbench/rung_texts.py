"""The source text of an implementation: its own file first, then the headers it is written in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from kernels.engine import Implementation
from kernels.rung import LADDER, Rung
from workbench.views.code_colours import Language
from workbench.views.code_view import Text


@cache
def source_files(key: str, headers: tuple[str, ...] | None) -> tuple[Text, ...]:
    """The files of the implementation `key`; headers None: a module of `kernels.host`."""
    if headers is None:
        return (_read(files("kernels.host"), f"{key}.py", "python"),)
    own = next(path.name for path in LADDER.glob("[0-9][0-9]_*.cu") if path.stem[3:] == key)
    names = (own, *(f"{name}.cuh" for name in headers))
    return tuple(_read(LADDER, name, "cuda") for name in names)


def sources(implementation: Implementation) -> tuple[Text, ...]:
    """What there is to read of `implementation`."""
    headers = ("prelude", *implementation.includes) if isinstance(implementation, Rung) else None
    return source_files(implementation.key, headers)


def _read(folder: Any, name: str, language: Language) -> Text:
    return Text(name, (folder / name).read_text(encoding="utf-8"), language)
