"""Headers' expressions, and the numbers of a job that they count with."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from types import CodeType
from typing import Any, NewType

import numpy as np

from kernels.core.device import Device
from kernels.core.errors import CannotRunError
from kernels.core.job import Job
from kernels.core.weights import gain, separable_terms, terms_gain
from kernels.rungs.digit_bands import fixed_point, row_of
from kernels.rungs.operands import fft_side, tiles_of

MAX_CHARACTERS = 2000
MAX_EXPONENT, MAX_SHIFT = 8, 32
TEXTS = frozenset({"SAMPLE", "BORDER", "OFFSET"})  # names that stand for text
ARITHMETIC = (
    *(ast.Name, ast.Load, ast.Constant, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.IfExp, ast.Compare),
    *(ast.Call, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Expression),
)


def why_not_expression(text: str, known: frozenset[str], *, is_template: bool = False) -> str:
    """The fault of an expression over the names in `known`, or of a sentence with {expressions}.

    Empty: none.
    """
    if len(text) > MAX_CHARACTERS:
        return f"it has {len(text)} characters, and may have {MAX_CHARACTERS}"
    try:
        tree = ast.parse(f"f{text!r}" if is_template else text.strip(), "<header>", "eval")
        compile(tree, "<header>", "eval")  # or it is nested too deeply
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"{text!r} is not an expression: {reason}"
    nodes = list(ast.walk(tree))
    # Text can be compared, and stand alone within braces; no braces have a format.
    sentence = id(tree.body) if is_template else 0
    texts = {sentence}
    for each in nodes:
        if isinstance(each, ast.Compare | ast.FormattedValue) or id(each) == sentence:
            texts |= {id(side) for side in ast.iter_child_nodes(each)}
    allowed = (*ARITHMETIC, ast.FormattedValue) if is_template else ARITHMETIC
    for node in nodes:
        is_right = isinstance(node, allowed) or id(node) == sentence
        if not is_right or (_is_text(node) and id(node) not in texts) or _may_grow(node):
            return f"{text!r} is not an expression: {type(node).__name__} is no arithmetic"
    used = [each.id for each in ast.walk(tree) if isinstance(each, ast.Name)]
    unknown = next((name for name in used if name not in known), "")
    near = get_close_matches(unknown, known, 1)
    guess = f"; the nearest is {near[0]}" if near else ""
    return f"{text!r} asks for {unknown}, which there is not{guess}" if unknown else ""


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in TEXTS
    return isinstance(node, ast.Constant) and not isinstance(node.value, int | float)


def _may_grow(node: ast.AST) -> bool:
    """Return True for numbers that could have any number of digits."""
    if not isinstance(node, ast.BinOp) or not isinstance(
        node.op, ast.Pow | ast.LShift | ast.RShift
    ):
        return False
    of_power = isinstance(node.op, ast.Pow)
    right = node.right.value if isinstance(node.right, ast.Constant) else None
    if not isinstance(right, int) or not 0 <= right <= (MAX_EXPONENT if of_power else MAX_SHIFT):
        return True
    return of_power and any(isinstance(each, ast.Pow) for each in ast.walk(node.left))


def _evaluated(expression: str, values: Mapping[str, Any]) -> Any:
    try:
        found = eval(_compiled(expression), {"__builtins__": {}}, values)
        return found if isinstance(found, str) else int(found)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise CannotRunError(
            f"The header's {expression!r} comes to nothing for this job: {error}."
        ) from error


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<header>", "eval")


SMALLEST = Job(np.zeros((1, 1, 1), np.uint8), np.ones((1, 1), np.float32))
Expression = NewType("Expression", str)  # over the names of `Facts`
Template = NewType("Template", str)  # a sentence with {expressions}

MAX_WAVES = 4  # of blocks, see `blocks_down`
ROW_BYTES = 128  # rows of a picture on the device begin at multiples of this: one line of L1


def pitch_of(width: int, channels: int, sample_bytes: int) -> int:
    """Return the samples from one row of a picture on the device to the next."""
    samples = ROW_BYTES // sample_bytes
    return -(-width * channels // samples) * samples


def knobs(job: Job) -> dict[str, str | int]:
    """Return the -D macros that fit a rung to a job, by name; the prelude says what they mean."""
    return {
        "KSIZE": job.ksize,
        "CHANNELS": job.channels,
        "HAS_ALPHA": int(job.has_alpha),
        "SAMPLE": job.pixel_type,
        "BORDER": job.border.upper(),
        "BLOCK_X": job.block_xy[0],
        "BLOCK_Y": job.block_xy[1],
        "HAS_OFFSET": int(bool(job.offset)),
        "OFFSET": f"float({float(job.offset)!r}f)",
    }


def blocks_down(strips: int, resident: int, rows: int, more: int) -> int:
    """The number of blocks one below another that finish a picture soonest.

    A device that runs few blocks at a time runs them in waves, the last of which may be nearly
    empty; and the more blocks, the more rows are read twice.

    strips    of the picture, side by side; each is divided among as many blocks
    resident  blocks that the device runs at a time
    rows      of a strip, or groups of them
    more      of these that a block begins with, in addition to its share
    """
    wanted = {max(1, min(rows, waves * resident // strips)) for waves in range(1, MAX_WAVES + 1)}

    def time(count: int) -> int:
        return -(-strips * count // resident) * (-(-rows // count) + more)

    return min(sorted(wanted), key=time)


class Facts(dict[str, Any]):
    """The names that a header's expressions may use, of one job.

    They are the knobs, and

    RADIUS, HALO_X, HALO_Y   as in the prelude
    WIDTH, HEIGHT, PITCH     of the picture: pixels, rows, samples from row to row on the device
    SAMPLE_BYTES             of one sample
    THREADS                  BLOCK_X * BLOCK_Y
    RANK                     how many separable weights add up to these; see `separable_terms`
    DIGITS                   bytes that hold each weight as an integer; see `fixed_point`
    ROW_DIGITS               the same of the row of separable weights; see `digit_bands`
    GAIN                     Σ|w| of these
    TERMS_GAIN               Σ|w| of all of those over GAIN: 1 where none cancel
    UNIFORM                  whether all weights are one number
    MULTIPROCESSORS          of the device
    FFT_SIDE, FFT_LINE       of the FFT rungs' tiles: FFT_LINE = FFT_SIDE**2 rows and columns
    FFT_PAIRS, FFT_TILES     pairs of those side by side, and tiles one above the other
    FFT_LEVELS, FFT_FLOPS    of butterflies in the transform of a tile; operations of one line
    FFT_COLUMNS, FFT_ROWS    of the picture, as many times as tiles share them,
    ..._BEYOND               and those beyond its edges that count for something
    PLANES                   channels that are filtered: all but alpha
    HALVES                   numbers of half precision that hold a sample
    BAND_BLOCKS, BAND_DEPTH  8×8 blocks in a band of weights, 16×16 in two side by side: tensor.cuh
    blocks_down(...)         blocks one below another in a strip, see `blocks_down`
    """

    def __init__(self, job: Job, device: Device | None = None) -> None:
        sample_bytes = int(job.picture.dtype.itemsize)
        super().__init__(
            knobs(job),
            RADIUS=job.radius,
            HALO_X=job.radius * job.channels,
            HALO_Y=job.radius,
            WIDTH=job.width,
            HEIGHT=job.height,
            PITCH=pitch_of(job.width, job.channels, sample_bytes),
            SAMPLE_BYTES=sample_bytes,
            THREADS=job.block_xy[0] * job.block_xy[1],
            MULTIPROCESSORS=device.multiprocessors if device else 1,
            min=min,
            max=max,
            blocks_down=blocks_down,
        )
        self.job = job

    def __missing__(self, name: str) -> Any:
        # Looked at only by the few rungs that ask, since these cost milliseconds.
        self[name] = value = ON_DEMAND[name](self)
        return value

    def value(self, expression: str) -> int:
        """The value of `expression`, as an integer.  Raises CannotRunError."""
        return int(_evaluated(expression.strip(), self))

    def text(self, template: str) -> str:
        """`template` with each {expression} replaced by its value.  Raises CannotRunError."""
        return str(_evaluated(f"f{template!r}", self))


def _tiles(facts: Facts) -> tuple[int, int]:
    return tiles_of(facts["WIDTH"], facts["HEIGHT"], facts["RADIUS"], facts["FFT_SIDE"])


def _in_tiles(facts: Facts, axis: str, more: int) -> int:
    """Positions of an axis, and so many radii beyond, that all tiles hold together."""
    line, radius, extent = facts["FFT_LINE"], facts["RADIUS"], facts[axis]
    tiles = 2 * facts["FFT_PAIRS"] if axis == "WIDTH" else facts["FFT_TILES"]
    starts = [tile * (line - 2 * radius) - radius for tile in range(tiles)]
    low, high = -more * radius, extent + more * radius
    return sum(max(0, min(start + line, high) - max(start, low)) for start in starts)


# Facts that are computed on demand.
ON_DEMAND: dict[str, Callable[[Facts], Any]] = {
    "RANK": lambda facts: len(separable_terms(facts.job.weights)),
    "DIGITS": lambda facts: fixed_point(facts.job.weights).digits,
    "ROW_DIGITS": lambda facts: row_of(facts.job.weights).digits,
    "GAIN": lambda facts: gain(facts.job.weights),
    "TERMS_GAIN": lambda facts: terms_gain(facts.job.weights),
    "UNIFORM": lambda facts: bool(np.ptp(facts.job.weights) == 0),
    "FFT_SIDE": lambda facts: fft_side(facts["WIDTH"], facts["HEIGHT"], facts["RADIUS"]),
    "FFT_LINE": lambda facts: facts["FFT_SIDE"] ** 2,
    "FFT_PAIRS": lambda facts: _tiles(facts)[0],
    "FFT_TILES": lambda facts: _tiles(facts)[1],
    "FFT_LEVELS": lambda facts: 2 * (facts["FFT_LINE"].bit_length() - 1),
    "FFT_FLOPS": lambda facts: _transform_flops(facts["FFT_SIDE"]),
    "FFT_COLUMNS": lambda facts: _in_tiles(facts, "WIDTH", 0),
    "FFT_COLUMNS_BEYOND": lambda facts: _in_tiles(facts, "WIDTH", 1) - facts["FFT_COLUMNS"],
    "FFT_ROWS": lambda facts: _in_tiles(facts, "HEIGHT", 0),
    "FFT_ROWS_BEYOND": lambda facts: _in_tiles(facts, "HEIGHT", 1) - facts["FFT_ROWS"],
    "PLANES": lambda facts: facts["CHANNELS"] - facts["HAS_ALPHA"],
    "HALVES": lambda facts: 1 if facts["SAMPLE"] in ("uint8", "float16") else 2,
    "BAND_BLOCKS": lambda facts: max(2, (-facts["RADIUS"] % 8 + facts["KSIZE"] + 14) // 8),
    "BAND_DEPTH": lambda facts: (-facts["RADIUS"] % 8 + facts["KSIZE"] + 30) // 16,
}


@cache
def names() -> frozenset[str]:
    """Return the names that an Expression may use."""
    return frozenset((*Facts(SMALLEST), *ON_DEMAND))


NUMBER_BYTES = 4  # of a buffer or of weights
WorkExpression = NewType("WorkExpression", str)  # over the names of `WorkFacts`


class WorkFacts(Facts):
    """The names that a header's model of its work may use: those of `Facts`, and of one pass

    SAMPLES, FILTERED, ALPHA   of the picture; those that are filtered, and those that pass through
    BLOCKS_X, BLOCKS_Y, BLOCKS of the pass, in one launch; BLOCKS = BLOCKS_X * BLOCKS_Y
    COVERS_X, COVERS_Y         what a block writes: samples of a row, and rows
    CHUNK, HALO_CHUNKS         as in wide.cuh: samples in sixteen bytes, and chunks that hold a halo
    STAGED                     samples that all blocks side by side stage of a row: separable.cuh
    parts(n, k), up(n, k)      n / k rounded up; n rounded up to a multiple of k
    segments(k)                blocks one below another that have rows to write, if all take as many
                               and those are a multiple of k
    """

    def __init__(self, job: Job, multiprocessors: int) -> None:
        super().__init__(job)
        row, radius = job.width * job.channels, job.radius
        chunk = 16 // self["SAMPLE_BYTES"]
        self |= {
            "MULTIPROCESSORS": multiprocessors,
            "SAMPLES": row * job.height,
            "FILTERED": self["PLANES"] * job.width * job.height,
            "ALPHA": self["HAS_ALPHA"] * job.width * job.height,
            "CHUNK": chunk,
            "HALO_CHUNKS": _parts(radius * job.channels, chunk),
            "parts": _parts,
            "up": _up,
        }

    def take(
        self,
        covers: tuple[Expression, Expression],
        grid: tuple[Expression, Expression] | None = None,
    ) -> None:
        """Let BLOCKS and so on be those of a pass: what its header says of `covers` and `grid`."""
        across, down = (self.value(expression) for expression in covers)
        row, height = self["WIDTH"] * self["CHANNELS"], self["HEIGHT"]
        blocks = _parts(row, across), _parts(height, down)
        if grid:
            blocks = self.value(grid[0]), self.value(grid[1])
        chunk, halo = self["CHUNK"], self["HALO_CHUNKS"]
        # The last block stages no more than the halo beyond the picture's end.
        to_the_end = _parts(row + self["HALO_X"], chunk) + (2 * blocks[0] - 1) * halo
        staged = min(to_the_end, blocks[0] * (across // chunk + 2 * halo)) * chunk
        self |= {
            "COVERS_X": across,
            "COVERS_Y": down,
            "BLOCKS_X": blocks[0],
            "BLOCKS_Y": blocks[1],
            "BLOCKS": blocks[0] * blocks[1],
            "STAGED": staged,
            "segments": lambda group: _parts(height, _up(_parts(height, blocks[1]), group)),
        }

    def bytes_of(self, numbers: Mapping[str, int]) -> int:
        """The bytes of these counts of numbers, by what they belong to."""
        samples = numbers.get("picture", 0)
        others = sum(numbers.values()) - samples
        return samples * int(self["SAMPLE_BYTES"]) + others * NUMBER_BYTES


@cache
def work_names() -> frozenset[str]:
    """Return the names that a WorkExpression may use."""
    facts = WorkFacts(SMALLEST, 1)
    facts.take((Expression("1"), Expression("1")))
    return names() | frozenset(facts)


def _transform_flops(side: int) -> int:
    """Count the operations of one line of side² numbers in fft_registers.

    Two transforms for each thread, and a complex product, six operations, for each number.  A
    butterfly takes four; then a root of one takes none (1 or -i), four (an eighth of a circle) or
    six.
    """
    turns = [
        i // together * together * (32 // side)
        for together in (2**level for level in range(side.bit_length() - 1))
        for i in range(side // 2)
    ]
    butterflies = sum(4 + (0 if n % 8 == 0 else 4 if n % 4 == 0 else 6) for n in turns)
    return 2 * side * butterflies + 6 * side**2


def _parts(number: int, size: int) -> int:
    return -(-number // size)


def _up(number: int, unit: int) -> int:
    return _parts(number, unit) * unit
