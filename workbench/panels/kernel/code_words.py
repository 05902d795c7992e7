"""Sentences on a kernel's instructions: what a line becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kernels.cuda.listings import Row
from kernels.cuda.sass_diff import kind_of
from workbench.session.kernel_code import KernelCode
from workbench.session.ptx import resources_in_words

MAX_KINDS = 10  # that a sentence lists


def caption_words(code: KernelCode) -> str:
    """Return what the text was compiled for, and takes."""
    return f"sm_{code.architecture} · {resources_in_words(code.compiled)}"


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
