"""The candidates of a comparison: block shapes of one rung, or the CPU implementations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick, Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.cpu import host_implementations
from kernels.engine.auto import AUTO
from kernels.rungs.rung import Rung
from workbench.model import intents
from workbench.model.intents import Changes
from workbench.model.state import State
from workbench.panels.blocks.block_shapes import BlockXY

Key = BlockXY | str  # a block shape, or the key of an implementation

NO_PICTURE = "Open a picture first."
NO_PICK = "Auto has not picked a rung yet; its shapes are compared as soon as it has."
NO_SHAPES = "Choose block shapes to compare."


@dataclass(frozen=True, slots=True)
class Contender:
    """One candidate of a comparison.

    changes  what a click on it changes in the State
    reason   why it cannot run; empty if it can
    """

    key: Key
    name: str
    changes: Changes
    job: Job
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """All candidates of a comparison, and the job they run.

    subject   whose shapes: "Shared-memory tile"; or that CPU implementations take turns, and why
    work      "Gaussian blur 5×5, border clamp, 512×768, 3 × uint8"
    is_of_blocks  block shapes of a rung, rather than implementations
    sampling  how each is measured
    """

    subject: str
    work: str
    is_of_blocks: bool
    contenders: tuple[Contender, ...]
    sampling: Sampling

    @property
    def able(self) -> tuple[Contender, ...]:
        """Return the contenders that can run the job."""
        return tuple(each for each in self.contenders if not each.reason)

    def compares_same(self, other: Field) -> bool:
        """Return whether measurements made for `other` hold here, too."""
        mine, others = self.contenders, other.contenders
        return (
            (self.is_of_blocks and self.subject, self.sampling.cache)
            == (other.is_of_blocks and other.subject, other.sampling.cache)
            and [(a.key, a.reason) for a in mine] == [(b.key, b.reason) for b in others]
            and all(a.job.same_work(b.job) for a, b in zip(mine, others, strict=True))
        )

    def current(self, state: State) -> Key | None:
        """Return the key of the contender that the window uses now, or None."""
        if not self.is_of_blocks:
            return state.implementation
        same = [c for c in self.contenders if c.changes["implementation"] == state.implementation]
        return state.block_xy if same else None


def field_of(
    state: State,
    device: Device | NoDevice | None,
    picked: Pick | None,
    shapes: Sequence[BlockXY],
) -> Field | str:
    """Return what is to be compared in `state`, or the sentence why there is nothing.

    picked  what `auto` runs the present job with, where that is chosen and known
    """
    try:
        job = intents.job_for(state)
    except KernelError as error:
        return str(error)
    if job is None:
        return NO_PICTURE
    chosen = intents.implementation(state.implementation)
    if chosen is AUTO and isinstance(device, Device):
        if picked is None:
            return NO_PICK
        chosen = intents.implementation(picked.implementation)
    if not isinstance(chosen, Rung) or not isinstance(device, Device):
        return _on_cpu(job, device)
    if chosen.own_block:
        return f"{chosen.title}: {chosen.own_block}"
    if not shapes:
        return NO_SHAPES
    return _of_shapes(job, chosen, device, shapes, state)


def _of_shapes(
    job: Job, rung: Rung, device: Device, shapes: Sequence[BlockXY], state: State
) -> Field:
    contenders = []
    for xy in shapes:
        shaped = replace(job, implementation=rung.key, block_xy=xy)
        changes = {"implementation": rung.key, "block_xy": xy}
        reason = rung.why_not(shaped, device) or ""
        contenders.append(Contender(xy, f"{xy[0]}×{xy[1]}", changes, shaped, reason))
    sampling = replace(SWEEP_SAMPLING, cache=state.cache)
    return Field(rung.title, _in_words(job), True, tuple(contenders), sampling)


def _on_cpu(job: Job, device: Device | NoDevice | None) -> Field:
    contenders = tuple(
        Contender(
            each.key,
            each.title,
            {"implementation": each.key},
            replace(job, implementation=each.key),
            each.why_not(job) or "",
        )
        for each in host_implementations()
    )
    no_gpu = isinstance(device, NoDevice)
    subject = "No GPU here: CPU implementations take turns" if no_gpu else "CPU implementations"
    return Field(subject, _in_words(job), False, contenders, SWEEP_SAMPLING)


def _in_words(job: Job) -> str:
    return (
        f"{job.filter_title} {job.ksize}×{job.ksize}, border {job.border}, "
        f"{job.width}×{job.height}, {job.channels} × {job.pixel_type}"
    )
