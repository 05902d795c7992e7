"""Which module imports which, read from the source: imports inside functions and those for type
checking count like any other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

Graph = Mapping[str, frozenset[str]]


def modules_of(root: Path, packages: Iterable[str]) -> dict[str, Path]:
    """Return every module below `root` in `packages`, by its dotted name."""
    found = {}
    for package in packages:
        for path in (root / package).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(modules: Mapping[str, Path]) -> Graph:
    """Return what each of `modules` imports of the others."""
    return {name: frozenset(_imported(path, modules)) - {name} for name, path in modules.items()}


def _imported(path: Path, modules: Mapping[str, Path]) -> Iterable[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            for each in node.names:
                full = f"{node.module}.{each.name}"
                if full in modules:
                    yield full
                elif node.module in modules:
                    yield node.module


def grouped(graph: Graph, group: Callable[[str], str]) -> Graph:
    """Return the graph of groups: one imports another where some module of it does."""
    found: dict[str, set[str]] = {}
    for name, others in graph.items():
        found.setdefault(group(name), set()).update(group(each) for each in others)
    return {name: frozenset(others - {name}) for name, others in found.items()}


def circles(graph: Graph) -> list[list[str]]:
    """Return the groups of more than one node that reach each other, by Tarjan's algorithm
    (Depth-first search and linear graph algorithms, 1972)."""
    return [sorted(each) for each in _components(graph) if len(each) > 1]


def storeys(graph: Graph) -> int:
    """Return how many nodes the longest path has, a circle counted as one node."""
    components = _components(graph)  # what is imported comes before what imports it
    home = {name: at for at, each in enumerate(components) for name in each}
    height: list[int] = []
    for at, each in enumerate(components):
        below = {home[other] for name in each for other in graph[name]} - {at}
        height.append(1 + max((height[other] for other in below), default=0))
    return max(height)


def _components(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components, what is imported first."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            at = stack.index(name)
            found.append(stack[at:])
            del stack[at:]

    for name in sorted(graph):
        if name not in number:
            visit(name)
    return found
