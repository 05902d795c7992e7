"""The candidates of a comparison: block shapes of one rung, or the CPU implementations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick, Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.cpu import host_implementations
from kernels.engine.auto import AUTO
from kernels.engine.own_kernel import UNTIMED, OwnKernel
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from workbench.model import intents
from workbench.model.intents import Changes
from workbench.model.state import State
from workbench.panels.blocks.block_shapes import BlockXY

Picks = Callable[[Job], Iterable[Pick]]
Key = BlockXY | str  # a block shape, or the key of an implementation

NO_PICTURE = "Open a picture first."
NO_CHOICE = "No implementation that can run this job on the GPU lets you choose a block shape."
INSTEAD = "{own} has a block shape of its own. Compared instead: {title}, {why}."
QUICKEST = "the quickest with a choice"
NO_SHAPES = "Choose block shapes to compare."
READING = "Reading {own} …"


@dataclass(frozen=True, slots=True)
class Candidate:
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

    subject   whose shapes: "Shared-memory tile"; or that CPU implementations are compared
    note      why these shapes, where they are of another rung than the chosen one
    work      "Gaussian blur 5×5, border clamp, 512×768, 3 × uint8"
    is_of_blocks  block shapes of a rung, rather than implementations
    sampling  how each is measured
    """

    subject: str
    work: str
    is_of_blocks: bool
    candidates: tuple[Candidate, ...]
    sampling: Sampling
    note: str = ""

    @property
    def able(self) -> tuple[Candidate, ...]:
        """Return the candidates that can run the job."""
        return tuple(each for each in self.candidates if not each.reason)

    def compares_same(self, other: Field) -> bool:
        """Return whether measurements made for `other` hold here, too."""
        mine, others = self.candidates, other.candidates
        return (
            (self.is_of_blocks and self.subject, self.sampling.cache)
            == (other.is_of_blocks and other.subject, other.sampling.cache)
            and [(a.key, a.reason) for a in mine] == [(b.key, b.reason) for b in others]
            and all(_are_alike(a.job, b.job) for a, b in zip(mine, others, strict=True))
        )

    def current(self, state: State) -> Key | None:
        """Return the key of the candidate that the window uses now, or None."""
        if not self.is_of_blocks:
            return state.implementation
        same = [c for c in self.candidates if c.changes["implementation"] == state.implementation]
        return state.block_xy if same else None


def field_of(
    state: State,
    device: Device | NoDevice | None,
    picked: Pick | None,
    shapes: Sequence[BlockXY],
    picks: Picks = lambda _: (),
) -> Field | str:
    """Return what is to be compared in `state`, or the sentence why there is nothing.

    picked  what `auto` runs the present job with, where that is chosen and known
    picks   what may run a job on the GPU, the quickest first: of these the first that has a choice
            is compared in place of a rung that has none
    """
    try:
        job = intents.job_for(state)
    except KernelError as error:
        return str(error)
    if job is None:
        return READING.format(own=state.implementation) if state.picture else NO_PICTURE
    chosen = intents.chosen_in(state)
    is_auto = chosen is AUTO and isinstance(device, Device)
    if is_auto and picked is not None:
        chosen = intents.implementation(picked.implementation)
    if not isinstance(device, Device) or not (is_auto or isinstance(chosen, Rung | OwnKernel)):
        return replace(_on_cpu(job, device), note=untimed(state))
    if not shapes:
        return NO_SHAPES
    if isinstance(chosen, Rung | OwnKernel) and not chosen.own_block:
        return _of_shapes(job, chosen, device, shapes, state)
    instead = next(filter(None, map(_with_a_choice, picks(job))), None)
    if instead is None:
        return NO_CHOICE
    own = f"Auto's pick, {chosen.title}," if is_auto else chosen.title
    note = INSTEAD.format(own=own, title=instead.title, why=QUICKEST)
    field = _of_shapes(job, instead, device, shapes, state)
    return replace(field, note=note if isinstance(chosen, Rung | OwnKernel) else "")


def untimed(state: State) -> str:
    """Return why a kernel of the user's own has no part in it without a GPU; "" where none has."""
    is_chosen = is_own(state.implementation)
    return UNTIMED.format(key=state.implementation) if is_chosen else ""


def _are_alike(one: Job, other: Job) -> bool:
    """Return whether a time of the one is one of the other, on the same implementation."""
    return one.same_work(other) and (one.own, one.devices) == (other.own, other.devices)


def named(block_xy: BlockXY) -> str:
    """Return a block shape's name: "32×8"."""
    return f"{block_xy[0]}×{block_xy[1]}"


def _with_a_choice(pick: Pick) -> Rung | None:
    """Return the rung of `pick` where it has a choice of block shapes."""
    found = intents.implementation(pick.implementation)
    return found if isinstance(found, Rung) and not found.own_block else None


def _of_shapes(
    job: Job, rung: Rung | OwnKernel, device: Device, shapes: Sequence[BlockXY], state: State
) -> Field:
    candidates = []
    for xy in shapes:
        own = job.own if isinstance(rung, OwnKernel) else ""
        shaped = replace(job, implementation=rung.key, own=own, block_xy=xy)
        changes = {"implementation": rung.key, "block_xy": xy}
        reason = rung.why_not(shaped, device) or ""
        candidates.append(Candidate(xy, named(xy), changes, shaped, reason))
    sampling = replace(SWEEP_SAMPLING, cache=state.cache)
    return Field(rung.title, _in_words(job), True, tuple(candidates), sampling)


def _on_cpu(job: Job, device: Device | NoDevice | None) -> Field:
    candidates = tuple(
        Candidate(
            each.key,
            each.title,
            {"implementation": each.key},
            replace(job, implementation=each.key, own=""),
            each.why_not(job) or "",
        )
        for each in host_implementations()
    )
    no_gpu = isinstance(device, NoDevice)
    subject = "CPU implementations compared"
    subject = f"No GPU here: {subject}" if no_gpu else subject
    return Field(subject, _in_words(job), False, candidates, SWEEP_SAMPLING)


def _in_words(job: Job) -> str:
    return (
        f"{job.filter_title} {job.ksize}×{job.ksize}, border {job.border}, "
        f"{job.width}×{job.height}, {job.channels} × {job.pixel_type}"
    )
