"""The chart of a sweep: time, or speed-up against a CPU implementation, as points come in."""

from __future__ import annotations

import io
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

from kernels.sweep import SweepPoint, write_csv
from workbench import numbers, sweep_series, sweep_words
from workbench.canvas import Canvas
from workbench.legend import Legend
from workbench.tile import MUTED, scaled_font

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
        self._preferred = ""
        self._view: View = "time"
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self._draw)
        self._make_controls()
        self._make_figure()
        self._lay_out()
        self.clear()

    def prefer_baseline(self, key: str) -> None:
        """The CPU implementation to compare with, once it is measured, until the user picks."""
        self._preferred = key

    def show_point(self, point: SweepPoint) -> None:
        self._points.append(point)
        key, is_cpu = point.implementation.key, point.implementation.kind == "cpu"
        if is_cpu and point.verified and self._baseline.findText(key) < 0:
            self._baseline.addItem(key)
            if key == self._preferred:
                self._baseline.setCurrentText(key)
        self._show_words()
        if not self._later.isActive():
            self._later.start()

    def clear(self) -> None:
        self._points.clear()
        self._baseline.clear()
        self._show_words()
        self._draw()

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
        write_csv(self._points, file)
        return file.getvalue()

    def _make_controls(self) -> None:
        self._views = QButtonGroup(self)
        self._time = self._view_button(
            "Time", "time", "Kernel time: the median, with the quartiles as a bar"
        )
        self._speedup = self._view_button(
            "Speed-up", "speed-up", "How many times quicker than the CPU implementation beside it"
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
        self._baseline.currentIndexChanged.connect(self._draw)

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
        self._title = _sentence("sweep-title", 0.9)
        self._title.setForegroundRole(MUTED)
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
        controls.addSpacing(6)
        controls.addWidget(self._baseline, 1)
        inside = QVBoxLayout(self._figure)
        inside.setContentsMargins(10, 8, 10, 8)
        inside.setSpacing(4)
        inside.addWidget(self._title)
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
        self._draw()

    def _show_words(self) -> None:
        summary = sweep_words.summary(self._points)
        objections = "\n".join(sweep_words.objections(self._points))
        for label, text in ((self._summary, summary), (self._objections, objections)):
            label.setText(text)
            label.setVisible(bool(text))
        self._baseline.setEnabled(self._baseline.count() > 0)
        count = f"{len(self._points)} points." if self._points else "Nothing measured yet."
        self.setAccessibleDescription(f"{count} {summary} {objections}".strip())

    def _in_words(self, value: float) -> str:
        return numbers.duration(value) if self._view == "time" else numbers.ratio(value)

    @Slot()
    def _draw(self) -> None:
        self._title.setText(self._what_is_shown())
        if self._canvas.plot is None:
            return
        from workbench import sweep_drawing

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
        return sweep_series.speedups(self._points, self._baseline.currentText())

    def _what_is_shown(self) -> str:
        if not self._points:
            return ""
        along = f"by {self._points[0].dimension}"
        if self._view == "time":
            return f"Kernel time {along}"
        key = self._baseline.currentText()
        against = sweep_series.name(self._points, key) if key else "a CPU implementation"
        return f"Speed-up {along}, against {against}"


def _sentence(name: str, scale: float) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setFont(scaled_font(scale))
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    return label
