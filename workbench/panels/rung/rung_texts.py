"""The source text of an implementation: its own file first, then the headers it is written in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from kernels.engine.engine import Implementation
from kernels.rungs.device_text import LADDER
from kernels.rungs.rung import BrokenRung, Rung
from workbench.widgets.code_colours import Language
from workbench.widgets.code_view import SourceText


def sources(implementation: Implementation) -> tuple[SourceText, ...]:
    """Return what there is to read of `implementation`: its own file, then headers."""
    if not isinstance(implementation, Rung | BrokenRung):
        return _module(implementation.key)
    headers = ("prelude", *implementation.includes) if isinstance(implementation, Rung) else ()
    return device_files((implementation.file, *(f"{name}.cuh" for name in headers)))


@cache
def device_files(names: tuple[str, ...]) -> tuple[SourceText, ...]:
    """Return files of the ladder's folder."""
    return tuple(_read(LADDER, name, "cuda") for name in names)


@cache
def _module(key: str) -> tuple[SourceText, ...]:
    return (_read(files("kernels.cpu"), f"{key}.py", "python"),)


def _read(folder: Any, name: str, language: Language) -> SourceText:
    return SourceText(name, (folder / name).read_text(encoding="utf-8", errors="replace"), language)
