"""The page with an implementation in words, and the resources that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from kernels.core.job import Pick, Ran
from kernels.engine.engine import Implementation
from kernels.rungs.operands import Operands
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from kernels.rungs.work import not_described
from workbench.base import numbers
from workbench.base.plain_text import Label
from workbench.panels.controls.tool_row import KIND_TITLES
from workbench.widgets.boxes import UprightArea, VBox
from workbench.widgets.tile import scaled_font, words_label

NOT_RUN = "Not measured yet with these settings."
OWN = "Yours · it stands on the ladder beside the rungs"
LINKS = (
    Qt.TextInteractionFlag.TextSelectableByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByMouse
    | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
)
STEPS = {"cpu": "implementation", "cuda": "rung"}


class IdeaPage(UprightArea):
    """The page with title, idea, place, refusal and resources of one implementation.

    Signals:
        chosen(key): the user followed a link to another implementation.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("rung-idea-page")
        self.setAccessibleName("Idea and resources")
        self._title = words_label("rung-title")
        self._title.setFont(scaled_font(1.25, QFont.Weight.DemiBold))
        # Its longest word sets the panel's least width.
        self._title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._place = words_label("rung-place", 0.9, is_muted=True)
        self._idea = words_label("rung-idea", 1.05)
        self._after = Label(name="rung-after", font=scaled_font(1.0), wraps=True)
        self._after.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self._after.setTextFormat(Qt.TextFormat.RichText)
        self._after.setTextInteractionFlags(LINKS)  # only at this label does Tab stop
        self._after.linkActivated.connect(self.chosen)
        self._block = words_label("rung-block")
        self._undescribed = words_label("rung-undescribed", 0.95)
        self._refusal = words_label("rung-refusal")
        self._refusal.setProperty("objection", True)
        self._resources = words_label("rung-resources")
        self._resources.setTextFormat(Qt.TextFormat.RichText)
        self._lay_out()

    def show_implementation(
        self, chosen: Implementation, known: Sequence[Implementation], refusal: str | None
    ) -> None:
        """Describe an implementation and its place among the others of its kind.

        known    all implementations
        refusal  why it cannot run the present job, or None
        """
        self._title.setText(chosen.title)
        self._place.setText(place_words(chosen, known))
        self._idea.setText(chosen.idea)
        for label, text in (
            (self._after, _relations(chosen, known)),
            (self._block, block_words(chosen)),
            (self._undescribed, not_described(chosen) if isinstance(chosen, Rung) else ""),
            (self._refusal, refusal or ""),
        ):
            label.show_or_hide(text)

    def show_pick(self, pick: Pick | None) -> None:
        """Add why `auto` picked it; None: the user chose it."""
        if pick is not None:
            self._place.setText(f"{self._place.text()} · picked by Auto: {pick.why}")

    def show_ran(
        self, ran: Sequence[Ran], operands: Operands | None, otherwise: str = NOT_RUN
    ) -> None:
        """List what ran for the present settings, if anything did, and with which weights.

        otherwise  said where nothing did
        """
        parts = [_ran_table(each) for each in ran] or [escape(otherwise).replace("\n", "<br>")]
        if operands is not None and (words := operand_words(operands)):
            parts.append(f"<b>Weights</b><br>{'<br>'.join(map(escape, words))}")
        self._resources.setText("".join(f"<div>{part}</div>" for part in parts))

    def _lay_out(self) -> None:
        heading = words_label("rung-resources-heading", 0.9, is_muted=True)
        heading.setText("Resources")
        card = QFrame()
        card.setProperty("card", True)
        VBox(card).addWidget(self._resources)
        inside = QWidget()
        layout = VBox(inside, (2, 10, 2, 4), 8)
        layout.add(
            *(self._title, self._place, self._idea, self._after, self._block),
            *(self._undescribed, self._refusal, heading, card),
            1,
        )
        self.setWidget(inside)


def block_words(chosen: Implementation) -> str:
    """Describe the rung's block shape, the picker's or its own."""
    if not isinstance(chosen, Rung):
        return ""
    return chosen.own_block or "It takes the block shape that you choose."


def operand_words(operands: Operands) -> list[str]:
    """Describe the operands of a launch beside pictures: "COLUMN: 5 float32 in constant memory"."""
    words = [
        f"{name}: {_shape(values.shape)} {values.dtype} in constant memory"
        for name, values in operands.constants.items()
    ]
    words += [
        f"an argument: {_shape(values.shape)} {values.dtype} in global memory"
        for values in operands.arguments
    ]
    return words + [f"{name} = {value}" for name, value in operands.knobs.items()]


def place_words(chosen: Implementation, known: Sequence[Implementation]) -> str:
    """Its place among its kind: "CUDA · rung 3 of 23"."""
    if is_own(chosen.key):
        return OWN
    kind = chosen.kind
    same = [each for each in known if each.kind == kind and not is_own(each.key)]
    return f"{KIND_TITLES[kind]} · {STEPS[kind]} {same.index(chosen) + 1} of {len(same)}"


def _relations(chosen: Implementation, known: Sequence[Implementation]) -> str:
    """Links to the rung that it builds on, and to those that build on it."""
    if not isinstance(chosen, Rung):
        return ""
    before = [each for each in known if each.key == chosen.after]
    next_ones = [each for each in known if isinstance(each, Rung) and each.after == chosen.key]
    lines = [
        f"Changes one thing about {_links(before)}." if before else "",
        f"Changed further by {_links(next_ones)}." if next_ones else "",
    ]
    return "<br>".join(line for line in lines if line)


def _links(implementations: Sequence[Implementation]) -> str:
    return ", ".join(f'<a href="{each.key}">{escape(each.title)}</a>' for each in implementations)


def _ran_table(ran: Ran) -> str:
    cells = "".join(
        f'<tr><td style="padding-right: 14px">{escape(name)}</td><td>{escape(value)}</td></tr>'
        for name, value in _ran_rows(ran)
        if value
    )
    return f"<b>{escape(ran.function)}</b><table>{cells}</table>"


def _ran_rows(ran: Ran) -> list[tuple[str, str]]:
    if ran.grid is None or ran.block is None:
        return [("Threads", str(ran.threads))] if ran.threads else []
    (across, down), (x, y) = ran.grid, ran.block
    shared = numbers.byte_count(ran.shared_bytes) if ran.shared_bytes is not None else ""
    return [
        ("Grid", f"{across:,} × {down:,} blocks"),
        ("Block", f"{x} × {y} = {x * y:,} threads"),
        ("Registers", f"{ran.registers} per thread" if ran.registers is not None else ""),
        ("Shared", f"{shared} per block" if shared else ""),
    ]


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))
