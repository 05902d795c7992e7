"""The candidates of a comparison: block shapes of one rung, as chosen, or CPU implementations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick, Result, Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.cpu import host_implementations
from kernels.engine.auto import AUTO
from kernels.engine.job_comparison import PRESETS
from kernels.engine.own_kernel import UNTIMED, OwnKernel
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from kernels.sweeps.plan import Cell
from workbench.base.plain_text import Label
from workbench.model import intents
from workbench.model.intents import Changes
from workbench.model.plan_draft import pair
from workbench.model.state import State
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described

BlockXY = tuple[int, int]

Picks = Callable[[Job], Iterable[Pick]]
Key = BlockXY | str  # a block shape, or the key of an implementation

NO_PICTURE = "Open a picture first."
NO_CHOICE = "No implementation that can run this job on the GPU lets you choose a block shape."
QUICKEST = "the quickest with a choice"
NO_SHAPES = "Choose block shapes to compare."
WAITING = "Waiting for the steps before …"


@dataclass(frozen=True, slots=True)
class Candidate:
    key: Key
    name: str
    changes: Changes  # what a click on it changes in the State
    job: Job
    reason: str = ""  # why it cannot run; empty if it can


@dataclass(frozen=True, slots=True)
class Field:
    """All candidates of a comparison, and the job they run."""

    subject: str = "Nothing to compare"  # the rung, or that CPU implementations are compared
    work: str = ""  # "Gaussian blur 5×5, border clamp, 512×768, 3 × uint8"
    is_of_blocks: bool = True  # block shapes of a rung, rather than implementations
    candidates: tuple[Candidate, ...] = ()
    sampling: Sampling = SWEEP_SAMPLING  # how each is measured
    note: str = ""  # why they are of another rung than the chosen one
    reason: str = ""  # why there are none

    @property
    def able(self) -> tuple[Candidate, ...]:
        return tuple(each for each in self.candidates if not each.reason)

    def compares_same(self, other: Field) -> bool:
        """Measurements made for `other` hold here, too; or both give the same reason."""
        mine, others = self.candidates, other.candidates
        return (
            self.reason == other.reason
            and (self.is_of_blocks and self.subject, self.sampling.cache)
            == (other.is_of_blocks and other.subject, other.sampling.cache)
            and [(a.key, a.reason) for a in mine] == [(b.key, b.reason) for b in others]
            and all(
                a.job.same_work(b.job) and (a.job.own, a.job.devices) == (b.job.own, b.job.devices)
                for a, b in zip(mine, others, strict=True)
            )
        )

    def current(self, state: State) -> Key | None:
        """The key of the candidate that the window uses now, or None."""
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
    result: Result | None = None,
) -> Field:
    """The comparison for `state`.

    result  the newest: of a list it knows what the selected step is given
    picked  Auto's pick for the present job, where Auto is chosen and has picked
    picks   picks for a job on the GPU, the quickest first: the first whose block shape can be
            chosen replaces a rung with a shape of its own
    """
    try:
        job = intents.step_job(state, result)
    except KernelError as error:
        return Field(reason=str(error))
    if job is None:
        reading = f"Reading {state.implementation} …" if untimed(state) else WAITING
        return Field(reason=NO_PICTURE if state.picture is None else reading)
    chosen = intents.chosen_in(state)
    is_auto = chosen is AUTO and isinstance(device, Device)
    if is_auto and picked is not None:
        chosen = intents.implementation(picked.implementation)
    if not isinstance(device, Device) or not (is_auto or isinstance(chosen, Rung | OwnKernel)):
        return replace(_on_cpu(job, device), note=untimed(state))
    if not shapes:
        return Field(reason=NO_SHAPES)
    if isinstance(chosen, Rung | OwnKernel) and not chosen.own_block:
        return _of_shapes(job, chosen, device, shapes, state)
    picked_ones = (intents.implementation(pick.implementation) for pick in picks(job))
    with_choice = (each for each in picked_ones if isinstance(each, Rung) and not each.own_block)
    instead = next(with_choice, None)
    if instead is None:
        return Field(reason=NO_CHOICE)
    own = f"Auto's pick, {chosen.title}," if is_auto else chosen.title
    note = f"{own} has a block shape of its own. Compared instead: {instead.title}, {QUICKEST}."
    field = _of_shapes(job, instead, device, shapes, state)
    return replace(field, note=note if isinstance(chosen, Rung | OwnKernel) else "")


def untimed(state: State) -> str:
    """The reason that a chosen user kernel takes no part without a GPU, or ""."""
    return UNTIMED.format(key=state.implementation) if is_own(state.implementation) else ""


def _of_shapes(
    job: Job, rung: Rung | OwnKernel, device: Device, shapes: Sequence[BlockXY], state: State
) -> Field:
    candidates = []
    for xy in shapes:
        own = job.own if isinstance(rung, OwnKernel) else ""
        shaped = job.but(implementation=rung.key, own=own, block_xy=xy)
        changes = {"implementation": rung.key, "block_xy": xy}
        reason = rung.why_not(shaped, device) or ""
        candidates.append(Candidate(xy, pair(xy), changes, shaped, reason))
    sampling = replace(SWEEP_SAMPLING, cache=state.cache)
    return Field(rung.title, work_in_words(job.title, job), True, tuple(candidates), sampling)


def _on_cpu(job: Job, device: Device | NoDevice | None) -> Field:
    candidates = tuple(
        Candidate(
            each.key,
            each.title,
            {"implementation": each.key},
            job.but(implementation=each.key, own=""),
            each.why_not(job) or "",
        )
        for each in host_implementations()
    )
    no_gpu = "No GPU here: " if isinstance(device, NoDevice) else ""
    subject = f"{no_gpu}CPU implementations compared"
    return Field(subject, work_in_words(job.title, job), False, candidates, SWEEP_SAMPLING)


def work_in_words(title: str, of: Job | Cell) -> str:
    """Describe work on any picture: filter, border, size and type."""
    return (
        f"{title} {of.ksize}×{of.ksize}, border {of.border}, "
        f"{of.width}×{of.height}, {of.channels}\u00a0×\u00a0{of.pixel_type}"
    )


WIDTHS, HEIGHTS = (8, 16, 32, 64, 128, 256), (1, 2, 4, 8, 16, 32)
GRID: tuple[BlockXY, ...] = tuple((x, y) for y in HEIGHTS for x in WIDTHS)
MAX_SIDE = 1024  # threads along a side, as in the block picker
EXAMPLE = "Write shapes such as 48×4, 96×2."


class UnclearShapesError(ValueError):
    """A typed text that is no list of block shapes; its message is one sentence."""


def parsed(text: str) -> tuple[BlockXY, ...]:
    """Read the shapes (x, y) in "48x4, 96 × 2", each once.

    Raises UnclearShapesError where a word is no shape, or a side is not 1 to MAX_SIDE threads.
    """
    shapes: dict[BlockXY, None] = {}
    for word in re.sub(r"\s*([x×X*])\s*", r"\1", re.sub("[,;]", " ", text)).split():
        found = re.fullmatch(r"(\d{1,6})[x×X*](\d{1,6})", word)
        if found is None:
            raise UnclearShapesError(f"{word!r} is not a shape. {EXAMPLE}")
        shape = int(found[1]), int(found[2])
        if not all(1 <= side <= MAX_SIDE for side in shape):
            raise UnclearShapesError(f"{pair(shape)}: a side is 1 to {MAX_SIDE} threads.")
        shapes[shape] = None
    return tuple(shapes)


class ShapePicks(QWidget):
    """Ticks for two sets of block shapes, and a field to type others."""

    changed = Signal()  # other shapes are to be compared

    def __init__(self) -> None:
        super().__init__()
        tip = "The block picker's shapes."
        self._presets = described(QCheckBox("Presets"), "blocks-presets", "", tip)
        self._presets.setChecked(True)
        tip = "Widths 8 to 256 by heights 1 to 32: a map."
        self._grid = described(QCheckBox("Grid"), "blocks-grid", "", tip)
        tip = f"Any other shapes, width × height in threads. {EXAMPLE}"
        self._own = QLineEdit(placeholderText="Own: 48×4, 96×2")
        described(self._own, "blocks-own", "Own block shapes", tip)
        self._objection = Label(name="blocks-objection", wraps=True)
        self._objection.setProperty("objection", True)
        self._objection.hide()
        for tick in (self._presets, self._grid):
            tick.toggled.connect(self.changed)
        self._own.editingFinished.connect(self._use_typed)
        self._own.textEdited.connect(self._read)
        self._typed: tuple[BlockXY, ...] = ()
        row = HBox(spacing=6).add(self._presets, self._grid, (self._own, 1))
        VBox(self, 0, 2).add(row, self._objection)

    @property
    def shapes(self) -> tuple[BlockXY, ...]:
        """The chosen shapes, each once: presets, grid, typed ones that are clear."""
        sets = ((self._presets, PRESETS), (self._grid, GRID))
        ticked = [xy for tick, shapes in sets if tick.isChecked() for xy in shapes]
        return tuple(dict.fromkeys((*ticked, *self._typed)))

    def choices(self) -> dict[str, Any]:
        ticks = {"presets": self._presets.isChecked(), "grid": self._grid.isChecked()}
        return {**ticks, "own": self._own.text()}

    def restore(self, data: dict[str, Any]) -> None:
        with QSignalBlocker(self):
            self._presets.setChecked(data.get("presets") is not False)
            self._grid.setChecked(data.get("grid") is True)
            own = data.get("own")
            self._own.setText(own if isinstance(own, str) else "")
            self._use_typed()

    def _read(self) -> tuple[BlockXY, ...] | None:
        shapes, objection = None, ""
        try:
            shapes = parsed(self._own.text())
        except UnclearShapesError as unclear:
            objection = str(unclear)
        self._objection.show_or_hide(objection)
        return shapes

    def _use_typed(self) -> None:
        shapes = self._read()
        if shapes is not None and shapes != self._typed:
            self._typed = shapes
            self.changed.emit()
