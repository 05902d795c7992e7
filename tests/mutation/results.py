"""Keeps what became of each fault, a line of JSON each, and says it."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutation.operators import Mutant


@dataclass(frozen=True, slots=True)
class Result:
    """`noticed_by` is a test, "a hang", "a crash", or "" for a survivor."""

    area: str
    mutant: Mutant
    noticed_by: str
    tests: int
    seconds: float


def append(path: Path, result: Result) -> None:
    """Adds one result; a run that is ended goes on after it."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def read(path: Path) -> dict[str, Result]:
    """Reads the last result of each fault, by the fault's name."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        values = json.loads(line)
        result = Result(**{**values, "mutant": Mutant(**values["mutant"])})
        found[result.mutant.name] = result
    return found


def table(results: list[Result]) -> str:
    """Says by area how many were planted, noticed and survived."""
    rows = [f"{'':28}{'planted':>9}{'noticed':>9}{'survived':>10}"]
    for area in [*dict.fromkeys(each.area for each in results), ""]:
        some = [each for each in results if not area or each.area == area]
        lived = sum(not each.noticed_by for each in some)
        share = f"{lived / len(some):6.0%}" if some else ""
        name = area or "in all"
        rows.append(f"{name:28}{len(some):9}{len(some) - lived:9}{lived:10}{share}")
    return "\n".join(rows)


def survivor(root: Path, result: Result) -> str:
    """Says where a fault survived, with its difference."""
    mutant = result.mutant
    tests = f"{result.tests} tests" if result.tests else "no test enters it"
    head = f"{mutant.path}:{mutant.line}  {mutant.kind}  ({mutant.function or 'module'}; {tests})"
    try:
        text = (root / mutant.path).read_text(encoding="utf-8")
        lines = difflib.unified_diff(
            text.splitlines(), mutant.planted(text).splitlines(), n=0, lineterm=""
        )
    except (OSError, ValueError) as error:
        return f"{head}\n  {error}"
    return "\n".join([head, *(f"  {line}" for line in [*lines][2:] if not line.startswith("@@"))])
