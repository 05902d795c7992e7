"""Headers of rungs: their expressions, the numbers of a job that these count with, and their TOML.

A header stands between `/*---` and `---*/` and is read into a dataclass's types.  What is wrong
with it becomes a HeaderError: one sentence with the file's name and the line.
"""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial
from types import CodeType
from typing import TYPE_CHECKING, Any, NewType, TypeVar

import numpy as np

from kernels.core.device import Device
from kernels.core.errors import CannotRunError
from kernels.core.job import Job
from kernels.core.nonlinear import KINDS, Morphology, Window
from kernels.core.plain_data import SIMPLE, NotPlainError, from_plain, plain_text, table_beside
from kernels.core.weights import gain, separable_terms, terms_gain, whole_numbers
from kernels.rungs.digit_bands import fixed_point, row_of
from kernels.rungs.list_steps import steps_of
from kernels.rungs.operands import fft_side, is_large, numbers_of, tiles_of
from kernels.rungs.packed_sums import packed_sums, rows_of
from kernels.rungs.window_bands import Layout, digits_of, strip_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

MAX_CHARACTERS = 2000
MAX_EXPONENT, MAX_SHIFT = 8, 32
TEXTS = frozenset({"SAMPLE", "BORDER", "OFFSET"})  # names that stand for text
ARITHMETIC = (
    *(ast.Name, ast.Load, ast.Constant, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.IfExp, ast.Compare),
    *(ast.Call, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Expression),
)


def why_not_expression(text: str, known: frozenset[str], *, is_template: bool = False) -> str:
    """The fault of an expression over `known` names, or a sentence of {expressions}; or empty."""
    if len(text) > MAX_CHARACTERS:
        return f"it has {len(text)} characters, and may have {MAX_CHARACTERS}"
    try:
        tree = ast.parse(f"f{text!r}" if is_template else text.strip(), "<header>", "eval")
        compile(tree, "<header>", "eval")  # or it is nested too deeply
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"{text!r} is not an expression: {reason}"
    nodes = list(ast.walk(tree))
    above = {id(each): node for node in nodes for each in ast.iter_child_nodes(node)}
    for node in nodes:
        is_of_sentence = is_template and (isinstance(node, ast.FormattedValue) or node is tree.body)
        # Text can be compared, and stand alone within braces; no braces have a format.
        is_bare = not isinstance(
            above.get(id(node)), ast.Compare | ast.FormattedValue | ast.JoinedStr
        )
        is_right = isinstance(node, ARITHMETIC) or is_of_sentence
        if not is_right or (_is_text(node) and is_bare) or _may_grow(node):
            return f"{text!r} is not an expression: {type(node).__name__} is no arithmetic"
    used = (each.id for each in nodes if isinstance(each, ast.Name))
    unknown = next((name for name in used if name not in known), "")
    near = get_close_matches(unknown, known, 1)
    guess = f"; the nearest is {near[0]}" if near else ""
    return f"{text!r} asks for {unknown}, which there is not{guess}" if unknown else ""


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in TEXTS
    return isinstance(node, ast.Constant) and not isinstance(node.value, int | float)


def _may_grow(node: ast.AST) -> bool:
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


SMALLEST = Job.of(np.zeros((1, 1, 1), np.uint8), np.ones((1, 1), np.float32))
Expression = NewType("Expression", str)  # over the names of `Facts`
WorkExpression = NewType("WorkExpression", str)  # over PASS_NAMES as well
Template = NewType("Template", str)  # a sentence with {expressions}

MAX_WAVES = 4  # of blocks, see `blocks_down`
ROW_BYTES = 128  # rows of a picture on the device begin at multiples of this: one line of L1
NUMBER_BYTES = 4  # of a buffer or of weights


