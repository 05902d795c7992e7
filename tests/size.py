"""The size of the code beside its bounds: `make size`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("workbench", "kernels", "packaging")
SUFFIXES = (".py", ".cu", ".cuh", ".cpp", ".h", ".j2", ".qss")
MAX_LINES, MAX_FILES, MAX_TEST_LINES = 97_000, 400, 65_300
ROW = re.compile(r"^\| `(\w+)/` \| .* \| ([\d,]+|lines) \|$", re.MULTILINE)


def budgets() -> dict[str, int]:
    """Lines that ARCHITECTURE.md allows each room, by its folder."""
    found, package = {}, ""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name, lines in ROW.findall(text):
        if lines == "lines":  # the head of a package's table
            package = f"{name}/"
        elif name in PRODUCT:
            found[name] = int(lines.replace(",", ""))
        else:
            found[f"{package}{name}"] = int(lines.replace(",", ""))
    return found


def sources(*folders: str) -> Iterator[Path]:
    """Source files in these folders."""
    for folder in folders:
        yield from (each for each in (ROOT / folder).rglob("*") if each.suffix in SUFFIXES)


def lines_in(*folders: str) -> int:
    """Lines of all source files in these folders."""
    return sum(each.read_bytes().count(b"\n") for each in sources(*folders))


def main() -> None:
    files = sum(each.suffix == ".py" for each in sources(*PRODUCT))
    rows = [
        (", ".join(PRODUCT), lines_in(*PRODUCT), MAX_LINES),
        ("Python files there", files, MAX_FILES),
        ("tests", lines_in("tests"), MAX_TEST_LINES),
        *((room, lines_in(room), budget) for room, budget in budgets().items()),
    ]
    print(f"{'':<32}{'now':>9}{'at most':>9}")  # noqa: T201
    for name, now, most in rows:
        print(f"{name:<32}{now:>9,}{most:>9,}{'  too many' * (now > most)}")  # noqa: T201


if __name__ == "__main__":
    main()
