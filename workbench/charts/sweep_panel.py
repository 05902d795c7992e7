"""The right side: choose what a sweep varies and measures, start it, and see it grow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QElapsedTimer, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QImage, QPalette
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from kernels import filters
from kernels.engine import Implementation
from kernels.sweep import DIMENSIONS, Cell, Dimension, SweepPoint, Value, cells
from workbench import numbers
from workbench.charts import sweep_values
from workbench.charts.sweep_chart import SweepChart
from workbench.charts.sweep_conditions import Conditions, conditions_of, held_fixed, taken_down
from workbench.charts.tick_list import Tick, TickList
from workbench.state import State
from workbench.views.tile import MUTED, ElidedLabel, scaled_font

KINDS = {"cpu": "CPU", "cuda": "CUDA"}
POINTS_BEFORE_ESTIMATE = 3
HINT_LINES = 3
BUTTON_MARGIN_PX = 11  # padding and border of theme.qss
LONGEST_TEXT = 1000  # of values, in characters
START_TIP = "Measure every value with every implementation ticked"
BUSY_TIP = "The ladder is being measured; wait for its end, or cancel it"


@dataclass(frozen=True, slots=True)
class SweepWish:
    """What the user asked to be measured; everything else is as in the State."""

    dimension: Dimension
    values: tuple[Value, ...]
    implementations: tuple[Implementation, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        return cells(self.dimension, self.values, self.implementations)


class SweepPanel(QWidget):
    """Asks for sweeps and shows their points.

    Signals:
        started(wish): the user wants this SweepWish measured.
        cancelled(): and now no longer.
    """

    started = Signal(object)
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweep-panel")
        self._state = State()
        self._texts = dict(sweep_values.PRESETS)
        self._dimension: Dimension = "image size"
        self._ticks: dict[str, tuple[QCheckBox, Implementation]] = {}
        self._unticked: set[str] = set()
        self._is_running = self._is_busy = False
        self._asked: tuple[tuple[Cell, ...], Conditions | None] = ((), None)
        self._clock = QElapsedTimer()
        self._make_choices()
        self._make_progress()
        self.chart = SweepChart()
        self._lay_out()
        self._show_dimension("image size")
        self.started.connect(self._take_down)

    def show_state(self, state: State) -> None:
        """Everything that a sweep leaves as it is."""
        self._state = state
        self.chart.prefer_baseline(state.baseline)
        self._refresh()

    def show_implementations(
        self, implementations: Iterable[tuple[Implementation, str | None]]
    ) -> None:
        """All there are, always in the same order, each with the reason why it cannot run here."""
        for implementation, reason in implementations:
            tick = self._tick_of(implementation)
            tick.setEnabled(reason is None)
            tick.setChecked(reason is None and implementation.key not in self._unticked)
            tick.setToolTip(f"{implementation.title}: {reason or implementation.idea}")
        self._refresh()

    def show_running(self, is_running: bool) -> None:
        """A sweep was begun, which clears the chart, or ended before its time."""
        if is_running:
            self.chart.begin(*self._asked)
            self._clock.start()
            self._bar.setValue(0)
        self._is_running = is_running
        self._say("" if is_running else self._outcome("Stopped"))
        self._refresh()

    def show_busy(self, is_busy: bool) -> None:
        """Something else is being measured, or no longer."""
        self._is_busy = is_busy
        self._refresh()

    def show_point(self, point: SweepPoint) -> None:
        self.chart.show_point(point)
        self._copy.setEnabled(True)
        self._bar.setValue(self._bar.value() + 1)
        self._left.setText(self._time_left())

    def show_progress(self, text: str) -> None:
        """What is being measured: "3 of 15 · OpenCV 1024²"."""
        self._say(text)

    def finished(self) -> None:
        """The sweep came to its end."""
        self.show_running(False)
        self._say(self._outcome("Done"))

    def toggle(self) -> None:
        """Start what is asked for, or cancel what runs, as their buttons do."""
        (self._cancel if self._is_running else self._start).click()

    def grab_chart(self) -> QImage:
        """The chart with its legend; null where there are no points."""
        return self.chart.grab_chart() if self.chart.has_points else QImage()

    @property
    def conditions(self) -> dict[str, Any] | None:
        """What the sweep in the chart held fixed, fit for JSON; None while there is no chart."""
        conditions = self.chart.conditions if self.chart.has_points else None
        return asdict(conditions) if conditions else None

    def choices(self) -> dict[str, Any]:
        """What to remember until the next start, fit for JSON."""
        return {
            "dimension": self._dimension,
            "values": dict(self._texts),
            "unticked": sorted(self._unticked),
        }

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave; what makes no sense is as on the first day."""
        texts, unticked = choices.get("values"), choices.get("unticked")
        keys = unticked if isinstance(unticked, list | tuple) else ()
        self._texts = {
            dimension: _text(texts, dimension) or preset
            for dimension, preset in sweep_values.PRESETS.items()
        }
        self._unticked = {key for key in keys if isinstance(key, str)}
        for key, (tick, _) in self._ticks.items():
            tick.setChecked(tick.isEnabled() and key not in self._unticked)
        chosen = next((d for d in DIMENSIONS if d == choices.get("dimension")), DIMENSIONS[0])
        self._dimensions.buttons()[DIMENSIONS.index(chosen)].setChecked(True)
        self._show_dimension(chosen)

    def _make_choices(self) -> None:
        self._dimensions = QButtonGroup(self)
        for dimension in DIMENSIONS:
            button = QToolButton()
            button.setText(DIMENSION_LABELS[dimension])
            button.setFont(scaled_font(0.9))  # three of them have to stand side by side, ...
            text_px = button.fontMetrics().horizontalAdvance(dimension)
            button.setMinimumWidth(text_px + 2 * BUTTON_MARGIN_PX)  # ... so without spare room
            button.setCheckable(True)
            button.setObjectName(f"vary-{dimension.replace(' ', '-')}")
            button.setAccessibleName(f"Vary the {dimension}")
            button.setToolTip(DIMENSION_TIPS[dimension])
            button.clicked.connect(partial(self._show_dimension, dimension))
            self._dimensions.addButton(button)
        self._dimensions.buttons()[0].setChecked(True)
        self._values = QLineEdit()
        self._values.setObjectName("sweep-values")
        self._values.setAccessibleName("Values of the sweep")
        self._values.textEdited.connect(self._keep_text)
        self._hint = QLabel()
        self._hint.setObjectName("sweep-hint")
        self._hint.setWordWrap(True)
        self._hint.setFont(scaled_font(0.9))
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._hint.setMinimumHeight(HINT_LINES * self._hint.fontMetrics().lineSpacing())
        self._implementations = TickList(tuple(KINDS.values()))

    def _make_progress(self) -> None:
        self._start = QPushButton("&Start")
        self._start.setObjectName("sweep-start")
        self._start.setProperty("primary", True)
        self._start.clicked.connect(self._ask)
        self._cancel = QPushButton("Ca&ncel")
        self._cancel.setObjectName("sweep-cancel")
        self._cancel.setToolTip("Stop; the points measured so far stay")
        self._cancel.clicked.connect(self.cancelled)
        self._copy = QPushButton("Cop&y CSV")
        self._copy.setObjectName("sweep-copy-csv")
        self._copy.setToolTip("Copy all points as comma-separated values, for a spreadsheet")
        self._copy.clicked.connect(self._copy_csv)
        self._bar = QProgressBar()
        self._bar.setObjectName("sweep-progress")
        self._bar.setAccessibleName("Points measured")
        self._doing = ElidedLabel(0.9)
        self._doing.setObjectName("sweep-doing")
        self._left = QLabel()
        self._left.setObjectName("sweep-left")
        self._left.setFont(scaled_font(0.9))
        self._left.setForegroundRole(MUTED)

    def _lay_out(self) -> None:
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(10, 8, 10, 8)
        layout.setSpacing(6)
        layout.addWidget(_caption("Vary"))
        layout.addLayout(_row(*self._dimensions.buttons(), spacing=4))
        layout.addWidget(self._values)
        layout.addWidget(self._hint)
        layout.addWidget(self._implementations)
        layout.addLayout(_row(self._start, self._cancel, self._copy, spacing=6))
        progress = QHBoxLayout()
        progress.addWidget(self._bar, 1)
        progress.addWidget(self._left)
        layout.addLayout(progress)
        layout.addWidget(self._doing)
        layout.addWidget(self.chart, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inside)
        outside = QVBoxLayout(self)
        outside.setContentsMargins(0, 0, 0, 0)
        outside.addWidget(area)
        self.setMinimumWidth(320)

    def _tick_of(self, implementation: Implementation) -> QCheckBox:
        """Its box to tick, which is made the first time."""
        if implementation.key in self._ticks:
            return self._ticks[implementation.key][0]
        tick = Tick(implementation.title)
        tick.setObjectName(f"sweep-{implementation.key}")
        tick.setAccessibleName(f"Measure {implementation.title}")
        tick.clicked.connect(self._keep_ticks)
        self._implementations.add(tick, list(KINDS).index(implementation.kind))
        before = [each for each, _ in self._ticks.values()]
        QWidget.setTabOrder(before[-1] if before else self._values, tick)
        self._ticks[implementation.key] = (tick, implementation)
        return tick

    @Slot()
    def _keep_ticks(self) -> None:
        """Remember what the user does not want, for when it cannot run and later can again."""
        for key, (tick, _) in self._ticks.items():
            if tick.isEnabled():
                (self._unticked.discard if tick.isChecked() else self._unticked.add)(key)
        self._refresh()

    def _show_dimension(self, dimension: Dimension) -> None:
        self._dimension = dimension
        with QSignalBlocker(self._values):
            self._values.setText(self._texts[dimension])
        self._values.setToolTip(VALUE_TIPS[dimension])
        self._refresh()

    @Slot(str)
    def _keep_text(self, text: str) -> None:
        self._texts[self._dimension] = text
        self._refresh()

    @Slot()
    def _ask(self) -> None:
        self.started.emit(self._wish())

    @Slot(object)
    def _take_down(self, wish: SweepWish) -> None:
        """Before anybody hears of it: what will be measured, and how things stand now."""
        state = self._state
        held = taken_down(state, wish.dimension, wish.implementations) if state.picture else None
        self._asked = (wish.cells, held)
        self._bar.setRange(0, len(wish.cells))

    @Slot()
    def _copy_csv(self) -> None:
        QGuiApplication.clipboard().setText(self.chart.csv())

    def _wish(self) -> SweepWish:
        """What the controls say; ValueError with a sentence if it cannot be measured."""
        if self._state.picture is None:
            raise ValueError("Open a picture first.")
        sizes = filters.get(self._state.filter).sizes
        values = sweep_values.parse(self._dimension, self._values.text(), sizes)
        chosen = tuple(i for tick, i in self._ticks.values() if tick.isChecked())
        if not chosen:
            raise ValueError("Tick at least one implementation.")
        return SweepWish(self._dimension, values, chosen)

    @Slot()
    def _refresh(self) -> None:
        """Say what is held fixed, or what is wrong; Start only where something can start."""
        try:
            wish = self._wish()
        except ValueError as error:
            hint, is_fine = str(error), False
        else:
            held = conditions_of(self._state, wish.dimension, wish.implementations)
            hint, is_fine = f"With {held_fixed(held)}.", True
        self._hint.setText(hint)
        self._hint.setForegroundRole(MUTED if is_fine else QPalette.ColorRole.BrightText)
        self._start.setEnabled(is_fine and not self._is_running and not self._is_busy)
        self._start.setToolTip(BUSY_TIP if self._is_busy else START_TIP)
        self._cancel.setEnabled(self._is_running)
        self._copy.setEnabled(self.chart.has_points)

    def _say(self, text: str) -> None:
        self._doing.show_text(text)
        self._doing.setAccessibleName(f"Sweep: {text or 'idle'}")
        if not self._is_running:
            self._left.clear()

    def _outcome(self, how: str) -> str:
        done, count = self._bar.value(), self._bar.maximum()
        return f"{how}: {done} of {count} points in {numbers.duration(self._clock.elapsed())}"

    def _time_left(self) -> str:
        """From the points so far; later ones often take longer, so only "about"."""
        done, count = self._bar.value(), self._bar.maximum()
        if done < POINTS_BEFORE_ESTIMATE or done >= count:
            return ""
        seconds = math.ceil(self._clock.elapsed() / 1e3 * (count - done) / done)
        return f"about {seconds} s left" if seconds < 90 else f"about {seconds // 60} min left"


