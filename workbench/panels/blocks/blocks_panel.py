"""The panel Blocks: what is compared, bars or a map of it, and what they say in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from kernels.measuring.tuner import PRESETS
from workbench.base.plain_text import Label, tip_text
from workbench.charts.canvas import FigureView
from workbench.panels.blocks.candidates import (
    EXAMPLE,
    GRID,
    BlockXY,
    Field,
    UnclearShapesError,
    parsed,
)
from workbench.panels.blocks.rows import BlockRow, RecordedShapes, bars_of, map_of
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import check_segment, make_segments, push_button
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import scaled_font, words_label


class ShapePicks(QWidget):
    """Ticks for two sets of block shapes, and a field to type others.

    Signals:
        changed(): other shapes are to be compared.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._presets = _tick("blocks-presets", "Presets", "The block picker's shapes.")
        self._grid = _tick("blocks-grid", "Grid", "Widths 8 to 256 by heights 1 to 32: a map.")
        self._presets.setChecked(True)
        self._own = QLineEdit()
        self._own.setObjectName("blocks-own")
        self._own.setAccessibleName("Own block shapes")
        self._own.setPlaceholderText("Own: 48×4, 96×2")
        self._own.setToolTip(f"Any other shapes, width × height in threads. {EXAMPLE}")
        self._objection = Label(name="blocks-objection", wraps=True)
        self._objection.setProperty("objection", True)
        self._objection.hide()
        for tick in (self._presets, self._grid):
            tick.toggled.connect(self.changed)
        self._own.editingFinished.connect(self._use_typed)
        self._own.textEdited.connect(self._check)
        self._taken: tuple[BlockXY, ...] = ()
        row = HBox(spacing=6)
        row.add(self._presets, self._grid, (self._own, 1))
        VBox(self, 0, 2).add(row, self._objection)

    @property
    def shapes(self) -> tuple[BlockXY, ...]:
        """The chosen shapes, each once: presets, grid, typed ones that are clear."""
        sets = ((self._presets, PRESETS), (self._grid, GRID))
        ticked = [xy for tick, shapes in sets if tick.isChecked() for xy in shapes]
        return tuple(dict.fromkeys((*ticked, *self._taken)))

    def choices(self) -> dict[str, Any]:
        """Collect what to remember until the next start."""
        return {
            "presets": self._presets.isChecked(),
            "grid": self._grid.isChecked(),
            "own": self._own.text(),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Restore `choices()`; the defaults replace what makes no sense."""
        with QSignalBlocker(self):
            self._presets.setChecked(data.get("presets") is not False)
            self._grid.setChecked(data.get("grid") is True)
            own = data.get("own")
            self._own.setText(own if isinstance(own, str) else "")
            self._use_typed()

    def _check(self) -> bool:
        try:
            parsed(self._own.text())
        except UnclearShapesError as unclear:
            self._objection.setText(str(unclear))
            self._objection.show()
            return False
        self._objection.hide()
        return True

    def _use_typed(self) -> None:
        if self._check() and (found := parsed(self._own.text())) != self._taken:
            self._taken = found
            self.changed.emit()


def _tick(name: str, title: str, tip: str) -> QCheckBox:
    tick = QCheckBox(title)
    tick.setObjectName(name)
    tick.setToolTip(tip_text(tip))
    return tick


class BlocksPhase(Enum):
    """The state of a comparison, from not started to done."""

    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"


MIN_CHART_PX = 220
BARS, MAP = "blocks-bars", "blocks-map"
VIEWS = (
    (BARS, "Bars", "One below the other."),
    (MAP, "Map", "Widths across, heights down, times as colours."),
)
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
    """The panel that shows the standing of the candidates.

    Signals:
        start_wanted(), stop_wanted(), pause_wanted(is_paused).
        recorded_wanted(): show the times recorded on a GPU again.
        shapes_changed(): other shapes are to be compared.
        picked(key): use this one.
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
        self.chart = FigureView("")
        self.chart.setAccessibleName("Times of the candidates")
        self.chart.setMinimumWidth(MIN_CHART_PX)
        self.chart.picked.connect(self.picked)
        self._make_buttons()
        self._lay_out()
        self.show_phase(BlocksPhase.IDLE)

    # -- what it shows

    def show_field(self, field: Field | str) -> None:
        """Show what would be compared, or the reason there is nothing."""
        self._has_field = isinstance(field, Field)
        if isinstance(field, Field):
            named = OF_BLOCKS.format(subject=field.subject)
            self._subject.setText(named if field.is_of_blocks else field.subject)
            self._work.setText(field.work)
            self._click.setText(USES_SHAPE if field.is_of_blocks else USES_IMPLEMENTATION)
            self._show_note(field.note)
        else:
            self._subject.setText("Nothing to compare")
            self._work.setText("")
            self._show_note("")
            self.show_rows((), field)
        is_of_blocks = not isinstance(field, Field) or field.is_of_blocks
        self.picks.setVisible(is_of_blocks)
        self._map_button.setEnabled(is_of_blocks)
        self._show_chart()
        self.show_phase(self.phase)

    def show_reading(self) -> None:
        """Show that recorded times are being read."""
        self._subject.setText(READING)
        self.picks.hide()

    def show_recorded(self, recorded: RecordedShapes, sentence: str, note: str = "") -> None:
        """Show what was measured on another computer; there is nothing to choose.

        sentence  on the standing, and on that work beside the present job
        note      what else is to say without a GPU
        """
        self._has_field = True
        named = OF_BLOCKS.format(subject=recorded.subject)
        self._subject.setText(f"{named}, {RECORDED.format(device=recorded.device)}")
        self._work.setText(f"{recorded.work}, L2 cold")
        self._click.setText(USES_NOTHING)
        self._show_note(f"{NO_GPU} {note}".rstrip())
        self.picks.hide()
        self._map_button.setEnabled(True)
        self.show_rows(recorded.rows, sentence)
        self.show_phase(BlocksPhase.IDLE)
        self._start.setText("Compare on CPU")

    def show_can_go_back(self, can: bool) -> None:
        """Offer to show recorded times again."""
        self._back.setVisible(can)

    def _show_note(self, note: str) -> None:
        self._note.setText(note)
        self._note.setVisible(bool(note))

    def show_rows(self, rows: Sequence[BlockRow], sentence: str) -> None:
        """Show the standing of the candidates, and a sentence on it."""
        self.rows = tuple(rows)
        self._sentence.setText(sentence)
        self._show_chart()

    def show_phase(self, phase: BlocksPhase) -> None:
        """Set the buttons for this phase of the comparison."""
        self.phase = phase
        is_on = self.is_on
        self._start.setText("Stop" if is_on else "Compare")
        self._start.setToolTip(STOP_TIP if is_on else START_TIP)
        self._start.setEnabled(is_on or self._has_field)
        self._pause.setEnabled(is_on)
        self._pause.setText("Resume" if phase is BlocksPhase.PAUSED else "Pause")

    @property
    def is_on(self) -> bool:
        """A comparison runs, or is paused."""
        return self.phase in (BlocksPhase.RUNNING, BlocksPhase.PAUSED)

    def toggle(self) -> None:
        """Start or stop."""
        (self.stop_wanted if self.is_on else self.start_wanted).emit()

    # -- what is remembered

    def choices(self) -> dict[str, Any]:
        """Collect what to remember until the next start."""
        return {**self.picks.choices(), "map": self._map_button.isChecked()}

    def restore(self, data: dict[str, Any]) -> None:
        """Restore `choices()`; the defaults replace what makes no sense."""
        self.picks.restore(data)
        check_segment(self._views, MAP if data.get("map") is True else BARS)
        self._show_chart()

    # -- how it is built

    def _make_buttons(self) -> None:
        self._start = push_button("blocks-start", "")
        self._start.setProperty("primary", True)
        self._start.clicked.connect(self.toggle)
        self._pause = push_button("blocks-pause", "", PAUSE_TIP)
        self._pause.clicked.connect(
            lambda: self.pause_wanted.emit(self.phase is not BlocksPhase.PAUSED)
        )
        self._back = push_button("blocks-recorded", "Recorded", RECORDED_TIP)
        self._back.clicked.connect(self.recorded_wanted)
        self._back.hide()
        self._views = make_segments(VIEWS, lambda _: self._show_chart())
        self._map_button = self._views[MAP]
        check_segment(self._views, BARS)

    def _lay_out(self) -> None:
        buttons = HBox(spacing=6)
        buttons.add(self._start, self._pause, self._back, 1)
        segments = HBox(spacing=0)
        segments.add(*self._views.values())
        buttons.addLayout(segments)
        VBox(self, MARGINS, 6).add(
            *(self._subject, self._work, self._note, self.picks, buttons),
            *(self._sentence, self._click, (UprightArea(self.chart), 1)),
        )

    def _show_chart(self) -> None:
        """Draw bars, or the map, which only block shapes have."""
        is_map = self._map_button.isChecked() and self._map_button.isEnabled()
        figure_of = map_of if is_map else bars_of
        self._click.setVisible(bool(self.rows))
        self.chart.show_figure(figure_of(self.rows, self._sentence.text()) if self.rows else None)
