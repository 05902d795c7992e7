"""Sentences on a kernel's instructions: what a line becomes, and what two versions differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kernels.cuda.listing_changes import Changes, kind_of
from kernels.cuda.listings import Row
from workbench.session.kernel_code import KernelCode
from workbench.session.ptx import resources_in_words

MAX_KINDS = 10  # that a sentence lists
TOO_LONG = "There are too many to compare them row by row."


def caption_words(code: KernelCode) -> str:
    """Return what the text was compiled for, and takes."""
    return f"sm_{code.architecture} · {resources_in_words(code.compiled)}"


def changes_words(changes: Changes, other: str) -> str:
    """Say what a listing differs in; other: from what, as "at the last save"."""
    total, new, gone = changes.count, changes.marked("+"), changes.marked("−")
    changed = [each for each in changes.kinds if each.before != each.now]
    if changes.is_by_row and not (changed or new or gone):
        return f"{_instructions(total.now)}, the same as {other}."
    parts = [f"{each.kind} {each.before} → {each.now}" for each in changed[:MAX_KINDS]]
    if len(changed) > MAX_KINDS:
        parts.append(f"and {len(changed) - MAX_KINDS} kinds more")
    kinds = f": {', '.join(parts)}" if parts else ", as many of each kind"
    rows = f"{new:,} new, {gone:,} gone." if changes.is_by_row else TOO_LONG
    return f"{_instructions(total.now)}, {total.before:,} {other}{kinds}. {rows}"


def line_words(rows: Iterable[Row], line: int) -> str:
    """Say what instructions a line of the source became, which are `rows`."""
    kinds = Counter(kind_of(row.opcode) for row in rows)
    if not kinds:
        return f"Line {line}: no instructions."
    most = [f"{count} {kind}" for kind, count in kinds.most_common(MAX_KINDS)]
    more = [f"{len(kinds) - MAX_KINDS} kinds more"] if len(kinds) > MAX_KINDS else []
    return f"Line {line}: {_instructions(kinds.total())}: {', '.join([*most, *more])}."


def row_words(row: Row, file: str) -> str:
    """Say where an instruction comes from that stands in a header; empty: it stands in `file`."""
    if not row.places or row.places[0].file == file:
        return ""
    innermost, line = row.places[0], row.line_in(file)
    called = f", called in line {line}" if line else ""
    return f"From {innermost.file}, line {innermost.line}{called}."


def _instructions(count: int) -> str:
    return f"{count:,} instruction{'' if count == 1 else 's'}"
