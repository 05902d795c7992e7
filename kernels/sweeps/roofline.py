"""The roofline model: how near a measurement is to what its machine allows.

After Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures", CACM 52 (4), 2009.  A kernel is no quicker than its bytes at the memory's
bandwidth, nor than its operations at the multiprocessors' rate; both were measured on the device.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from kernels.core.errors import KernelError
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Work, ladder, work_of
from kernels.sweeps.cell_jobs import stand_in_job
from kernels.sweeps.record import Machine, Record

OWN_BYTES_MATTER = 1.05  # times the compulsory ones: a sentence tells of them


@dataclass(frozen=True, slots=True)
class Roof:
    """A record's place under its machine's roof; all pictures of its cell together.

    compute_ms        for the rung's operations, at tflop_s; None where they are done by tensor
                      cores, whose ceiling was not measured
    passes_ms         for what the rung's passes have to move, at copy_gb_s; None: not known
    is_l2_resident    whether a picture, its output and the rung's buffers all fit into the L2
                      cache, however many pictures there are: then a time says little about memory
    empty_launch_ms   what a launch that does nothing takes, which no roof tells of; 0: not known
    """

    work: Work  # of one picture
    flops: int  # of one picture: the rung's operations
    milliseconds: float  # measured: the median
    memory_ms: float  # for the compulsory bytes, at copy_gb_s
    compute_ms: float | None
    passes_ms: float | None
    copy_gb_s: float  # bytes read and written by a copy on the device
    tflop_s: float  # of multiply-adds in float32, each two operations
    is_l2_resident: bool
    empty_launch_ms: float = 0.0
    count: int = 1  # pictures

    @property
    def binds(self) -> Literal["memory", "multiply-adds"]:
        """The lower side of the roof here."""
        return "memory" if self.memory_ms >= (self.compute_ms or 0.0) else "multiply-adds"

    @property
    def attainable_ms(self) -> float:
        """The least time under the roof, of the job's bytes and the rung's operations."""
        return max(self.memory_ms, self.compute_ms or 0.0)

    @property
    def share(self) -> float:
        """The share of the roof that was reached; above 1 where the L2 cache is quicker."""
        return self.attainable_ms / self.milliseconds

    @property
    def intensity(self) -> float:
        """The rung's operations over compulsory bytes."""
        return self.flops / self.work.compulsory_bytes

    @property
    def achieved_tflop_s(self) -> float:
        """The rung's operations over the measured time."""
        return self.count * self.flops / self.milliseconds / 1e9

    @property
    def sentence(self) -> str:
        """Say what binds and how much of it was reached, for the user; marked as a model."""
        at = f"at {self.copy_gb_s:,.0f} GB/s"
        if self.binds != "memory":
            at = f"at {self.tflop_s:.3g} TFLOP/s (memory alone {_time(self.memory_ms)})"
        words = [
            f"Model: {self.binds} set the limit, {_time(self.attainable_ms)} {at}; it took "
            f"{_time(self.milliseconds)}, {_percent(self.share)} of the roof."
        ]
        if (self.passes_ms or 0.0) >= OWN_BYTES_MATTER * self.attainable_ms:
            passes_ms = self.passes_ms or 0.0
            words.append(
                f"Its passes move {passes_ms / self.memory_ms:.2g} times the picture's bytes, so "
                f"that {_percent(self.attainable_ms / passes_ms)} would be all."
            )
        if self.work.unknown:
            words.append(self.work.unknown)
        if self.compute_ms is None:
            words.append("It multiplies on tensor cores, whose own ceiling was not measured.")
        if self.empty_launch_ms > self.attainable_ms:
            words.append(f"As many launches of nothing take {_time(self.empty_launch_ms)}.")
        if self.is_l2_resident:
            words.append("All of it fits into the L2 cache, which is quicker than this roof.")
        return " ".join(words)


def roof_of(record: Record, machine: Machine) -> Roof | None:
    """The place of `record` under `machine`'s roof; None where there is none.

    Not on the CPU, nor where a ceiling or the rung's operations are not known.  Needs no GPU: both
    may have been read from a file.
    """
    measured, cell = record.verified, record.cell
    copy_gb_s, tflop_s = (machine.ceilings.get(name) for name in ("copy_gb_s", "fma_tflop_s"))
    if measured is None or is_own(cell.implementation) or cell.list or not copy_gb_s or not tflop_s:
        return None
    rungs = {rung.key: rung for rung in ladder()}
    picked = measured.ran[0].function.partition(".")[0] if measured.ran else ""
    rung = rungs.get(cell.implementation) or rungs.get(picked)  # where `auto` picked it
    if rung is None:
        return None
    if cell.block_xy is None and measured.ran and not rung.own_block:
        cell = replace(cell, block_xy=measured.ran[0].block)
    try:
        work = work_of(stand_in_job(cell), rung, machine.limits.get("multiprocessors", 1))
    except KernelError:
        return None
    if work.flops is None:
        return None
    per_byte_ms, count = 1e-6 / copy_gb_s, cell.count
    moved, on_tensor_cores = work.memory_bytes, "tensor" in rung.includes
    return Roof(
        work=work,
        flops=work.flops,
        milliseconds=measured.kernel.median_ms,
        memory_ms=count * work.compulsory_bytes * per_byte_ms,
        compute_ms=None if on_tensor_cores else count * work.flops / tflop_s / 1e9,
        passes_ms=None if moved is None else count * moved * per_byte_ms,
        copy_gb_s=copy_gb_s,
        tflop_s=tflop_s,
        is_l2_resident=work.working_set_bytes <= machine.limits.get("l2_bytes", 0),
        empty_launch_ms=count * machine.ceilings.get("empty_launch_ms", 0.0),
        count=count,
    )


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.1 else f"{share * 100:.2g} %"


def _time(milliseconds: float) -> str:
    is_short = milliseconds < 0.9995
    return f"{milliseconds * 1e3:.3g} µs" if is_short else f"{milliseconds:.3g} ms"
