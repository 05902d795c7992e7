"""What rungs have in common that move sixteen bytes at a time: the words of wide.cuh."""

from __future__ import annotations

from collections.abc import Callable

from kernels.anatomy.accesses import Places, Step
from kernels.anatomy.launch_scene import Scene, only
from kernels.anatomy.reads import Wanted, WideReads

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

    def reads(
        self, name: str, count: int, wanted: Wanted, turn: Callable[[int], str]
    ) -> tuple[Step, Step]:
        """Chunks of the picture, continued beyond its edges: read_chunk, which is load_chunk where
        one lies inside its row, else edge_chunk."""

        def single_turn(sample: int) -> str:
            return f"sample {sample % self.chunk + 1} of {turn(sample // self.chunk)}"

        return WideReads(self.at, count, wanted, self.chunk).steps(
            name, self.chunk, turn, single_turn
        )

    def answer(self, count: int, wanted: Wanted) -> tuple[Step, ...]:
        """Chunks of the answer, each after its alpha was looked up: keep_alpha, write_chunk."""

        def places(time: int) -> Places:
            x, y, takes_part = wanted(time)
            return only(self.at.begin(y) + x, takes_part)

        def turn(time: int) -> str:
            return f"chunk {time + 1}"

        def step(name: str, is_store: bool) -> Step:
            size, width = self.at.sample_bytes, self.chunk
            return Step(name, "global", "picture", is_store, size, count, places, turn, width=width)

        alphas = (step("Load alpha", False),) if self.at.job.has_alpha else ()
        return (*alphas, step("Store the answer", True))