def _caption(text: str) -> QLabel:
    label = QLabel(text)
    label.setFont(scaled_font(0.9))
    label.setForegroundRole(MUTED)
    return label


def _text(texts: Any, dimension: Dimension) -> str:
    """The values remembered for `dimension`, as far as that is a text."""
    text = texts.get(dimension) if isinstance(texts, Mapping) else None
    return text[:LONGEST_TEXT] if isinstance(text, str) else ""


def _row(*widgets: QWidget, spacing: int) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(spacing)
    for widget in widgets:
        widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row.addWidget(widget, 1)
    return row


DIMENSION_LABELS: dict[Dimension, str] = {
    "image size": "Im&age size",
    "kernel size": "&Kernel size",
    "block shape": "Blo&ck shape",
}
DIMENSION_TIPS: dict[Dimension, str] = {
    "image size": "Image size: squares of noise, with the channels and pixel type of your picture",
    "kernel size": "Kernel size: your picture with smaller and larger weights",
    "block shape": "Block shape: other CUDA blocks; the CPU has none and is measured once",
}
VALUE_TIPS: dict[Dimension, str] = {
    "image size": "Pixels a side, as in 256, 512, 1024",
    "kernel size": "Odd numbers that the filter takes, as in 3, 5, 7",
    "block shape": "Threads across × down, as in 16×16, 32×8; across counts samples",
}
