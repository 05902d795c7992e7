"""Which private members of the program the tests touch: `python -m tests.private_members`."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("kernels", "workbench")
# Of every named tuple and ctypes structure, and of os, in spite of their names.
PUBLIC = {"_fields", "_replace", "_asdict", "_exit"}
PRIVATE = re.compile(r"_[A-Za-z]\w*")


def touched() -> list[tuple[Path, int, str]]:
    """Return file, line and name of every private member of the program that a test names."""
    theirs = {name for path in _files(*PACKAGES) for name in _names(_parsed(path))}
    return [
        (path.relative_to(ROOT), line, name)
        for path in _files("tests")
        for line, name in _mentions(_parsed(path))
        if name in theirs and name not in PUBLIC
    ]


def _files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield the private names that a module of the program defines or reads."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name


def _mentions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name: of `thing._name`, of an import, and of a string for `monkeypatch`.

    A class of the tests' own may have private members; it reaches them through `self`.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) if PRIVATE.fullmatch(name):
                yield node.lineno, name
            case ast.ImportFrom(names=names):
                yield from ((node.lineno, n.name) for n in names if PRIVATE.fullmatch(n.name))
            case ast.Constant(value=str(text)) if PRIVATE.fullmatch(text.rpartition(".")[2]):
                yield node.lineno, text.rpartition(".")[2]


if __name__ == "__main__":
    found = touched()
    for path, line, name in found:
        print(f"{path}:{line}: {name}")  # noqa: T201
    by_folder = Counter(path.parent.as_posix() for path, _, _ in found)
    for folder, count in by_folder.most_common():
        print(f"{count:4} {folder}")  # noqa: T201
    print(f"{len(found)} in all")  # noqa: T201
