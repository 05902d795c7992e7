"""Records of usual launches, kept as data for computers without a C++ compiler.

One file for each rung, `KEY.npz`: of each launch the accesses of one block inside the picture, as
samples and rows from its tile on.  The name of a record is a digest of the rung's text, its knobs
and its launch: what is out of date is not found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from kernels.anatomy.launch_shapes import Layout, Rect, Shape
from kernels.anatomy.record import Access, Record
from kernels.core.job import Job
from kernels.rungs.rung import Rung

NOT_SEEN_INSIDE = ("BORDER", "HAS_OFFSET", "OFFSET")  # knobs that change no access there
# The picture that blocks are kept as of: the tile begins at ORIGIN.
ROW_BYTES, ORIGIN = 1 << 16, (1 << 13, 1 << 10)


def digest(rung: Rung, job: Job, shape: Shape) -> str:
    """Name a record of a launch."""
    knobs = {n: v for n, v in rung.defines(job).items() if n not in NOT_SEEN_INSIDE}
    words = json.dumps([rung.text, shape.number, sorted(knobs.items()), shape.covers, shape.block])
    return sha256(words.encode()).hexdigest()[:16]


def as_kept(record: Record) -> NDArray[np.uint8]:
    """Pack a record of a block inside its picture."""
    steps = record.moved(_frame(record.shape), (1, 1)).steps
    facts = [(s.array, s.is_store, s.file, s.line, s.size, s.count) for s in steps]
    offsets = [np.diff(s.offsets, axis=1, prepend=0).astype(np.int32).ravel() for s in steps]
    head = json.dumps(facts).encode()
    data = np.concatenate(offsets).tobytes()
    return np.frombuffer(len(head).to_bytes(4, "little") + head + data, np.uint8)


def read(folder: Path, rung: Rung, job: Job, shape: Shape) -> Record | None:
    """Read the record of a launch's blocks inside the picture; None where none is kept."""
    path = folder / f"{rung.key}.npz"
    try:
        with np.load(path) as file:
            name = digest(rung, job, shape)
            packed = file[name].tobytes() if name in file else b""
    except (OSError, ValueError, BadZipFile):
        return None
    return _unpacked(packed, shape) if packed else None


def write(folder: Path, key: str, records: Mapping[str, NDArray[np.uint8]]) -> None:
    """Write the file of a rung."""
    np.savez_compressed(folder / f"{key}.npz", **records)  # type: ignore[arg-type]


def _unpacked(packed: bytes, shape: Shape) -> Record:
    begin = 4 + int.from_bytes(packed[:4], "little")
    data, steps = np.frombuffer(packed[begin:], np.int32).astype(np.int64), []
    for array, is_store, file, line, size, count in json.loads(packed[4:begin]):
        own, data = np.split(data, [count * shape.threads])
        offsets = np.cumsum(own.reshape(count, shape.threads), axis=1)
        steps.append(Access(array, is_store, file, line, size, offsets))
    return Record(steps, _frame(shape), (1, 1))


def _frame(shape: Shape) -> Shape:
    """A picture in which the tile of block (1, 1) begins at ORIGIN."""
    x, y = ORIGIN
    corner = Layout(lambda *_: ORIGIN, lambda *_: (1, 1))
    picture = Rect(0, 0, 2 * x, 2 * y)
    return replace(
        shape, picture=picture, layout=corner, row_bytes=dict.fromkeys(shape.row_bytes, ROW_BYTES)
    )
