"""Sentences on the anatomy of a launch."""

from __future__ import annotations

from collections.abc import Mapping

from kernels.anatomy.launch_shapes import Block, Shape
from kernels.anatomy.record import TILE, Access, Idle, Record, Traffic
from kernels.anatomy.transactions import WORD_BYTES, Coalescing, Conflicts
from kernels.rungs.rung import Rung


def grid_words(shape: Shape) -> str:
    """Say how many blocks there are, and how many threads and warps each has."""
    (across, down), (x, y) = shape.grid, shape.block
    blocks = f"{across:,} × {down:,} = {shape.blocks:,} blocks" if shape.blocks > 1 else "One block"
    warps = f"{shape.warps} warp{_s(shape.warps)}"
    return f"{blocks} of {x} × {y} = {shape.threads:,} threads, {warps} each."


def block_words(shape: Shape, block: Block) -> str:
    """Say what one block computes."""
    tile = shape.tile(block)
    own = tile.clipped(shape.picture)
    beyond = tile.count - own.count
    words = (
        f"Block {block} computes {span('sample', own.left, own.right)} of "
        f"{span('row', own.top, own.bottom)}"
    )
    if beyond:
        return f"{words}; {100 * beyond / tile.count:.2g} % of its tile is beyond the picture."
    return f"{words}: {own.count:,} samples."


def halo_words(shape: Shape, block: Block) -> str:
    """Say which samples a block needs for that."""
    if shape.halo == (0, 0):
        return "It needs no halo."
    own = shape.tile(block).clipped(shape.picture)
    whole = own.grown(*shape.halo)
    beyond = whole.count - whole.clipped(shape.picture).count
    across, down = shape.halo
    sides = [f"{_many(across, 'sample')} to either side"] if across else []
    sides += [f"{_many(down, 'row')} above and below"] if down else []
    words = (
        f"With its halo, {' and '.join(sides)}, it reads {whole.width:,} × {whole.height:,} = "
        f"{whole.count:,} samples: {whole.count / own.count:.2f} per sample that it computes"
    )
    verb = "lies" if beyond == 1 else "lie"
    return f"{words}; {beyond:,} {verb} beyond the picture." if beyond else f"{words}."


def load_words(traffic: Traffic, reads: str) -> str:
    """Say how many numbers and bytes a block loads from global memory."""
    name = "samples" if reads == "picture" else f"numbers of the buffer “{reads}”"
    size = f"The block loads {traffic.asked:,} {name} from global memory, "
    size += f"{traffic.loaded_bytes:,} bytes"
    if traffic.asked != traffic.different:
        return f"{size}; {traffic.different:,} of them are different."
    return f"{size}, each once."


def share_words(traffic: Traffic) -> str:
    """Say what a block keeps in shared memory, and how often each number is used."""
    if traffic.read_bytes:
        return (
            f"The block's threads store {traffic.stored_bytes:,} bytes in shared memory and read "
            f"{traffic.read_bytes:,}: each byte is read {traffic.uses:.1f} times on average."
        )
    if traffic.asked == traffic.different:
        return "Nothing is shared: no shared memory, and each number is loaded once."
    uses = f"{traffic.uses:.{2 if traffic.uses < 1.05 else 1}f}"
    return (
        f"Nothing is shared: each sample is loaded {uses} times on average; all but the first "
        "load should hit the cache."
    )


def loads_words(loads: float, plain: float) -> str:
    """Compare the samples loaded per sample computed with those of the plain kernel."""
    noun = "load" if _rate(loads) == "1" else "loads"
    if loads == plain:
        return f"{_rate(loads)} {noun} per sample: this is the plain kernel."
    return f"{_rate(loads)} {noun} per sample; the plain kernel {_rate(plain)}"


def counting_words() -> str:
    """Say that idle threads are still being counted."""
    return "Counting idle threads …"


