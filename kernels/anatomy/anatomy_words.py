"""Sentences on the anatomy of a launch."""

from __future__ import annotations

from kernels.anatomy.accesses import Access
from kernels.anatomy.block_counts import Idle, Traffic
from kernels.anatomy.tile_shapes import Block, Shape
from kernels.anatomy.transactions import Coalescing, Conflicts
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
        return f"{words}; {_share(beyond, tile.count)} of its tile is beyond the picture."
    return f"{words}: {own.count:,} of them."


def halo_words(shape: Shape, block: Block) -> str:
    """Say which samples a block needs for that."""
    if shape.halo == (0, 0):
        return "It needs no halo around them."
    own = shape.tile(block).clipped(shape.picture)
    whole = own.grown(*shape.halo)
    beyond = whole.count - whole.clipped(shape.picture).count
    across, down = shape.halo
    sides = [f"{_many(across, 'sample')} to either side"] if across else []
    sides += [f"{_many(down, 'row')} above and below"] if down else []
    words = (
        f"With the halo, {' and '.join(sides)}, it needs {whole.width:,} × {whole.height:,} = "
        f"{whole.count:,} samples: {whole.count / own.count:.2f} for each one that it computes"
    )
    verb = "lies" if beyond == 1 else "lie"
    return f"{words}; {beyond:,} {verb} beyond the picture." if beyond else f"{words}."


def traffic_words(traffic: Traffic, reads: str) -> str:
    """Say how many bytes a block loads, and how often each number is used."""
    name = "samples of the picture" if reads == "picture" else f"numbers of the buffer “{reads}”"
    size = f"{traffic.asked:,} {name} from global memory, {traffic.loaded_bytes:,} bytes"
    is_once = traffic.asked == traffic.different
    if not is_once:
        size += f", of which {traffic.different:,} are different"
    if traffic.read_bytes:
        return (
            f"Its threads load {size}. In shared memory they store {traffic.stored_bytes:,} bytes "
            f"and read {traffic.read_bytes:,}: each stored byte {traffic.uses:.1f} times on "
            "average."
        )
    if is_once:
        return f"Its threads load {size}: each once."
    uses = f"{traffic.uses:.{2 if traffic.uses < 1.05 else 1}f}"
    return (
        f"Its threads load {size}: each is read {uses} times on average; all but the first "
        "should hit the cache."
    )


def idle_words(idle: Idle) -> str:
    """Say how many threads store nothing, in the block and in the picture."""
    if not idle.in_all:
        return "No thread is idle: every one stores something."
    here = f"{idle.in_block:,} of them in this block" if idle.in_block else "none of them here"
    if idle.in_block == idle.in_all:
        here = "all in this block"
    share = f"{100 * idle.share:.2g}" if idle.share < 0.995 else "almost 100"
    return f"{idle.in_all:,} of {idle.threads:,} threads ({share} %) store nothing, {here}."


def coalescing_words(step: Access, found: Coalescing) -> str:
    """Say what a warp's access to global memory touches."""
    if not found.active:
        return f"No lane of this warp {_does(step)} here."
    noun = ("store" if step.is_store else "load") + _s(found.active) + _of_this(step)
    if step.width > 1:
        noun += f" of {step.bytes} bytes"
    verb = "touches" if found.active == 1 else "touch"
    sectors = f"{found.sectors} sector{_s(found.sectors)} of 32 bytes"
    least = "fewer would not do" if found.is_best else f"{found.least_sectors} would be the least"
    lines = f"They lie in {found.lines} line{_s(found.lines)} of 128 bytes"
    if found.lines > found.least_lines:
        lines += f"; {found.least_lines} would be the least"
    return f"A warp's {found.active} {noun} {verb} {sectors}; {least}. {lines}."


def conflict_words(step: Access, found: Conflicts) -> str:
    """Say what a warp's access to shared memory meets."""
    if not found.active:
        return f"No lane of this warp {_does(step)} here."
    noun = ("store" if step.is_store else "read") + _s(found.active) + _of_this(step)
    own, lanes = f"A warp's {found.active} {noun}", int(found.in_conflict.sum())
    if found.active == 1 and found.turns == 1:
        return f"{own} takes one transaction in shared memory."
    if found.turns == 1:
        return f"{own} meet no bank conflict: one transaction in shared memory for all."
    wide = f" of {step.bytes} bytes" if found.least_turns > 1 else ""
    takes = f"{own}{wide} take {found.turns} transactions in shared memory"
    if found.is_best:
        return (
            f"{takes}, {32 * 4 // step.bytes} lanes at a time, and none fewer would do: no two of "
            "those want different words of a bank."
        )
    if found.least_turns > 1:
        return (
            f"{takes}, where {found.least_turns} would be the least: {lanes} lanes want different "
            "words of a bank that others want at the same time."
        )
    return (
        f"{takes}: {lanes} lanes want different words of a bank that others want too, up to "
        f"{found.turns} words in one bank (a {found.turns}-way bank conflict)."
    )


def not_drawn(rung: Rung) -> str:
    """Say what is not drawn of a pass whose header names no pattern."""
    return (
        f"What the threads of {rung.title} load and store is not described in its header: blocks, "
        "tiles and halos are drawn, warps and lanes are not."
    )


def no_shapes(rung: Rung) -> str:
    """Say that a rung has no pass whose blocks are on the picture."""
    return (
        f"{rung.title} has blocks that stand nowhere on the picture: there is nothing to draw on "
        "it."
    )


def of_a_library(rung: Rung) -> str:
    """Say which launches a rung leaves to a library; "" if none."""
    numbers = [str(n + 1) for n, each in enumerate(rung.passes) if each.library]
    if not numbers:
        return ""
    return (
        f"Launches {' and '.join(numbers)}, the transforms, are cuFFT's: a library, whose text is "
        "not published and which does not say what its threads load and store."
    )


def span(noun: str, begin: int, end: int) -> str:
    """Return "rows 3 to 5" for `begin` 3 and `end` 6."""
    return f"{noun} {begin:,}" if end == begin + 1 else f"{noun}s {begin:,} to {end - 1:,}"


def _of_this(step: Access) -> str:
    return " of this tap" if step.turn(0).startswith("tap") else ""


def _does(step: Access) -> str:
    return "stores anything" if step.is_store else "loads anything"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2g} %"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{_s(count)}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
