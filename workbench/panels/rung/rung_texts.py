"""The source text of an implementation: its own file first, then the headers it is written in."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from kernels.engine.engine import Implementation
from kernels.rungs.device_text import LADDER
from kernels.rungs.headers import BEGIN, END
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung
from workbench.widgets.code_view import Language, SourceText


def sources(implementation: Implementation) -> tuple[SourceText, ...]:
    """Return what there is to read of `implementation`: its own file, then headers."""
    if not isinstance(implementation, Rung | BrokenRung):
        return _module(implementation.key)
    names = ("prelude", *implementation.includes) if isinstance(implementation, Rung) else ()
    headers = tuple(f"{name}.cuh" for name in names)
    if isinstance(implementation, Rung) and is_own(implementation.key):
        text = implementation.source
        own = SourceText(implementation.file, text, "cuda", _first_line_of_code(text))
        return (own, *device_files(headers))
    return device_files((implementation.file, *headers))


@cache
def device_files(names: tuple[str, ...]) -> tuple[SourceText, ...]:
    """Return files of the ladder's folder."""
    return tuple(_read(LADDER, name, "cuda") for name in names)


@cache
def _module(key: str) -> tuple[SourceText, ...]:
    return (_read(files("kernels.cpu"), f"{key}.py", "python"),)


def _read(folder: Any, name: str, language: Language) -> SourceText:
    text = (folder / name).read_text(encoding="utf-8", errors="replace")
    return SourceText(name, text, language, _first_line_of_code(text))


def _first_line_of_code(text: str) -> int:
    """Return the number of the line, from 0, at which a rung's header is over."""
    if not text.startswith(BEGIN):
        return 0
    header, _, code = text.partition(END)
    return header.count("\n") + len(code) - len(code.lstrip("\n"))
