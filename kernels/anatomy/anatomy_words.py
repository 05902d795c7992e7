"""Sentences on the anatomy of a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kernels.anatomy.launch_shapes import Block, Shape
from kernels.anatomy.record import TILE, Access, Idle, Record, Traffic
from kernels.anatomy.transactions import WORD_BYTES, Coalescing, Conflicts
from kernels.rungs.rung import Rung

NO_LANE = "No lane of this warp takes part here."


def grid_words(shape: Shape) -> str:
    """Blocks of the grid, and threads and warps of each."""
    (across, down), (x, y) = shape.grid, shape.block
    blocks = f"Blocks: {across:,} × {down:,} = {shape.blocks:,}"
    return f"{blocks}, each of {x} × {y} = {shape.threads:,} threads (warps: {shape.warps})."


def block_words(shape: Shape, block: Block) -> str:
    """Samples that one block computes, and those that it needs for that."""
    tile = shape.tile(block)
    own = tile.clipped(shape.picture)
    samples, rows = span("sample", own.left, own.right), span("row", own.top, own.bottom)
    beyond = 100 * (tile.count - own.count) / tile.count
    more = f"; {beyond:.2g} % of its tile is beyond the picture" if beyond else ""
    words = f"Block {block} computes {samples} of {rows}: {own.count:,} samples{more}."
    across, down = shape.halo
    if shape.layout is not None:
        return words
    if not across and not down:
        return f"{words} It needs no halo."
    whole = own.grown(across, down)
    beyond = whole.count - whole.clipped(shape.picture).count
    return (
        f"{words} With a halo of {across} × {down} around it, it reads {whole.width:,} × "
        f"{whole.height:,} = {whole.count:,} samples, {whole.count / own.count:.2f} per sample "
        f"that it computes; {beyond:,} of them are beyond the picture."
    )


def load_words(traffic: Traffic, reads: str) -> str:
    """Numbers and bytes that a block loads from global memory."""
    name = "samples" if reads == "picture" else f"numbers of the buffer “{reads}”"
    return (
        f"The block loads {traffic.asked:,} {name} from global memory, {traffic.loaded_bytes:,} "
        f"bytes; {traffic.different:,} of them are different."
    )


def share_words(traffic: Traffic) -> str:
    """Bytes in shared memory, and how often each number is used."""
    if traffic.read_bytes:
        uses = traffic.read_bytes / traffic.stored_bytes
        return (
            f"The block's threads store {traffic.stored_bytes:,} bytes in shared memory and read "
            f"{traffic.read_bytes:,}: each byte is read {uses:.1f} times on average."
        )
    uses = traffic.asked / max(traffic.different, 1)  # a cache may serve them
    return f"No shared memory: each number is loaded {uses:.2f} times on average."


def loads_words(loads: float, plain: float) -> str:
    """Samples loaded per sample computed, beside those of the plain kernel."""
    own, its = (f"{each:,.1f}".removesuffix(".0") for each in (loads, plain))
    return f"{own} loads per sample; the plain kernel {its}"


def idle_words(idle: Idle | None) -> str:
    """Threads that store nothing, in the block and in the picture; None: not counted yet."""
    if idle is None:
        return "Counting idle threads …"
    percent = 100 * idle.in_all / idle.threads
    share = f"{idle.in_all:,} of {idle.threads:,} threads ({percent:.2g} %)"
    return f"Idle: {share}, {idle.in_block:,} of them in this block."


def coalescing_words(step: Access, found: Coalescing) -> str:
    """Sectors and lines that a warp's access to global memory touches."""
    if not found.active:
        return NO_LANE
    ideal = "fully coalesced" if found.is_best else f"{found.least_sectors} × 32 would be ideal"
    touched = f"{found.sectors} × 32 bytes in {found.lines} × 128 bytes"
    return f"{_accesses(step, found.active)} touch {touched}: {ideal}."


def conflict_words(step: Access, found: Conflicts) -> str:
    """Transactions that a warp's access to shared memory takes."""
    if not found.active:
        return NO_LANE
    begin = f"{_accesses(step, found.active)}, transactions: {found.turns}"
    if found.is_best:
        return f"{begin}, no bank conflict."
    lanes = int(found.in_conflict.sum())
    return f"{begin} instead of {found.least_turns}: a bank conflict among {lanes} lanes."


def _accesses(step: Access, count: int) -> str:
    wide = f" of {step.size} bytes" if step.size > WORD_BYTES else ""
    return f"{'Stores' if step.is_store else 'Loads'}{wide} by {count} lanes"


def transform_words(record: Record) -> str:
    """Numbers that a block of a transform, which has no samples of its own, loads and stores."""
    sums: Counter[tuple[str, bool]] = Counter()
    for thread in range(record.shape.threads):
        sums.update(record.numbers_of(thread))
    return f"Block {record.block} {moves(sums)}."


def moves(counts: Mapping[tuple[str, bool], int]) -> str:
    """Verbs and objects for `Record.numbers_of`: "loads 9 numbers of “picture”"."""
    parts = [
        f"{'stores' if is_store else 'loads'} {count:,} number{'s' * (count != 1)} of “{name}”"
        for (name, is_store), count in counts.items()
        if name not in (TILE, "weights")
    ]
    return " and ".join(parts) or "loads and stores nothing"


def of_a_library(rung: Rung) -> str:
    """Launches that a rung leaves to a library; "" if none."""
    numbers = [str(n + 1) for n, each in enumerate(rung.passes) if each.library]
    words = f"Launches {' and '.join(numbers)} belong to cuFFT, whose threads are not known."
    return words if numbers else ""


def span(noun: str, begin: int, end: int) -> str:
    """Return "rows 3 to 5" for `begin` 3 and `end` 6."""
    return f"{noun} {begin:,}" if end == begin + 1 else f"{noun}s {begin:,} to {end - 1:,}"
