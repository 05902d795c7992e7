"""The work that a job asks for, and that a rung does for it: counted rather than measured.

A rung's header says how many numbers each pass loads and stores, and how many operations it spends
on them: as its text asks for them, edge blocks and all, and with what lies twice in a halo.  A
compiler may ask for less, and caches serve most repeated requests.

The counts are exact for borders that continue the picture, but for the last segments of ring and
running_sums; zeros beyond the picture are not loaded.  Where operations depend on samples the usual
path is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from kernels.core.job import Job
from kernels.rungs.headers import Facts
from kernels.rungs.rung import PICTURE, Pass, Rung

BY_A_LIBRARY = "cuFFT does not say what it loads, stores and computes."


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one job and of one rung that does it, in numbers.

    compulsory_bytes  the picture read once and written once
    samples           of the picture
    working_set_bytes the picture, the output and the rung's buffers between them

    Of the rung, None on the CPU and where `unknown` says why, as where no header describes it:

    picture_loads     samples of the picture that its threads ask for
    data_loads        the same, and numbers of buffers between passes
    loaded_bytes      of picture, buffers and weights in global memory, requested by its threads
    stored_bytes      to picture and buffers
    memory_bytes      what its passes have to move if each reads what it needs once
    flops             additions, multiplications and roots, a multiply-add as two; not what turns
                      integers into floats, or scales halves for tensor cores
    """

    compulsory_bytes: int
    samples: int
    working_set_bytes: int
    picture_loads: int | None = None
    data_loads: int | None = None
    loaded_bytes: int | None = None
    stored_bytes: int | None = None
    memory_bytes: int | None = None
    flops: int | None = None
    unknown: str = ""

    @property
    def loads_a_sample(self) -> float | None:
        """Samples of the picture requested, over the samples of the output."""
        return None if self.picture_loads is None else self.picture_loads / self.samples

    @property
    def data_loads_a_sample(self) -> float | None:
        """Numbers of picture and buffers requested, over the samples of the output."""
        return None if self.data_loads is None else self.data_loads / self.samples

    @property
    def halo_share(self) -> float | None:
        """The share of requested samples that were requested before: 0 to 1."""
        return max(0.0, 1 - self.samples / self.picture_loads) if self.picture_loads else None

    @property
    def rung_intensity(self) -> float | None:
        """The rung's operations per byte: its flops over its memory_bytes."""
        if self.flops is None or self.memory_bytes is None:
            return None
        return self.flops / self.memory_bytes


def work_of(job: Job, rung: Rung | None, multiprocessors: int) -> Work:
    """The work of `job` and of `rung`; None: an implementation on the CPU.

    multiprocessors  of the device: some rungs make as many blocks as those keep busy
    The picture's samples play no part.
    """
    facts = Facts(job)
    facts["MULTIPROCESSORS"] = multiprocessors
    buffers = sum(facts.value(size) for _, size in rung.buffers) if rung else 0
    compulsory, samples = job.compulsory_bytes, int(facts["SAMPLES"])
    found = Work(compulsory, samples, compulsory + buffers)
    if rung is None:
        return found
    if any(each.library for each in rung.passes):
        return replace(found, unknown=BY_A_LIBRARY)
    done = [pass_work(each, facts) for each in rung.passes]
    found = replace(found, unknown=not_described(rung))
    if says_flops(rung):
        found = replace(found, flops=sum(each.flops or 0 for each in done))
    if not says_loads(rung):
        return found
    loads = [item for each in done for item in each.loads.items()]
    sizes, moved = {PICTURE: samples}, 0  # the small weights not counted
    for each in done:
        needed = {name: min(count, sizes.get(name, 0)) for name, count in each.loads.items()}
        moved += facts.bytes_of(needed) + facts.bytes_of(each.stores)
        sizes |= {name: count for name, count in each.stores.items() if name != PICTURE}
    return replace(
        found,
        picture_loads=sum(count for name, count in loads if name == PICTURE),
        data_loads=sum(count for name, count in loads if name != "weights"),
        loaded_bytes=sum(facts.bytes_of(each.loads) for each in done),
        stored_bytes=sum(facts.bytes_of(each.stores) for each in done),
        memory_bytes=moved,
    )


def says_loads(rung: Rung) -> bool:
    """Return True if the header describes the loads of all passes."""
    return all(each.loads for each in rung.passes)


def says_flops(rung: Rung) -> bool:
    """Return True if the header describes the operations of all passes."""
    return all(each.flops for each in rung.passes)


def not_described(rung: Rung) -> str:
    """The sentence on what its header leaves out, a library's aside; empty: nothing."""
    if any(each.library for each in rung.passes):
        return ""
    parts = ["loads"] * (not says_loads(rung)) + ["operations"] * (not says_flops(rung))
    words = f"{' and '.join(parts).capitalize()} of this rung are not described."
    return words if parts else ""


class PassWork(NamedTuple):
    """Loads and stores of one pass, all of its blocks, by what they belong to."""

    loads: Mapping[str, int]
    stores: Mapping[str, int]
    flops: int | None  # None where the header does not say it


def pass_work(each: Pass, facts: Facts) -> PassWork:
    """Evaluate the header's description of `each`, which is not a library's."""
    facts.take(each.covers, each.grid)
    stores = each.stores or ((each.writes, "SAMPLES"),)
    return PassWork(
        {name: facts.value(count) for name, count in each.loads},
        {name: facts.value(count) for name, count in stores},
        facts.value(each.flops) if each.flops else None,
    )
