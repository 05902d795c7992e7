"""The roofline model: how near a measurement is to what its machine allows.

After Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures", CACM 52 (4), 2009.  A kernel is no quicker than its bytes at the memory's
bandwidth, nor than its operations at the multiprocessors' rate; both were measured on the device.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from kernels.core.errors import KernelError
from kernels.core.job import Ran
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung, ladder
from kernels.rungs.work import Work, work_of
from kernels.sweeps.cell_jobs import stand_in_job
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Machine, Record

OWN_BYTES_MATTER = 1.05  # times the compulsory ones: a sentence tells of them


@dataclass(frozen=True, slots=True)
class Roof:
    """A record's place under its machine's roof; all pictures of its cell together.

    work              of one picture
    milliseconds      measured: the median
    memory_ms         for the compulsory bytes, at copy_gb_s
    compute_ms        for the rung's operations, at tflop_s; None where those are not known, or
                      done by tensor cores, whose ceiling was not measured
    passes_ms         for what the rung's passes have to move, at copy_gb_s; None: not known
    copy_gb_s         bytes read and written by a copy on the device
    tflop_s           of multiply-adds in float32, each two operations
    is_l2_resident    whether a picture, its output and what lies between a rung's passes all fit
                      into the L2 cache: then a time says little about memory.  Several pictures are
                      sampled each by itself, so how many there are plays no part.  With a cold
                      cache the picture comes from memory even so, but the output need not have
                      got there.
    empty_launch_ms   what a launch that does nothing takes, which no roof tells of; 0: not known
    count             pictures
    """

    work: Work
    milliseconds: float
    memory_ms: float
    compute_ms: float | None
    passes_ms: float | None
    copy_gb_s: float
    tflop_s: float
    is_l2_resident: bool
    empty_launch_ms: float = 0.0
    count: int = 1

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
    def intensity(self) -> float | None:
        """Return the rung's operations over compulsory bytes; None where not known."""
        if self.work.flops is None:
            return None
        return self.work.flops / self.work.compulsory_bytes

    @property
    def achieved_tflop_s(self) -> float | None:
        """Return the rung's operations over the measured time; None where not known."""
        if self.work.flops is None:
            return None
        return self.count * self.work.flops / self.milliseconds / 1e9

    @property
    def sentence(self) -> str:
        """Say what binds and how much of it was reached, for the user; marked as a model."""
        return f"Model: {self._what_binds()}{self._own_bytes()}{self._exceptions()}"

    def _what_binds(self) -> str:
        took = f"it took {_time(self.milliseconds)}, {_percent(self.share)} of the roof."
        if self.binds == "memory":
            return (
                "memory binds: reading and writing the picture once takes "
                f"{_time(self.attainable_ms)} at {self.copy_gb_s:,.0f} GB/s; {took}"
            )
        return (
            f"multiply-adds bind: the rung's operations take {_time(self.attainable_ms)} at "
            f"{self.tflop_s:.3g} TFLOP/s, memory alone would take {_time(self.memory_ms)}; {took}"
        )

    def _own_bytes(self) -> str:
        if self.passes_ms is None or self.passes_ms < OWN_BYTES_MATTER * self.attainable_ms:
            return ""
        return (
            f" Its passes move {self.passes_ms / self.memory_ms:.2g} times the picture's bytes, so "
            f"that {_percent(self.attainable_ms / self.passes_ms)} would be all."
        )

    def _exceptions(self) -> str:
        words = f" {self.work.unknown}" if self.work.unknown else ""
        if not words and self.compute_ms is None:
            words = " It multiplies on tensor cores, whose own ceiling was not measured."
        if self.empty_launch_ms > self.attainable_ms:
            what = "A launch that does nothing takes"
            if self.count > 1:
                what = f"{self.count} launches that do nothing take"
            words += f" {what} {_time(self.empty_launch_ms)}."
        if self.is_l2_resident:
            words += (
                " All of it fits into the L2 cache, which is quicker than the memory that the roof "
                "was measured on."
            )
        return words


def roof_of(record: Record, machine: Machine) -> Roof | str:
    """The place of `record` under `machine`'s roof, or a sentence why there is none.

    Needs no GPU: both may have been read from a file.
    """
    if record.verified is None:
        return f"Model: none, since there is no time to compare it with: {record.objection}"
    measured, cell = record.verified, record.cell
    if is_own(cell.implementation):  # which may be called as a rung
        return "Model: none, since nobody described what a kernel of your own loads and computes."
    rung = _rung_of(cell, measured.ran)
    if rung is None:
        return "Model: none, since the ceilings are those of the GPU, and the CPU did this."
    copy_gb_s, tflop_s = (machine.ceilings.get(name) for name in ("copy_gb_s", "fma_tflop_s"))
    if not copy_gb_s or not tflop_s:
        return f"Model: none, since the ceilings of {machine.name} were not measured."
    if cell.block_xy is None and measured.ran and not rung.own_block:  # `auto` chose it
        cell = replace(cell, block_xy=measured.ran[0].block)
    try:
        work = work_of(stand_in_job(cell), rung, machine.limits.get("multiprocessors", 1))
    except KernelError as error:
        return f"Model: none: {error}"
    count, is_counted = cell.count, work.flops is not None and "tensor" not in rung.includes
    return Roof(
        work=work,
        milliseconds=measured.kernel.median_ms,
        memory_ms=count * work.compulsory_bytes / copy_gb_s / 1e6,
        compute_ms=count * (work.flops or 0) / tflop_s / 1e9 if is_counted else None,
        passes_ms=(
            None if work.memory_bytes is None else count * work.memory_bytes / copy_gb_s / 1e6
        ),
        copy_gb_s=copy_gb_s,
        tflop_s=tflop_s,
        is_l2_resident=work.working_set_bytes <= machine.limits.get("l2_bytes", 0),
        empty_launch_ms=count * machine.ceilings.get("empty_launch_ms", 0.0),
        count=count,
    )


def _rung_of(cell: Cell, ran: tuple[Ran, ...]) -> Rung | None:
    """The rung that ran, by the name of its function where `auto` picked it; None: none did."""
    rungs = {rung.key: rung for rung in ladder()}
    picked = ran[0].function.partition(".")[0] if ran else ""
    return rungs.get(cell.implementation) or rungs.get(picked)


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.1 else f"{share * 100:.2g} %"


def _time(milliseconds: float) -> str:
    """Return "12.3 µs" or "1.23 ms"."""
    if milliseconds < 0.9995:
        return f"{milliseconds * 1e3:.3g} µs"
    return f"{milliseconds:.3g} ms"
