"""The panel Blocks: what is compared, bars or a map of it, and what they say in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QButtonGroup, QPushButton, QToolButton, QWidget

from workbench.base.plain_text import Label
from workbench.charts.canvas import FigureView
from workbench.panels.blocks.block_figures import bars_of, map_of
from workbench.panels.blocks.candidates import Field
from workbench.panels.blocks.picks import ShapePicks
from workbench.panels.blocks.recorded_shapes import RecordedShapes
from workbench.panels.blocks.rows import BlockRow
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import make_button
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import scaled_font, words_label


class BlocksPhase(Enum):
    """The state of a comparison, from not started to done."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"


MIN_CHART_PX = 220
OF_BLOCKS = "Block shapes compared: {subject}"
RECORDED = "recorded on an {device}"
READING = "Reading what was recorded on a GPU …"
NO_GPU = (
    "There is no GPU here. Compare on CPU runs the CPU's implementations in turn on your picture."
)
START_TIP = "Run them in turn on the present job until their times have settled."
STOP_TIP = "Stop; what was measured stays in sight."
PAUSE_TIP = "Pause the comparison, or resume it."
USES_SHAPE = "A click uses that block shape."
USES_IMPLEMENTATION = "A click uses that implementation."
USES_NOTHING = "Recorded times: point at one for details. Choosing a shape takes a GPU."
RECORDED_TIP = "Back to the times that were recorded on a GPU."


