"""The pattern of the rung that sums bytes both ways on tensor cores, tile by tile."""

from __future__ import annotations

import numpy as np

from kernels.anatomy.accesses import NOWHERE, TILE, Access, Loops, Places
from kernels.anatomy.byte_lines import BYTE, CHUNK, SHORT, blocks_that_count
from kernels.anatomy.chunks import wide_answer
from kernels.anatomy.launch_scene import Scene, joined, only, turns
from kernels.anatomy.pattern import QUAD, Threads, stand
from kernels.anatomy.transactions import LANES


def tensor_tile_bytes(at: Scene) -> Threads:
    """Describe warps that walk down tiles of 16 × 8 samples side by side, eight rows at a time."""
    on = Tiles(at)
    lane, groups = at.tx, on.groups
    works = on.is_there

    def each(name: str, loops: Loops, chunk: Places, width: int) -> Access:
        all_read = "eight rows" not in loops
        read = only(QUAD * on.weights_at + chunk, works | all_read)
        return at.load(name, TILE, loops, read, width)

    eights = {"eight rows": groups}
    reads_by_tile = on.is_sparse and on.span == 3
    words = {**eights, "word": 4 * on.tiles if reads_by_tile else on.tiles + 2 * on.beside}
    group, word = turns(words)
    word = word // 4 + word % 4 if reads_by_tile else word
    chunk = on.lead - on.beside + at.ty * on.tiles + word
    read = only(QUAD * on.place(8 * group + lane // 4, chunk) + lane % 4, works)

    times = {} if on.steps == 1 else eights  # a lane that needs few weights keeps them
    kept = {**times, "product": on.steps * on.is_sparse * (on.rows > 0)}
    digits = {**times, "product": on.steps * (on.rows > 0), "digit": on.digits}
    own, (step, digit) = turns(kept)[-1], turns(digits)[-2:]
    downs = {"eight rows": max(groups - on.deep + 1, 0), "part": 3, "product": (on.deep + 1) // 2}
    group, part, s = turns(downs)
    band = (2 * s + on.deep - 1 - (group + on.deep - 1) % on.deep) % on.deep
    down = (part * on.deep + band) * LANES + lane

    along = (step * on.digits + digit) * LANES + lane

    answers = {"eight rows": max(groups - on.deep + 1, 0)}
    pairs = {**answers, "tile": on.tiles, "row": 2}
    _, tile, second = turns(pairs)
    pair = 8 * (at.ty * 8 * on.tiles + on.in_answers(lane % 4 * 2 + second, tile)) + lane // 4
    (group,) = turns(answers)
    tile_row, tile_x = lane // on.tiles, lane % on.tiles
    chunk = at.ty * 8 * on.tiles + on.in_answers(tile_row % 8, tile_x) + 0 * group
    x, y = on.line + tile_x * CHUNK, 8 * group + tile_row
    stored = works & (x < at.row) & (y < on.rows) & (lane < 8 * on.tiles)
    steps = (
        *on.weights(),
        *on.staging(),
        *on.beyond(),
        at.load("Read a word of eight rows", TILE, words, read),
        each("Read which samples weights are for", kept, on.places_at + own * LANES + lane, 1),
        each("Read weights along x", digits, along * QUAD, QUAD),
        each("Read weights down", downs, on.down_at + 2 * down, 2),
        at.store("Store two samples", TILE, pairs, only(pair, works), 1, SHORT),
        at.load("Read a chunk of the answer", TILE, answers, only(QUAD * chunk, works), QUAD),
        *wide_answer(at, answers, (x, at.y0 + y, stored), CHUNK),
    )
    works_in_first = lane < 8 * on.tiles
    stands = stand(only(at.ty * on.tiles * CHUNK + tile_x * CHUNK, works_in_first), tile_row)
    return Threads(steps, stands, (CHUNK, 1), (at.shape.covers[0], 8))


class Tiles:
    """A scene in the names of tensor_tile_bytes: chunks, rows and words in shared memory."""

    def __init__(self, at: Scene) -> None:
        self.at, span = at, blocks_that_count(at)
        self.is_sparse = at.channels > 1
        self.digits = int(at.facts["ROW_DIGITS"])
        self.steps = -(-span // (4 if self.is_sparse else 2))
        self.span, self.beside = span, span // 2
        self.lead = (self.beside + 1) // 2 * 2
        self.tiles = at.shape.covers[0] // CHUNK // at.block_y
        self.deep = 1 + (at.ksize + 6) // 8
        self.rows = max(min(at.shape.covers[1], at.height - at.y0), 0)
        self.groups = ((self.rows + 7) // 8 + self.deep - 1) * (self.rows > 0)
        self.staged = self.lead + at.shape.covers[0] // CHUNK + self.beside
        self.row_chunks = 2 * ((self.staged + 1) // 2 | 1)
        # In words, counted from the weights; then where these and all else begin, in chunks.
        self.places_at = self.steps * self.digits * LANES * QUAD
        self.down_at = self.places_at + (self.steps if self.is_sparse else 1) * LANES
        words = self.down_at + 3 * self.deep * LANES * 2
        self.weights_at = 8 * self.tiles * at.block_y
        self.sources_at = self.weights_at + words // QUAD
        self.ring_at = self.sources_at + (2 * at.halo_x + 3) // 4
        self.line = at.x0 + at.ty * self.tiles * CHUNK
        self.is_there = (self.line < at.row) & (self.rows > 0)

    def place(self, row: Places, chunk: Places) -> Places:
        """Return where a chunk of a row is, in chunks: in_ring, place_of."""
        return self.ring_at + row % 64 * self.row_chunks + (chunk ^ (row >> 2 & 1))

    def in_answers(self, row: Places, tile: Places) -> Places:
        """Return where a tile's row is among a warp's answers, in chunks: as_chunks."""
        return 8 * tile + (row + 8 // self.tiles * tile) % 8

    def weights(self) -> tuple[Access, ...]:
        """Return how the weights are copied, array by array: Weights."""
        at = self.at
        arrays = [("along x", 0, 0, self.steps * self.digits * LANES)]
        if self.is_sparse:
            arrays.append(("and which samples", self.places_at, self.places_at, self.steps * 8))
        source = self.places_at + self.is_sparse * self.steps * LANES
        arrays.append(("down", source, self.down_at, 3 * self.deep * LANES // 2))
        found: list[Access] = []
        for name, source, to, chunks in arrays:
            loops = {"chunk": -(-chunks // at.threads) * (self.rows > 0)}
            n = turns(loops)[0] * at.threads + at.thread
            place, what = only(QUAD * n, n < chunks), f"Copy weights, {name}"
            load = at.load(f"{what}: load", "weights", loops, _further(place, source), QUAD)
            place = _further(place, QUAD * self.weights_at + to)
            found += [load, at.store(f"{what}: store", TILE, loops, place, QUAD)]
        loops, what = {"word": 3 * (self.rows > 0)}, "Load what scales sums"
        return (*found, at.load(what, "weights", loops, source + chunks * QUAD + turns(loops)[0]))

    def staging(self) -> tuple[Access, ...]:
        """Return how rows are copied, each by one warp: begin_group."""
        at = self.at
        count = (self.rows + at.ksize - 1) * (self.rows > 0)
        loops = {
            "eight rows": -(-count // 8),
            "row": 8 // at.block_y,
            "chunk": -(-self.staged // LANES),
        }
        group, row, part = turns(loops)
        row, chunk = 8 * group + at.block_y * row + at.ty, at.tx + LANES * part
        x, line = at.x0 + (chunk - self.lead) * CHUNK, at.line(at.y0 - at.radius + row)
        is_chunk = (row < count) & (chunk < self.staged)
        has_chunk = is_chunk & (x >= 0) & (x < at.row)
        stored = np.where(line == NOWHERE, is_chunk, has_chunk)
        return (
            at.load("Stage: copy, load", "picture", loops, only(joined(line, x), has_chunk), CHUNK),
            at.store(
                "Stage: copy, store", TILE, loops, only(QUAD * self.place(row, chunk), stored), QUAD
            ),
        )

    def beyond(self) -> tuple[Access, ...]:
        """Return how samples beyond a row's ends are put beside it, in all rows alike: Beyond."""
        at, halo = self.at, self.at.halo_x
        begin = 0 if at.x0 == 0 else halo
        end = halo + max(0, min(halo, at.x0 + at.shape.covers[0] + halo - at.row))
        end = end if self.rows else begin
        finds = {"time": -(-(end - begin) // at.threads)}
        n = begin + turns(finds)[0] * at.threads + at.thread
        found = only(QUAD * self.sources_at + n, n < end)

        wide = at.threads // 8
        at_once = min((halo + wide) // wide, 4)
        first = begin + at.thread % wide
        turns_of = -(-(end - begin) // (at_once * wide))
        loops = {"eight rows": self.groups * (end > begin), "turn": turns_of, "sample": at_once}
        group, turn, i = turns(loops)
        own = first + turn * at_once * wide
        n = np.minimum(own + i * wide, end - 1)
        row, is_read = 8 * group + at.thread // wide, own < end
        x = np.where(n < halo, n - halo, at.row + n - halo)
        source, to = at.sample(x), self._byte(row, x)
        here = source - at.x0 + self.lead * CHUNK
        is_here = (source != NOWHERE) & (here >= 0) & (here < self.staged * CHUNK)
        is_own = own + i * wide < end
        steps = (
            at.store("Store where samples beyond the row are from", TILE, finds, found),
            at.load(
                "Read where one is from", TILE, loops, only(QUAD * self.sources_at + n, is_read)
            ),
            at.load(
                "Read a sample of the row",
                TILE,
                loops,
                only(self._byte(row, source), is_read & is_here),
                1,
                BYTE,
            ),
            at.store("Store it beyond the row", TILE, loops, only(to, is_own), 1, BYTE),
        )
        if at.job.border != "wrap":
            return steps
        is_far = is_own & (source != NOWHERE) & ~is_here
        picture = joined(at.line(at.y0 - at.radius + row), source)
        return (
            *steps,
            at.load(
                "Read where one is from, once more",
                TILE,
                loops,
                only(QUAD * self.sources_at + n, is_own),
            ),
            at.load("Load one from the row's other end", "picture", loops, only(picture, is_far)),
            at.store("Store that beyond the row", TILE, loops, only(to, is_far), 1, BYTE),
        )

    def _byte(self, row: Places, x: Places) -> Places:
        """Return the byte of sample x of a row."""
        at = x - self.at.x0 + self.lead * CHUNK
        return CHUNK * self.place(row, at // CHUNK) + at % CHUNK


def _further(places: Places, by: int) -> Places:
    """Return places `by` further on; NOWHERE for NOWHERE."""
    return np.where(places == NOWHERE, NOWHERE, places + by)
