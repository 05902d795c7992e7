"""Filter pictures larger than the device's memory in strips of rows, each with its halo.

A strip is a picture of its own: its rows, and as many above and below as the filter reaches,
continued by the border where they lie outside.  Only the strip's own rows are written, so its own
edges are never seen, and what comes out is what the whole picture would have given.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from kernels.core.borders import OUTSIDE, source_indices
from kernels.core.device import Device
from kernels.core.job import Job
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung


def memory_bytes(rung: Rung, job: Job, device: Device, height: int | None = None) -> int:
    """Return what `job`, or one of another height, takes of the device's memory.

    Source, answer, and the answer without padding; buffers, arguments, and cuFFT's working
    space, as large as what it transforms.
    """
    facts = Facts(job, device)
    facts["HEIGHT"] = height or job.height
    samples = facts["HEIGHT"] * (2 * facts["PITCH"] + job.width * job.channels)
    arguments = sum(array.nbytes for array in rung.operands(job).arguments)
    buffers = sum(facts.value(size) for _, size in rung.buffers)
    shapes = {each.shape for each in rung.passes if each.shape}
    transforms = sum(8 * prod(map(facts.value, shape)) for shape in shapes)
    return int(samples * facts["SAMPLE_BYTES"] + buffers + arguments + transforms)


def rows_a_strip(rung: Rung, job: Job, device: Device, room_bytes: int) -> int:
    """Return how many rows to filter at once so that it takes at most `room_bytes`.

    The whole picture, or half of it, and so on; 0 if there is no room for one.
    """
    rows = job.height
    while rows and memory_bytes(rung, job, device, _height(job, rows)) > room_bytes:
        rows = -(-rows // 2) if rows > 1 else 0
    return rows


def _height(job: Job, rows: int) -> int | None:
    """Return the height of a strip of `rows`; None: that of the whole picture."""
    return None if rows == job.height else rows + 2 * job.reach


def strip_of(job: Job, first: int, end: int) -> Job:
    """Return `job` for rows first to end - 1 alone.

    They are rows job.reach to job.reach + end - first - 1 of its picture.
    """
    at = source_indices(first - job.reach, end + job.reach, job.height, job.border)
    picture = job.picture[at]
    picture[at == OUTSIDE] = 0
    return replace(job, picture=picture)
