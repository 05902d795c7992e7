"""Chooses faults by a seed: the same ones as long as their functions stay."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from itertools import zip_longest
from pathlib import Path

from tests.mutation.operators import Mutant, compiles, mutants


def choose(root: Path, areas: list[str], count: int, seed: int) -> dict[str, list[Mutant]]:
    """Chooses `count` faults in all, spread over `areas` by their size, at most one a line."""
    all_of = {area: _in_area(root, area) for area in areas}
    lines = {area: len({(each.path, each.line) for each in all_of[area]}) for area in areas}
    total = sum(lines.values())
    return {
        area: _some(root, all_of[area], max(1, round(count * lines[area] / total)), seed)
        for area in areas
    }


def as_it_is_now(root: Path, mutant: Mutant) -> Mutant | None:
    """Finds the same fault where its file has changed; None where it can be planted no more."""
    path = root / mutant.path
    found = mutants(mutant.path, path.read_text(encoding="utf-8")) if path.is_file() else []
    return next((each for each in found if each.name == mutant.name), None)


def _in_area(root: Path, area: str) -> list[Mutant]:
    paths = sorted((root / area).rglob("*.py")) if (root / area).is_dir() else [root / area]
    return [
        mutant
        for path in paths
        for mutant in mutants(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    ]


def _some(root: Path, found: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """One of each kind in turn, so that rare ones come, too."""
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for each in sorted(found, key=lambda each: _rank(each, seed)):
        by_kind[each.kind].append(each)
    chosen: dict[tuple[str, int], Mutant] = {}
    for row in zip_longest(*by_kind.values()):
        for each in filter(None, row):
            text = (root / each.path).read_text(encoding="utf-8")
            if len(chosen) < count and compiles(each.planted(text)):
                chosen.setdefault((each.path, each.line), each)
        if len(chosen) >= count:
            break
    return list(chosen.values())


def _rank(mutant: Mutant, seed: int) -> str:
    return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()
