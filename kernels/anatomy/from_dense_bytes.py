"""The pattern of the rung that multiplies bytes by any weights, as integers of few digits."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import TILE, Access, Places
from kernels.anatomy.byte_lines import CHUNK, LINE_CHUNKS, Lines
from kernels.anatomy.launch_scene import Scene, only, turns
from kernels.anatomy.pattern import QUAD, Threads
from kernels.anatomy.transactions import LANES


def tensor_dense_bytes(at: Scene) -> Threads:
    """Describe warps that walk down lines of 128 samples and sum rectangles of the picture."""
    products, digits = Products(at), int(at.facts["DIGITS"])
    entries = products.steps * digits * LANES
    ring_at = 256 + entries + LINE_CHUNKS
    more = (at.ksize + 2) // 4
    on = Lines(at, ring_at, slots=4 * (8 + more))
    count = -(-(on.rows + at.ksize - 1) // 4) * 4 * (on.rows > 0)
    fours, needed = -(-on.rows // 4), 4 + at.ksize - 1

    own = only(at.thread, (at.thread < at.ksize**2) & (on.rows > 0))
    table = 256 * QUAD
    passes = -(-products.steps * LANES * 4 // at.threads) * (on.rows > 0)
    fills = {"word": passes, "byte": 4}
    turn, byte = turns(fills)
    entry = turn * at.threads + at.thread
    integer = only(products.weight(entry, byte), entry < products.steps * LANES * 4)
    kept = {"word": passes, "digit": digits}
    turn, digit = turns(kept)
    entry = turn * at.threads + at.thread
    lane = entry // 4 % LANES
    word = table + ((entry // 4 // LANES * digits + digit) * LANES + lane) * QUAD + entry % 4
    word = only(word, entry < products.steps * LANES * 4)

    stays = products.steps <= (2 if digits == 3 else 5)
    at_once = 1 if at.ksize <= 3 else products.across
    sides = products.across // at_once
    held = {"four rows": 1 if stays else fours, "side": 1 if stays else sides}
    held = {**held, "product": products.steps, "digit": digits * (on.rows > 0)}
    *_, step, digit = turns(held)
    is_there = np.ones_like(on.is_there) if stays else on.is_there
    band = only(table + ((step * digits + digit) * LANES + at.tx) * QUAD, is_there)

    last = (products.down - 1) * products.tile_rows + products.steps * products.rows_a_step
    reads = {"four rows": fours, "tile": products.across, "row": min(last, needed)}
    reads = {**reads, "word": products.lane_words}
    four, side, row, part = turns(reads)
    place = on.place(4 * four + row, at.ty * LINE_CHUNKS) + at.tx - products.left
    words = only(place + 2 * side + 4 * part, on.is_there)
    steps = (
        at.load("Load a weight", "weights", {}, own),
        at.store("Keep it", TILE, {}, own),
        at.load("Read a weight", TILE, fills, integer),
        at.store("Store digits of weights", TILE, kept, word),
        *on.staging(count // 4, products.beside),
        *on.beyond(count, products.beside),
        at.load("Read a digit of a matrix", TILE, held, band, QUAD),
        at.load("Read a word of a row", TILE, reads, words),
        *on.exchange(fours, *_chunks_of_tiles(on, products, fours)),
    )
    return on.walk(steps, fours, 0)


def _chunks_of_tiles(on: Lines, products: Products, fours: int) -> tuple[Access, ...]:
    """Return reads of a chunk: at once, or half of it from each of two tiles side by side."""
    at, name = on.at, "Read a chunk of the answer"
    if products.columns == CHUNK:
        return (at.load(name, TILE, *on.chunk(fours)),)
    loops = {"four rows": fours, "half": 2}
    first = QUAD * (at.ty * LANES + at.tx // 16 * 8 + at.tx % 8) + at.tx // 8 % 2 * 2
    place = only(first + turns(loops)[1] * 16 * QUAD, on.is_there)
    return (at.load(name, TILE, loops, place, 2),)


class Products:
    """The products that tensor_dense_bytes makes of a picture's rows and the weights."""

    beside = 2  # chunks

    def __init__(self, at: Scene) -> None:
        self.at = at
        self.left = -(-at.halo_x // 4)
        self.step_words = 16 if at.channels > 1 else 8
        self.columns = 16 if self._steps_of(16) < self._steps_of(8) else 8
        self.tile_rows = 16 // self.columns
        self.span, self.steps = self._span_of(self.columns), self._steps_of(self.columns)
        self.rows_a_step, self.lane_words = self.step_words // self.span, self.span // 4
        self.down, self.across = 4 // self.tile_rows, self.tile_rows

    def _span_of(self, columns: int) -> int:
        span = 4
        while span < self.left + (columns + self.at.halo_x + 3) // 4:
            span *= 2
        return span

    def _steps_of(self, columns: int) -> int:
        span = self._span_of(columns)
        if span > self.step_words:
            return 1000
        return -(-(16 // columns + self.at.ksize - 1) // (self.step_words // span))

    def weight(self, entry: Places, byte: Places) -> Places:
        """Return which weight is a byte of a word of the table, NOWHERE for none: write_table."""
        at = self.at
        part, lane, step = entry % 4, entry // 4 % LANES, entry // 4 // LANES
        place = lane // 4 * 2 + part % 2
        kept = part // 2 * 16 + lane % 4 * 4 + byte
        if at.channels > 1:
            word, byte = kept // 2, self._kept(kept // 2, place, byte % 2)
        else:
            word = kept // 4
        y = step * self.rows_a_step + word // self.span - place // self.columns
        x = self._away(word, place) + byte + at.halo_x
        is_tap = (y >= 0) & (y < at.ksize) & (x >= 0) & (x <= 2 * at.halo_x)
        is_tap &= (x % at.channels == 0) & ~at.is_alpha(place % self.columns)
        return only(y * at.ksize + x // at.channels, is_tap)

    def _away(self, word: Places, place: Places) -> Places:
        return 4 * (word % self.span - self.left) - place % self.columns

    def _kept(self, word: Places, place: Places, second: Places) -> Places:
        """Return the first or the second byte of a word that may be of the sum's channel."""
        channels = self.at.channels
        channel = (64 * channels - self._away(word, place)) % channels
        first = np.where((channels == 4) & (channel == 3), 2, channel)
        other = first + 2 if channels == 2 else np.full_like(first, 3)
        if channels == 3:
            other = np.where(first == 1, 2, 3)
        return np.where(second == 0, first, other)