def _rate(number: float) -> str:
    """Return a number with a decimal where it is small: "2.1", "25"."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"


def idle_words(idle: Idle) -> str:
    """Say how many threads store nothing, in the block and in the picture."""
    if not idle.in_all:
        return "No thread is idle."
    here = f"{idle.in_block:,} of them in this block" if idle.in_block else "none in this block"
    if idle.in_block == idle.in_all:
        here = "all in this block"
    share = f"{100 * idle.share:.2g}" if idle.share < 0.995 else "almost 100"
    return f"{idle.in_all:,} of {idle.threads:,} threads ({share} %) are idle, {here}."


def coalescing_words(step: Access, found: Coalescing) -> str:
    """Say what a warp's access to global memory touches, and whether it is coalesced."""
    if not found.active:
        return f"No lane of this warp {_does(step)} here."
    noun = ("store" if step.is_store else "load") + _s(found.active)
    if step.size > WORD_BYTES:
        noun += f" of {step.size} bytes"
    verb = "touches" if found.active == 1 else "touch"
    sectors = f"{_many(found.sectors, 'sector')} of 32 bytes in {_many(found.lines, 'line')} of 128"
    begin = f"The warp's {found.active} {noun} {verb} {sectors}"
    if found.is_best:
        return f"{begin}: fully coalesced."
    return f"{begin}; {_many(found.least_sectors, 'sector')} would be ideal."


def conflict_words(step: Access, found: Conflicts) -> str:
    """Say what a warp's access to shared memory meets."""
    if not found.active:
        return f"No lane of this warp {_does(step)} here."
    noun = ("store" if step.is_store else "read") + _s(found.active)
    own, lanes = f"The warp's {found.active} {noun}", int(found.in_conflict.sum())
    if found.active == 1 and found.turns == 1:
        return f"{own}: one transaction."
    if found.turns == 1:
        return f"{own}: no bank conflict, one transaction for all {found.active}."
    wide = f" of {step.size} bytes" if found.least_turns > 1 else ""
    takes = f"{own}{wide} take {found.turns} transactions"
    if found.is_best:
        return f"{takes}, {32 * 4 // step.size} lanes each; no bank conflict."
    if found.least_turns > 1:
        return (
            f"{takes} instead of {found.least_turns}, bank conflicts: {lanes} lanes want different "
            "words of the same bank."
        )
    return (
        f"{takes}, a {found.turns}-way bank conflict: {lanes} lanes want different words of the "
        "same bank."
    )


def not_drawn(problem: str) -> str:
    """Say why blocks, tiles and halos are drawn, and warps and lanes are not; empty: not yet."""
    if not problem:
        return "This block is being recorded on the CPU …"
    return f"Blocks, tiles and halos are drawn, warps and lanes are not: {problem}"


def transform_words(record: Record) -> str:
    """Say what a block of a transform, which has no samples of its own, loads and stores."""
    threads = range(record.shape.threads)
    each = [record.numbers_of(thread) for thread in threads]
    keys = dict.fromkeys(key for found in each for key in found if key[0] not in (TILE, "weights"))
    sums = {key: sum(found.get(key, 0) for found in each) for key in keys}
    return f"Block {record.block} {_moves(sums)}."


def thread_moves(record: Record, thread: int) -> str:
    """Say what one of its threads loads and stores."""
    found = {k: n for k, n in record.numbers_of(thread).items() if k[0] not in (TILE, "weights")}
    return _moves(found) if found else "loads and stores no number"


def _moves(counts: Mapping[tuple[str, bool], int]) -> str:
    parts = []
    for is_store, verb in ((False, "loads"), (True, "stores")):
        own = [
            _many(count, "sample") if name == "picture" else f"{_many(count, 'number')} of “{name}”"
            for (name, stores), count in counts.items()
            if stores == is_store
        ]
        parts += [f"{verb} {' and '.join(own)}"] if own else []
    return " and ".join(parts)


def no_shapes(rung: Rung) -> str:
    """Say that a rung has no pass whose blocks are on the picture."""
    return f"The blocks of {rung.title} have no place on the picture, so there is nothing to draw."


def of_a_library(rung: Rung) -> str:
    """Say which launches a rung leaves to a library; "" if none."""
    numbers = [str(n + 1) for n, each in enumerate(rung.passes) if each.library]
    if not numbers:
        return ""
    return (
        f"Launches {' and '.join(numbers)}, the transforms, belong to the library cuFFT, which "
        "does not publish what its threads load and store."
    )


def span(noun: str, begin: int, end: int) -> str:
    """Return "rows 3 to 5" for `begin` 3 and `end` 6."""
    return f"{noun} {begin:,}" if end == begin + 1 else f"{noun}s {begin:,} to {end - 1:,}"


def _does(step: Access) -> str:
    return "stores anything" if step.is_store else "loads anything"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{_s(count)}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
