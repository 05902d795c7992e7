"""Records of usual launches for computers without a C++ compiler: assets/anatomy, written anew.

    python -m tests.kernels.anatomy.recorded [KEY...]

What a rung's text, its header included, no longer says is recorded again; test_anatomy.py tells
which files are out of date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.anatomy.launch_shapes import Block, Shape, shapes_of
from kernels.anatomy.record import Record, digest, frame_of
from kernels.core.job import Job
from kernels.rungs.rung import Rung, ladder
from tests.conftest import ROOT
from tests.kernels.on_cpu import RecordingShim

FOLDER = ROOT / "assets" / "anatomy"
SIZES = (3, 5, 9, 15)
KINDS = (("uint8", 3), ("float32", 1))
BLOCKS = ((32, 8), (16, 16))
# One of them fits each rung: separable, of one number, and neither.
FILTERS = ("gaussian", "box", "laplacian_of_gaussian", "edges")


def jobs_of(rung: Rung) -> Iterator[Job]:
    """Yield the jobs that are kept of a rung: those that people look at first."""
    for pixel_type, channels in KINDS:
        picture = np.zeros((2160, 3840, channels), pixel_type)
        for ksize in SIZES:
            for block_xy in BLOCKS[:1] if rung.own_block else BLOCKS:
                found = (_job(rung, name, ksize, picture, block_xy) for name in FILTERS)
                yield from [each for each in found if each][:1]


def _job(
    rung: Rung, name: str, ksize: int, picture: NDArray[np.generic], block_xy: tuple[int, int]
) -> Job | None:
    chosen = filters.get(name)
    if ksize not in chosen.sizes or getattr(chosen, "gradient", False) != rung.gradient:
        return None
    job = Job.of(
        picture, chosen.weights(ksize), "clamp", rung.key, block_xy, gradient=rung.gradient
    )
    return None if rung.why_never(job) else job


def launches_of(rung: Rung, jobs: list[Job]) -> dict[str, tuple[Job, Shape, Block]]:
    """Return the launches to keep, each with a block inside the picture."""
    found = {}
    for job in jobs:
        for shape in shapes_of(rung, job):
            if (block := _inside(shape)) is not None:
                found[digest(rung, job, shape)] = job, shape, block
    return found


def _inside(shape: Shape) -> Block | None:
    across, down = shape.grid
    columns = {1, across // 2}
    blocks = ((x, y) for x in columns for y in range(1, down))
    return next((each for each in blocks if shape.is_inside(each)), None)


def as_kept(record: Record) -> NDArray[np.uint8]:
    """Pack a record of a block inside its picture."""
    steps = record.moved(frame_of(record.shape), (1, 1)).steps
    facts = [(s.array, s.is_store, s.file, s.line, s.size, s.count) for s in steps]
    offsets = [np.diff(s.offsets, axis=1, prepend=0).astype(np.int32).ravel() for s in steps]
    head = json.dumps(facts).encode()
    data = np.concatenate(offsets).tobytes()
    return np.frombuffer(len(head).to_bytes(4, "little") + head + data, np.uint8)


def main(keys: list[str]) -> None:
    """Record what is wanted of all rungs, or of these."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as cache:
        for rung in ladder():
            if keys and rung.key not in keys:
                continue
            jobs = list(jobs_of(rung))
            launches = launches_of(rung, jobs)
            shim = RecordingShim(rung, jobs, Path(cache)) if launches else None
            found = {
                name: as_kept(shim.record(*launch)) for name, launch in launches.items() if shim
            }
            if found:
                np.savez_compressed(FOLDER / f"{rung.key}.npz", **found)
            sys.stdout.write(f"{rung.key}: {len(found)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