class BlocksPanel(QWidget):
    """The panel that shows how the candidates stand, and says what the user wants.

    Signals:
        start_wanted(), stop_wanted(), pause_wanted(is_paused).
        recorded_wanted(): what was recorded on a GPU is to be seen again.
        shapes_changed(): other shapes are to be compared.
        picked(key): this one is to be used.
    """

    start_wanted = Signal()
    stop_wanted = Signal()
    pause_wanted = Signal(bool)
    recorded_wanted = Signal()
    shapes_changed = Signal()
    picked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("blocks-panel")
        self.phase = BlocksPhase.IDLE
        self._has_field = False
        self.rows: tuple[BlockRow, ...] = ()
        self._subject = Label(
            name="blocks-subject", font=scaled_font(1.05, QFont.Weight.DemiBold), wraps=True
        )
        self._work = words_label("blocks-work", 0.88, is_muted=True)
        self._note = words_label("blocks-note", 0.95)
        self.picks = ShapePicks()
        self.picks.changed.connect(self.shapes_changed)
        self._sentence = Label(name="blocks-sentence", wraps=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sentence.setMinimumHeight(2 * self._sentence.fontMetrics().lineSpacing())
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._click = words_label("blocks-click", 0.88, is_muted=True)
        self._make_buttons()
        self._make_chart()
        self._lay_out()
        self.show_phase(BlocksPhase.IDLE)

    # -- what it is told

    def show_field(self, field: Field | str) -> None:
        """Show what would be compared, or the sentence why there is nothing."""
        self._has_field = isinstance(field, Field)
        if isinstance(field, Field):
            named = OF_BLOCKS.format(subject=field.subject)
            self._subject.setText(named if field.is_of_blocks else field.subject)
            self._work.setText(field.work)
            self._click.setText(USES_SHAPE if field.is_of_blocks else USES_IMPLEMENTATION)
            self._say(field.note)
        else:
            self._subject.setText("Nothing to compare")
            self._work.setText("")
            self._say("")
            self.show_rows((), field)
        is_of_blocks = not isinstance(field, Field) or field.is_of_blocks
        self.picks.setVisible(is_of_blocks)
        self._map_button.setEnabled(is_of_blocks)
        self._show_chart()
        self.show_phase(self.phase)

    def show_reading(self) -> None:
        """Say that what was recorded is on its way; until then there is nothing to choose."""
        self._subject.setText(READING)
        self.picks.hide()

    def show_recorded(self, recorded: RecordedShapes, sentence: str, note: str = "") -> None:
        """Show what was measured on another computer; there is nothing to choose.

        sentence  how the shapes stand, and how that work stands to the present job
        note      what else there is to say of there being no GPU
        """
        self._has_field = True
        named = OF_BLOCKS.format(subject=recorded.subject)
        self._subject.setText(f"{named}, {RECORDED.format(device=recorded.device)}")
        self._work.setText(f"{recorded.work}, L2 cold")
        self._click.setText(USES_NOTHING)
        self._say(f"{NO_GPU} {note}".rstrip())
        self.picks.hide()
        self._map_button.setEnabled(True)
        self.show_rows(recorded.rows, sentence)
        self.show_phase(BlocksPhase.IDLE)
        self._start.setText("Compare on CPU")

    def show_can_go_back(self, can: bool) -> None:
        """Offer to see again what was recorded, or no longer."""
        self._back.setVisible(can)

    def _say(self, note: str) -> None:
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def show_rows(self, rows: Sequence[BlockRow], sentence: str) -> None:
        """Show how the candidates stand, and what that says in a sentence."""
        self.rows = tuple(rows)
        self._sentence.setText(sentence)
        self._show_chart()

    def show_phase(self, phase: BlocksPhase) -> None:
        """Name and enable the buttons as suits this phase of the comparison."""
        self.phase = phase
        is_on = phase in (BlocksPhase.RUNNING, BlocksPhase.PAUSED)
        self._start.setText("Stop" if is_on else "Compare")
        self._start.setToolTip(STOP_TIP if is_on else START_TIP)
        self._start.setEnabled(is_on or self._has_field)
        self._pause.setEnabled(is_on)
        self._pause.setText("Resume" if phase is BlocksPhase.PAUSED else "Pause")

    def toggle(self) -> None:
        """Start, or stop."""
        is_on = self.phase in (BlocksPhase.RUNNING, BlocksPhase.PAUSED)
        (self.stop_wanted if is_on else self.start_wanted).emit()

    # -- what is remembered

    def choices(self) -> dict[str, Any]:
        """Return what is remembered from one run to the next."""
        return {**self.picks.choices(), "map": self._map_button.isChecked()}

    def restore(self, data: dict[str, Any]) -> None:
        """Take over what `choices` gave; the defaults replace what makes no sense."""
        self.picks.restore(data)
        (self._map_button if data.get("map") is True else self._bars_button).setChecked(True)
        self._show_chart()

    # -- how it is built

    def _make_buttons(self) -> None:
        self._start, self._pause = QPushButton(), QPushButton()
        self._start.setObjectName("blocks-start")
        self._start.setProperty("primary", True)
        self._start.clicked.connect(self.toggle)
        self._pause.setObjectName("blocks-pause")
        self._pause.setToolTip(PAUSE_TIP)
        self._pause.clicked.connect(
            lambda: self.pause_wanted.emit(self.phase is not BlocksPhase.PAUSED)
        )
        self._back = QPushButton("Recorded")
        self._back.setObjectName("blocks-recorded")
        self._back.setToolTip(RECORDED_TIP)
        self._back.clicked.connect(self.recorded_wanted)
        self._back.hide()
        self._bars_button = _view_button("blocks-bars", "Bars", "One below the other.", "first")
        self._map_button = _view_button(
            "blocks-map", "Map", "Widths across, heights down, times as colours.", "last"
        )
        self._which = QButtonGroup(self)
        for button in (self._bars_button, self._map_button):
            self._which.addButton(button)
            button.clicked.connect(self._show_chart)
        self._bars_button.setChecked(True)

    def _make_chart(self) -> None:
        self.chart = FigureView("")
        self.chart.setAccessibleName("Times of the candidates")
        self.chart.setMinimumWidth(MIN_CHART_PX)
        self.chart.picked.connect(self.picked)

    def _lay_out(self) -> None:
        buttons = HBox(spacing=6)
        buttons.add(self._start, self._pause, self._back, 1)
        segments = HBox(spacing=0)
        segments.add(self._bars_button, self._map_button)
        buttons.addLayout(segments)
        column = VBox(self, MARGINS, 6)
        column.add(
            self._subject,
            self._work,
            self._note,
            self.picks,
            buttons,
            self._sentence,
            self._click,
            (UprightArea(self.chart), 1),
        )

    def _show_chart(self) -> None:
        """Draw a bar for each, or the map, which is one of block shapes alone."""
        is_map = self._map_button.isChecked() and self._map_button.isEnabled()
        figure_of = map_of if is_map else bars_of
        self._click.setVisible(bool(self.rows))
        self.chart.show_figure(figure_of(self.rows, self._sentence.text()) if self.rows else None)


def _view_button(name: str, text: str, tip: str, segment: str) -> QToolButton:
    button = make_button(name, text, tip)
    button.setCheckable(True)
    button.setProperty("segment", segment)
    return button
