"""The chart of a sweep: time, or speed-up against a CPU implementation, as points come in."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from kernels.sweep import Cell, Measurement, SweepPoint, write_csv
from workbench import numbers
from workbench.charts import sweep_conditions, sweep_series, sweep_words
from workbench.charts.canvas import Canvas
from workbench.charts.legend import Legend
from workbench.charts.sweep_conditions import Conditions
from workbench.views.tile import MUTED, scaled_font

View = Literal["time", "speed-up"]
REDRAW_MS = 100
EXPORT_SCALE = 2


class SweepChart(QWidget):
    """Shows the points of one sweep; refused and wrong ones are told in words below it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweep-chart")
        self.setAccessibleName("Chart of the sweep")
        self._points: list[SweepPoint] = []
        self._cells: Sequence[Cell] = ()
        self._conditions: Conditions | None = None
        self._preferred = ""
        self._view: View = "time"
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self._draw)
        self._make_controls()
        self._make_figure()
        self._lay_out()
        self._refresh()

    def prefer_baseline(self, key: str) -> None:
        """The CPU implementation to compare with, once it is measured, until the user picks."""
        self._preferred = key

    def show_point(self, point: SweepPoint) -> None:
        self._points.append(point)
        candidate = point.implementation
        is_new = self._baseline.findData(candidate.key) < 0
        if candidate.kind == "cpu" and point.verified and is_new:
            self._baseline.addItem(candidate.title, candidate.key)
            if candidate.key == self._preferred:
                self._baseline.setCurrentIndex(self._baseline.count() - 1)
        self._show_words()
        if not self._later.isActive():
            self._later.start()

    def begin(self, cells: Sequence[Cell], conditions: Conditions | None) -> None:
        """Make room for another sweep: what it will measure, and what it holds fixed."""
        self._points.clear()
        self._baseline.clear()
        self._cells, self._conditions = cells, conditions
        self._refresh()

    @property
    def conditions(self) -> Conditions | None:
        """What the sweep shown held fixed, with the GPU as soon as it is known."""
        outcomes = (point.outcome for point in self._points)
        gpus = (each.device_name for each in outcomes if isinstance(each, Measurement))
        gpu = next(filter(None, gpus), None)
        return replace(self._conditions, gpu=gpu) if self._conditions else None

    @property
    def has_points(self) -> bool:
        return bool(self._points)

    def grab_chart(self) -> QImage:
        """The chart with its legend and its sentences, at twice the screen's resolution."""
        self._canvas.make_plot()
        self._draw()
        image = QImage(self._figure.size() * EXPORT_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(EXPORT_SCALE)
        image.fill(self.palette().window().color())
        self._figure.render(image)
        return image

    def csv(self) -> str:
        """All points, also those refused; see `kernels.sweep.write_csv`."""
        file = io.StringIO(newline="")
        same = sweep_conditions.csv_columns(self._conditions) if self._conditions else {}
        write_csv(self._points, file, same)
        return file.getvalue()

    def _make_controls(self) -> None:
        self._views = QButtonGroup(self)
        self._time = self._view_button(
            "Time", "time", "Kernel time: the median, with the quartiles as a bar"
        )
        self._speedup = self._view_button(
            "Speed-up", "speed-up", "How many times quicker than a CPU implementation"
        )
        self._time.setProperty("segment", "first")
        self._speedup.setProperty("segment", "last")
        self._time.setChecked(True)
        self._baseline = QComboBox()
        self._baseline.setObjectName("sweep-baseline")
        self._baseline.setAccessibleName("Speed-up against")
        self._baseline.setToolTip("The CPU implementation that the speed-up is against")
        self._baseline.setMinimumContentsLength(5)
        self._baseline.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        policy = self._baseline.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # it is higher than the buttons: nothing jumps
        self._baseline.setSizePolicy(policy)
        self._baseline.currentIndexChanged.connect(self._draw)
        self._against = QLabel("vs")
        self._against.setForegroundRole(MUTED)
        self._against.setBuddy(self._baseline)

    def _view_button(self, text: str, view: View, tip: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setCheckable(True)
        button.setObjectName(f"sweep-{view}")
        button.setAccessibleName(f"Show {view}")
        button.setToolTip(tip)
        button.clicked.connect(partial(self._choose, view))
        self._views.addButton(button)
        return button

    def _make_figure(self) -> None:
        self._figure = QFrame()
        self._figure.setProperty("card", True)
        self._title = _sentence("sweep-title", 1.0)
        self._subtitle = _sentence("sweep-subtitle", 0.85)
        self._subtitle.setForegroundRole(MUTED)
        self._legend = Legend()
        self._canvas = Canvas("Points appear here as they are measured.", self._in_words)
        self._canvas.setMinimumHeight(180)
        self._canvas.ready.connect(self._draw)
        self._summary = _sentence("sweep-summary", 1.0)
        self._objections = _sentence("sweep-objections", 0.9)
        self._objections.setForegroundRole(MUTED)

    def _lay_out(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(0)
        controls.addWidget(self._time)
        controls.addWidget(self._speedup)
        controls.addSpacing(8)
        controls.addWidget(self._against)
        controls.addSpacing(6)
        controls.addWidget(self._baseline, 1)
        controls.addStretch()
        inside = QVBoxLayout(self._figure)
        inside.setContentsMargins(10, 8, 10, 8)
        inside.setSpacing(4)
        inside.addWidget(self._title)
        inside.addWidget(self._subtitle)
        inside.addWidget(self._legend)
        inside.addWidget(self._canvas, 1)
        inside.addWidget(self._summary)
        inside.addWidget(self._objections)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(controls)
        layout.addWidget(self._figure, 1)

    def _choose(self, view: View) -> None:
        self._view = view
        self._refresh()

    def _refresh(self) -> None:
        self._show_words()
        self._draw()

    def _show_words(self) -> None:
        conditions = self.conditions if self._points else None
        subtitle = sweep_conditions.in_words(conditions) if conditions else ""
        summary = sweep_words.summary(self._points, self._cells)
        objections = "\n".join(sweep_words.objections(self._points))
        for label, text in (
            (self._subtitle, subtitle),
            (self._summary, summary),
            (self._objections, objections),
        ):
            label.setText(text)
            label.setVisible(bool(text))
        for widget in (self._against, self._baseline):
            widget.setVisible(self._view == "speed-up" and self._baseline.count() > 0)
        count = f"{len(self._points)} points." if self._points else "Nothing measured yet."
        self.setAccessibleDescription(f"{count} {summary} {objections} {subtitle}".strip())

    def _in_words(self, value: float) -> str:
        return numbers.duration(value) if self._view == "time" else numbers.ratio(value)

    @Slot()
    def _draw(self) -> None:
        self._title.setText(self._what_is_shown())
        if self._canvas.plot is None:
            return
        from workbench.charts import sweep_drawing

        series = self._series()
        self._legend.show_keys(tuple(series))
        even = self._view == "speed-up"
        spots = sweep_drawing.draw(
            self._canvas.plot, self._points, series, self.palette(), even=even
        )
        self._canvas.show_spots(spots)

    def _series(self) -> sweep_series.Series:
        if self._view == "time":
            return sweep_series.times(self._points)
        return sweep_series.speedups(self._points, self._baseline.currentData())

    def _what_is_shown(self) -> str:
        if not self._points:
            return ""
        along = f"by {self._points[0].dimension}"
        if self._view == "time":
            return f"Kernel time {along}"
        key = self._baseline.currentData()
        against = sweep_series.name(self._points, key) if key else "a CPU implementation"
        return f"Speed-up {along}, against {against}"


def _sentence(name: str, scale: float) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setFont(scaled_font(scale))
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    return label