def pitch_of(width: int, channels: int, sample_bytes: int) -> int:
    """Return the samples from one row of a picture on the device to the next."""
    return _up(width * channels, ROW_BYTES // sample_bytes)


def knobs(job: Job) -> dict[str, str | int | float]:
    """Return the -D macros that fit a rung to a job, by name; the prelude says what they mean."""
    offset = float(job.correlation.offset) if job.has_weights else 0.0
    return {
        "KSIZE": job.ksize,
        "CHANNELS": job.channels,
        "HAS_ALPHA": int(job.has_alpha),
        "SAMPLE": job.pixel_type,
        "BORDER": _border(job).upper(),
        "BLOCK_X": job.block_xy[0],
        "BLOCK_Y": job.block_xy[1],
        "HAS_OFFSET": int(bool(offset)),
        "OFFSET": f"float({offset!r}f)",
        "IS_DISK": int(getattr(job.filter, "is_disk", False)),
        "PATCH": getattr(job.filter, "patch", 1),
        "KIND": KINDS.index(getattr(job.filter, "kind", KINDS[0])),
        "IS_MAXIMUM": int(getattr(job.filter, "percentile", 0) == 100),
        "PERCENTILE": float(getattr(job.filter, "percentile", 50)),
    }


def _border(job: Job) -> str:
    """The job's; in place of crop another that gives the same, where there is one."""
    if job.border == "crop" and job.has_weights:
        return "zero"
    # What stands in beyond the edge lies in the square as well, and counts once more.
    is_square = isinstance(job.filter, Morphology) and not job.filter.is_disk
    return "clamp" if job.border == "crop" and is_square else job.border


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


def _parts(number: int, size: int) -> int:
    return -(-number // size)


def _up(number: int, unit: int) -> int:
    return _parts(number, unit) * unit


FUNCTIONS = {"min": min, "max": max, "blocks_down": blocks_down, "parts": _parts, "up": _up}
# Set for the pass whose work is counted, in one launch: samples of a row and rows that a block
# writes; blocks; samples that all blocks side by side stage of a row, as in separable.cuh; and of a
# group size the blocks one below another that have rows to write, if all take as many groups.
PASS_NAMES = ("COVERS_X", "COVERS_Y", "BLOCKS_X", "BLOCKS_Y", "BLOCKS", "STAGED", "segments")


class Facts(dict[str, Any]):
    """The names that a header's expressions may use, of one job.

    They are the knobs, MULTIPROCESSORS of the device, FUNCTIONS and those of FACTS and DERIVED.

    height  of a part of the picture; None: all of it
    """

    def __init__(self, job: Job, device: Device | None = None, height: int | None = None) -> None:
        count = device.multiprocessors if device else 1
        super().__init__(
            knobs(job), **FUNCTIONS, MULTIPROCESSORS=count, HEIGHT=height or job.height
        )
        self.job = job

    def __missing__(self, name: str) -> Any:
        # Looked at only by the few rungs that ask, since some cost milliseconds.
        self[name] = value = FACTS[name](self) if name in FACTS else self.value(DERIVED[name])
        return value

    def value(self, expression: str) -> int:
        """The value of `expression`, as an integer.  Raises CannotRunError."""
        return int(_evaluated(expression.strip(), self))

    def text(self, template: str) -> str:
        """`template` with each {expression} replaced by its value.  Raises CannotRunError."""
        return str(_evaluated(f"f{template!r}", self))

    def take(
        self,
        covers: tuple[Expression, Expression],
        grid: tuple[Expression, Expression] | None = None,
    ) -> None:
        """Set PASS_NAMES to those of a pass: what its header says of `covers` and `grid`."""
        across, down = (self.value(expression) for expression in covers)
        row, height = self["WIDTH"] * self["CHANNELS"], self["HEIGHT"]
        blocks_x, blocks_y = _parts(row, across), _parts(height, down)
        if grid:
            blocks_x, blocks_y = (self.value(expression) for expression in grid)
        chunk, halo = self["CHUNK"], self["HALO_CHUNKS"]
        # The last block stages no more than the halo beyond the picture's end.
        to_the_end = _parts(row + self["HALO_X"], chunk) + (2 * blocks_x - 1) * halo
        staged = min(to_the_end, blocks_x * (across // chunk + 2 * halo)) * chunk

        def segments(group: int) -> int:
            return _parts(height, _up(_parts(height, blocks_y), group))

        found = across, down, blocks_x, blocks_y, blocks_x * blocks_y, staged, segments
        self |= dict(zip(PASS_NAMES, found, strict=True))

    def bytes_of(self, numbers: Mapping[str, int]) -> int:
        samples = numbers.get("picture", 0)
        others = sum(numbers.values()) - samples
        return samples * int(self["SAMPLE_BYTES"]) + others * NUMBER_BYTES


def _tiles(facts: Facts) -> tuple[int, int]:
    return tiles_of(facts["WIDTH"], facts["HEIGHT"], facts["RADIUS"], facts["FFT_SIDE"])


def _in_tiles(facts: Facts, axis: str, more: int) -> int:
    """Positions of an axis, and so many radii beyond, that all tiles hold together."""
    line, radius, extent = facts["FFT_LINE"], facts["RADIUS"], facts[axis]
    tiles = 2 * facts["FFT_PAIRS"] if axis == "WIDTH" else facts["FFT_TILES"]
    starts = [tile * (line - 2 * radius) - radius for tile in range(tiles)]
    low, high = -more * radius, extent + more * radius
    return sum(max(0, min(start + line, high) - max(start, low)) for start in starts)


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


def _divisor(facts: Facts) -> int:
    correlation = facts.job.correlation
    found = whole_numbers(correlation.weights, correlation.offset)
    return found.divisor if found else 0


def _layout(facts: Facts) -> Layout:
    return Layout(facts["KSIZE"], facts["CHANNELS"], min(facts["WINDOWS_DIGITS"], 2))


DERIVED: dict[str, Expression] = table_beside(__file__)
FACTS: dict[str, Callable[[Facts], Any]] = {
    "RADIUS": lambda facts: facts.job.radius,
    # The picture: pixels, rows, samples from row to row on the device; bytes of a sample.
    "WIDTH": lambda facts: facts.job.width,
    "PITCH": lambda facts: pitch_of(facts["WIDTH"], facts["CHANNELS"], facts["SAMPLE_BYTES"]),
    "SAMPLE_BYTES": lambda facts: int(facts.job.picture.dtype.itemsize),
    # Separable weights that add up to these; bytes that hold each weight, or one of a separable
    # row, as an integer; Σ|w|; that of all terms over it, 1 where none cancel.
    "RANK": lambda facts: len(separable_terms(facts.job.correlation.weights)),
    "DIGITS": lambda facts: fixed_point(facts.job.correlation.weights).digits,
    "ROW_DIGITS": lambda facts: row_of(facts.job.correlation.weights).digits,
    "GAIN": lambda facts: gain(facts.job.correlation.weights),
    "TERMS_GAIN": lambda facts: terms_gain(facts.job.correlation.weights),
    # What weights and offset are whole numbers over, 0 where there is no such divisor; bits that a
    # sum of these takes, as packed_sums.py has it; and whether they are a column times a row there;
    # rows that a warp makes of a small picture, and whether sums are floats of 16 bits.
    "DIVISOR": _divisor,
    "SUM_BITS": lambda facts: packed_sums(facts.job).bits,
    "IN_ROWS": lambda facts: packed_sums(facts.job).is_separable,
    "WORDS_ROWS": lambda facts: rows_of(facts.job),
    "WORDS_HALVES": lambda facts: packed_sums(facts.job).in_halves,
    # As window_bands.py has them: bytes of a weight, samples of a row that a block makes, products
    # of a pass, and left operands.
    "WINDOWS_DIGITS": lambda facts: digits_of(facts.job),
    "WINDOWS_STRIP": lambda facts: strip_of(facts.job),
    "WINDOWS_PRODUCTS": lambda facts: len(_layout(facts).products()),
    "WINDOWS_LEFTS": lambda facts: len(_layout(facts).lefts()),
    "UNIFORM": lambda facts: bool(np.ptp(facts.job.correlation.weights) == 0),
    # Tiles of FFT_LINE = FFT_SIDE**2 rows and columns: pairs side by side, tiles one above the
    # other; levels of butterflies in a tile's transform; operations of one line.
    "FFT_SIDE": lambda facts: fft_side(facts["WIDTH"], facts["HEIGHT"], facts["RADIUS"]),
    "FFT_PAIRS": lambda facts: _tiles(facts)[0],
    "FFT_TILES": lambda facts: _tiles(facts)[1],
    "FFT_LEVELS": lambda facts: 2 * (facts["FFT_LINE"].bit_length() - 1),
    "FFT_FLOPS": lambda facts: _transform_flops(facts["FFT_SIDE"]),
    # Of the picture, as many times as tiles share them; and those beyond its edges that count.
    "FFT_COLUMNS": lambda facts: _in_tiles(facts, "WIDTH", 0),
    "FFT_COLUMNS_BEYOND": lambda facts: _in_tiles(facts, "WIDTH", 1) - facts["FFT_COLUMNS"],
    "FFT_ROWS": lambda facts: _in_tiles(facts, "HEIGHT", 0),
    "FFT_ROWS_BEYOND": lambda facts: _in_tiles(facts, "HEIGHT", 1) - facts["FFT_ROWS"],
    # Numbers of half precision that hold a sample: tensor.cuh.
    "HALVES": lambda facts: 1 if facts["SAMPLE"] in ("uint8", "float16") else 2,
    # Samples that count for one of a rank.
    "WINDOW": lambda facts: int(getattr(facts.job.filter, "window", np.zeros(1)).sum()),
    # Of a median, whether it is made as of a large picture.
    "IS_LARGE": lambda facts: is_large(facts.job),
    # Of a bilateral filter: pixels of its disk, and about 1 / σc.
    "DISK": lambda facts: int(Window(facts.job.ksize).disk().sum()),
    "STEEPNESS": lambda facts: math.ceil(numbers_of(facts.job.filter)[1]),
    # Of a list: its reach, its longest window, and the rows of all steps that a ring keeps.
    "LIST_REACH": lambda facts: facts.job.reach,
    "LIST_LONGEST": lambda facts: max(each.size for each in steps_of(facts.job)),
    "LIST_ROWS": lambda facts: sum(each.rows for each in steps_of(facts.job)),
}


@cache
def names(*more: str) -> frozenset[str]:
    return frozenset((*Facts(SMALLEST), *FACTS, *DERIVED, *more))


BEGIN, END = "/*---", "---*/"
PASSES = "passes"  # the table of tables in a header
# A field of a pass that earlier versions read: what a user wrote then is still a header.
OBSOLETE = "anatomy"
# Of an error's place: pass, field, name in a table.
PLACE = re.compile(r"(?:\.passes\[(\d+)\])?(?:\.([^.\[]+))?(?:\[.*\])?(?:\.(.*))?")


class HeaderError(CannotRunError):
    """A rung's file cannot be used: "27_two_sums.cu, line 2: titel is not known"."""


def refusal(file: str, what: str, line: int = 0) -> HeaderError:
    end = "." * (what[-1] != "?")
    return HeaderError(f"{file}{f', line {line}' if line else ''}: {what}{end}")


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a rung's file, and where each field stands."""

    file: str  # the file's name
    lines: tuple[str, ...]  # of the header, the first being the file's first
    fields: Mapping[str, Any]  # as TOML has them

    def error(
        self, what: str, field: str = "", number: int | None = None, name: str = ""
    ) -> HeaderError:
        """Return the error that says `what` of a field.

        number  of the pass that the field is in
        name    in the table that the field is
        """
        begins = [n for n, line in enumerate(self.lines) if re.match(r"\s*\[\[passes\]\]", line)]
        sections, place = [0, *begins, len(self.lines)], 0 if number is None else number + 1
        line = 0
        for each in filter(None, (name, field)):
            pattern = re.compile(rf"\s*(\[+\s*)?[\"']?{re.escape(each)}[\"']?\s*[=.\]]")
            lines = range(*sections[place : place + 2]) if place + 1 < len(sections) else ()
            line = line or next((n + 1 for n in lines if pattern.match(self.lines[n])), 0)
        if not line and number is not None:
            line = sections[place] + 1
        return refusal(self.file, what, line)

    def read(self, of: type[T], **given: Any) -> T:
        """Read it as a dataclass; `given` are fields that no header says.  Raises HeaderError."""
        said, passes = dict(self.fields), self.fields.get(PASSES, [{}])
        if taken := sorted(given.keys() & said.keys()):
            raise self.error(f"{taken[0]} is not known", taken[0])
        if not passes or type(passes) is not list:
            raise self.error("passes are written as [[passes]], one or more", PASSES)
        if PASSES in said:
            said[PASSES] = [_without_obsolete(each) for each in passes]
        try:
            return replace(from_plain(of, {**said, **given}), **given)  # as they are
        except NotPlainError as error:
            found = PLACE.fullmatch(error.where)
            number, field, name = found.groups() if found else ("", "", "")
            what = f"{field or PASSES}{' of a pass' if number else ''} {error.why}"
            at = int(number) if number else None
            raise self.error(what, field or "", at, name or "") from error


def header_of(file: str, source: str) -> Header:
    """Parse the header that `source` begins with.  Raises HeaderError."""
    before, _, rest = source.partition(BEGIN)
    text, end, _ = rest.partition(END)
    if before or not end:
        what = f"it must begin with a header, {BEGIN} TOML {END}"
        if rest and not before:
            what = f"the header begins here and ends nowhere: write {END} on a line of its own"
        raise refusal(file, what, 1)
    lines = tuple(text.split("\n"))
    try:
        return Header(file, lines, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = min(int((found[1] if found else None) or len(lines)), len(lines))
        words = f"{str(error)[: found.start()] if found else error}: {lines[line - 1].strip()}"
        raise refusal(file, f"the header is no TOML, {words}", line) from error
    except RecursionError as error:
        raise refusal(file, "the header is nested too deeply") from error


def _without_obsolete(part: Any) -> Any:
    if type(part) is not dict:
        return part
    return {name: value for name, value in part.items() if name != OBSOLETE}


def _checked(more: tuple[str, ...], is_template: bool, data: Any) -> str:
    text = plain_text(data)
    if wrong := why_not_expression(text, names(*more), is_template=is_template):
        raise NotPlainError(f"is wrong: {wrong}")
    return text


SIMPLE[Expression] = partial(_checked, (), False)
SIMPLE[WorkExpression] = partial(_checked, PASS_NAMES, False)
SIMPLE[Template] = partial(_checked, (), True)
