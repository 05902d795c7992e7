"""What rungs have in common that move sixteen bytes at a time: the words of wide.cuh."""

from __future__ import annotations

from collections.abc import Callable

from kernels.anatomy.scene import Mask, Scene, joined, only
from kernels.anatomy.steps import Places, Step

CHUNK_BYTES = 16


class Chunks:
    """A scene measured in chunks, in the names of wide.cuh.

    chunk  samples in sixteen bytes
    halo   chunks that hold the halo on either side
    spare  samples of the first of those that lie beyond it
    """

    def __init__(self, at: Scene) -> None:
        self.at = at
        self.chunk = CHUNK_BYTES // at.sample_bytes
        self.halo = -(-at.halo_x // self.chunk)
        self.spare = self.halo * self.chunk - at.halo_x

    def whole(self, x: Places, y: Places, takes_part: Mask) -> Places:
        """Where the chunk at sample x of row y is read, if it lies inside its row: load_chunk."""
        inside = takes_part & (x >= 0) & (x + self.chunk <= self.at.row)
        return only(joined(self.at.line(y), x), inside)

    def broken(self, x: Places, y: Places, sample: int, takes_part: Mask) -> Places:
        """Where `sample` of that chunk is read, if it reaches beyond its row: edge_chunk."""
        beyond = takes_part & ((x < 0) | (x + self.chunk > self.at.row))
        return only(self.at.source_sample(y, x + sample), beyond)

    def reads(
        self,
        name: str,
        count: int,
        at: Callable[[int], tuple[Places, Places, Mask]],
        turn: Callable[[int], str],
    ) -> tuple[Step, Step]:
        """Chunks of the picture, continued beyond its edges: read_chunk.

        at  time -> (sample, row, whether it takes part) of each thread
        """

        # In the middle of a picture there are none.
        beyond = [time for time in range(count) if self._is_beyond(*at(time))]

        def whole(time: int) -> Places:
            return self.whole(*at(time))

        def broken(time: int) -> Places:
            x, y, takes_part = at(beyond[time // self.chunk])
            return self.broken(x, y, time % self.chunk, takes_part)

        def beyond_turn(time: int) -> str:
            return f"sample {time % self.chunk + 1} of {turn(beyond[time // self.chunk])}"

        return (
            self._step(name, count, whole, turn, width=self.chunk),
            self._step(f"{name} beyond the row", len(beyond) * self.chunk, broken, beyond_turn),
        )

    def _is_beyond(self, x: Places, _: Places, takes_part: Mask) -> bool:
        return bool((takes_part & ((x < 0) | (x + self.chunk > self.at.row))).any())

    def answer(
        self, count: int, at: Callable[[int], tuple[Places, Places, Mask]]
    ) -> tuple[Step, ...]:
        """Chunks of the answer, each after its alpha was looked up: keep_alpha, write_chunk."""

        def places(time: int) -> Places:
            x, y, takes_part = at(time)
            return only(self.at.begin(y) + x, takes_part)

        def turn(time: int) -> str:
            return f"chunk {time + 1}"

        store = self._step("Store the answer", count, places, turn, True, self.chunk)
        if not self.at.job.has_alpha:
            return (store,)
        return self._step("Load alpha", count, places, turn, width=self.chunk), store

    def _step(
        self,
        name: str,
        count: int,
        places: Callable[[int], Places],
        turn: Callable[[int], str],
        is_store: bool = False,
        width: int = 1,
    ) -> Step:
        size = self.at.sample_bytes
        return Step(name, "global", "picture", is_store, size, count, places, turn, width=width)
