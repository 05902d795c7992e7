"""Words for what a run of a kernel loads, stores and computes: those of the anatomy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kernels.cuda_on_cpu.run_counts import LineCount, RunCounts
from workbench.panels.kernel.facts_card import FactRow

SHARED = "shared memory"
TRANSACTION_BYTES = 128  # of shared memory, at most: one word of each bank
OPERATIONS = ("multiply-adds", "multiplications", "additions", "divisions and roots")
AS_WRITTEN = "Counted on a smaller part, as the text has it: no compiler has spared anything."
LOADS_TIP = f"Bytes loaded from global memory for each sample that it computes. {AS_WRITTEN}"
STORES_TIP = f"Bytes stored in global memory for each sample that it computes. {AS_WRITTEN}"
OPERATIONS_TIP = f"Of float32, for each sample that it computes. {AS_WRITTEN}"
SECTORS_TIP = (
    "Sectors of 32 bytes that a warp's request to global memory touches, on average: four hold "
    "32 floats side by side, one 32 bytes."
)
CONFLICTS_TIP = (
    "Transactions that a warp's request to shared memory takes: more than one where lanes want "
    "different words of one bank."
)


def count_rows(counts: RunCounts, sample_bytes: int) -> list[FactRow]:
    """Return what was counted, for a picture whose samples have so many bytes; [] for nothing."""
    samples = counts.stored.get("picture", 0) / sample_bytes
    if not samples:
        return []
    outside = [each for each in counts.lines if each.array != SHARED and each.requests]
    shared = [each for each in counts.lines if each.array == SHARED and each.requests]
    rows = [
        FactRow("Loads", _per_sample(counts.loaded, samples), LOADS_TIP),
        FactRow("Stores", _per_sample(counts.stored, samples), STORES_TIP),
        FactRow("Operations", _operations(counts.operations, samples), OPERATIONS_TIP),
        FactRow("Sectors", _sectors(outside), SECTORS_TIP),
        FactRow("Bank conflicts", _conflicts(shared), CONFLICTS_TIP),
    ]
    return [row for row in rows if row.words]


class LineWords(NamedTuple):
    """The loads and stores of one line: in short, and a sentence for each array."""

    short: str
    sentences: str


def line_words(counts: RunCounts, sample_bytes: int) -> dict[int, LineWords]:
    """Return what stands beside each line of the text, counted from 1; {} for nothing."""
    stored = (each.bytes for each in counts.lines if each.is_store and each.array == "picture")
    samples = sum(stored) / sample_bytes  # of the blocks that were looked at
    if not samples:
        return {}
    found: dict[int, list[LineCount]] = {}
    for each in counts.lines:
        if each.line is not None and each.requests:
            found.setdefault(each.line, []).append(each)
    return {
        line: LineWords(
            f"{_rate(sum(each.bytes for each in parts) / samples)} B",
            "\n".join(_sentence(each, samples) for each in parts),
        )
        for line, parts in found.items()
    }


def _sentence(count: LineCount, samples: float) -> str:
    """Return "Loads 25 B of picture per sample, 2.9 sectors per request."."""
    does = "Stores" if count.is_store else "Loads"
    cost = "transactions" if count.array == SHARED else "sectors"
    return (
        f"{does} {_rate(count.bytes / samples)} B of {count.array} per sample, "
        f"{_rate(_ratio(count))} {cost} per request."
    )


def _per_sample(each_bytes: Mapping[str, int], samples: float) -> str:
    """Return "picture 2.1 B, sums 6 B per sample"; empty where there is nothing."""
    parts = [f"{name} {_rate(count / samples)} B" for name, count in each_bytes.items() if count]
    return f"{', '.join(parts)} per sample" if parts else ""


def _operations(operations: Sequence[int] | None, samples: float) -> str:
    if operations is None:
        return ""
    named = zip(operations, OPERATIONS, strict=True)
    parts = [f"{_rate(count / samples)} {name}" for count, name in named if count]
    return f"{', '.join(parts)} per sample" if parts else "none"


def _sectors(lines: Sequence[LineCount]) -> str:
    if not lines:
        return ""
    average = sum(each.cost for each in lines) / sum(each.requests for each in lines)
    worst = max(lines, key=_ratio)
    return f"{_rate(average)} per request{_most(worst, average)}"


def _conflicts(lines: Sequence[LineCount]) -> str:
    if not lines:
        return ""
    worst = max(lines, key=_turns)
    if _turns(worst) <= 1:
        return "none"
    average = sum(each.cost for each in lines) / sum(each.requests for each in lines)
    return f"{_rate(average)} transactions per request{_most(worst, average)}"


def _most(line: LineCount, average: float) -> str:
    """Return ", most in line 34: 2.9" where one line differs from the average."""
    if line.line is None or _rate(_ratio(line)) == _rate(average):
        return ""
    return f", most in line {line.line}: {_rate(_ratio(line))}"


def _ratio(line: LineCount) -> float:
    return line.cost / line.requests


def _turns(line: LineCount) -> float:
    """Return how many times as many transactions it takes as its bytes need."""
    return _ratio(line) / max(1.0, line.bytes / line.requests / TRANSACTION_BYTES)


def _rate(number: float) -> str:
    """Return a number with two decimals where it is small: "2.06", "25"."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.2g}"
