"""A chart of sessions with its controls: which kind, of what, against what; it fills as they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QElapsedTimer, QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontInfo, QImage, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from kernels.sweeps.record import Session
from workbench import theme
from workbench.charts import kinds
from workbench.charts.canvas import Canvas
from workbench.charts.figure import Bars, Choices, Figure, Plot
from workbench.charts.kinds import ChartKind, chart_kinds, first_kind
from workbench.charts.legend import Legend
from workbench.charts.option_row import OptionRow
from workbench.charts.points import Data
from workbench.views.tile import MUTED, scaled_font

REDRAW_MS = 100  # often enough to watch points come in, seldom enough not to slow that down
SHARE = 3  # of the time, one part at most goes into drawing
HIDDEN = "Everything is hidden; show something by the legend."
EMPTY = "Points appear here as they are measured."
LARGE_PX = (900, 640)  # a larger chart has larger letters
LARGEST_FACTOR = 1.6
IMAGE_PX = (1000, 640)


class ChartView(QWidget):
    """Shows sessions as one of the kinds of chart.

    Signals:
        picked(cell): the user wants this Cell in the window.
        copy_wanted(image): the chart to the clipboard.
        save_wanted(path, content): a QImage, or the text of an SVG, to a file.
    """

    picked = Signal(object)
    copy_wanted = Signal(object)
    save_wanted = Signal(object, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chart-view")
        self.setAccessibleName("Chart")
        self._sessions: tuple[Session, ...] = ()
        self._choices = Choices()
        self._preferred: str | None = None
        self._kind_key: str | None = None  # None: what suits the sessions
        self._varied: tuple[tuple[str, ...], ...] = ()
        self._figure: Figure | None = None
        self._factor = 1.0  # of all letters
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self._show)
        self._make_controls()
        self._make_card()
        self._lay_out()
        self._show()

    # -- what it is told

    def show_sessions(self, sessions: Sequence[Session]) -> None:
        """What was measured so far, the live session first; cheap to call for every record."""
        self._sessions = tuple(sessions)
        varied = tuple(session.plan.varied for session in sessions)
        if varied != self._varied:  # another sweep asks for another first look
            self._varied, self._kind_key = varied, None
        if not self._later.isActive():
            self._later.start()

    def prefer_baseline(self, key: str) -> None:
        """What speed-ups are against until the user picks something else."""
        if key != self._preferred:
            self._preferred = key
            self._show()

    def show_kind(self, key: str) -> None:
        """A kind of chart, where the sessions have what it takes."""
        self._kind_key = key
        self._show()

    # -- what it is asked

    @property
    def figure(self) -> Figure | None:
        """What is shown now; None where there is nothing."""
        if self._later.isActive():
            self._show()
        return self._figure

    def image(self) -> QImage:
        """The chart with all its words, as in this theme; null while there is none."""
        from workbench.charts.export import png_of

        figure = self.figure
        return png_of(figure, self._scheme, IMAGE_PX) if figure else QImage()

    def draw_now(self) -> None:
        """What would be drawn in a moment, for a picture that is taken now."""
        self._canvas.make_plot()
        self._show()

    # -- what is shown

    @Slot()
    def _show(self) -> None:
        """Everything anew: the figure is made from scratch, so nothing can be left over."""
        self._later.stop()
        clock = QElapsedTimer()
        clock.start()
        choices = self._choices
        if choices.baseline is None:
            choices = replace(choices, baseline=self._preferred)
        data = Data(self._sessions, choices)
        reasons = {kind.key: kind.why_not(data) for kind in chart_kinds()}
        kind = self._kind(data, reasons)
        self._figure = kind.figure(data) if kind else None
        self._show_kinds(kind, reasons)
        self._show_words()
        self._draw()
        self._later.setInterval(max(REDRAW_MS, SHARE * clock.elapsed()))

    def _kind(self, data: Data, reasons: dict[str, str | None]) -> ChartKind | None:
        chosen = (k for k in chart_kinds() if k.key == self._kind_key and not reasons[k.key])
        return next(chosen, None) or first_kind(data)

    def _show_kinds(self, shown: ChartKind | None, reasons: dict[str, str | None]) -> None:
        model: Any = self._kinds.model()
        with QSignalBlocker(self._kinds):
            for row, kind in enumerate(chart_kinds()):
                item, reason = model.item(row), reasons[kind.key]
                item.setEnabled(reason is None)
                item.setToolTip(reason or kind.tip)
                if kind is shown:
                    self._kinds.setCurrentIndex(row)
            if shown is None:
                self._kinds.setCurrentIndex(-1)
        self._kinds.setEnabled(shown is not None)
        self._kinds.setToolTip(shown.tip if shown else kinds.NOTHING)

    def _show_words(self) -> None:
        figure = self._figure
        texts = {
            self._title: figure.title if figure else "",
            self._subtitle: figure.subtitle if figure else "",
            self._sentence: figure.sentence if figure else "",
            self._notes: "\n".join(figure.notes) if figure else "",
        }
        for label, text in texts.items():
            if label.text() != text:
                label.setText(text)
            label.setVisible(bool(text))
        self._legend.show_entries(figure.entries if figure else ())
        self._options.show_options(figure.options if figure else ())
        self.setAccessibleDescription(figure.summary if figure else kinds.NOTHING)
        self._show_actions(figure)

    def _show_actions(self, figure: Figure | None) -> None:
        has_scale = figure is not None and isinstance(figure.body, Plot | Bars)
        self._log.setEnabled(has_scale)
        if figure is not None and isinstance(figure.body, Plot | Bars):
            axis = figure.body.y if isinstance(figure.body, Plot) else figure.body.axis
            self._log.setChecked(axis.is_log)
        self._published.setEnabled(bool(figure and figure.has_published))
        self._published.setChecked(self._choices.published)
        self._all.setEnabled(bool(self._choices.hidden or self._choices.pinned))
        for action in (self._copy, self._png, self._svg):
            action.setEnabled(figure is not None)

    @Slot()
    def _draw(self) -> None:
        plot = self._canvas.plot
        if plot is None:
            return
        if self._figure is None or self._figure.is_empty:
            hidden = self._figure is not None and self._choices.hidden
            self._canvas.show_empty(HIDDEN if hidden else EMPTY)
            return
        from workbench.charts.drawing import draw, least_px

        font = self._letters()
        least = round(least_px(self._figure, self._canvas.width(), font))
        if least != self._canvas.minimumHeight():
            self._canvas.setMinimumHeight(least)
        closer = self._canvas.closer_range
        drawn = draw(plot, self._figure, theme.colors(self._canvas.palette()), font)
        self._canvas.show_drawn(drawn)
        if closer and drawn.can_zoom:
            plot.setXRange(*closer[0], padding=0)
            plot.setYRange(*closer[1], padding=0)

    def _letters(self) -> QFont:
        """Of the plot: as large as a panel's small print, or larger."""
        font = scaled_font(0.92)
        font.setPixelSize(round(self._factor * QFontInfo(font).pixelSize()))
        return font

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        factor = min(self.width() / LARGE_PX[0], self.height() / LARGE_PX[1], LARGEST_FACTOR)
        factor = round(max(1.0, factor), 1)
        if factor != self._factor:
            self._show_larger(factor)

    def _show_larger(self, factor: float) -> None:
        """A large chart is looked at from farther away."""
        self._factor = factor
        for label, scale, weight in self._scales:
            label.setFont(scaled_font(factor * scale, weight))
        self._legend.show_larger(factor)

    # -- what the user does

    @Slot(int)
    def _choose_kind(self, row: int) -> None:
        self.show_kind(chart_kinds()[row].key)

    @Slot(str, object)
    def _choose_option(self, name: str, value: Any) -> None:
        if name == "baseline":
            self._choose(baseline=value)
        else:
            self._choose(slices={**self._choices.slices, name: value})

    @Slot(str, bool)
    def _hide(self, key: str, is_hidden: bool) -> None:
        hidden = self._choices.hidden
        self._choose(hidden=hidden | {key} if is_hidden else hidden - {key})

    @Slot(str)
    def _pin(self, key: str) -> None:
        self._choose(pinned=self._choices.pinned ^ {key})

    @Slot()
    def _show_everything(self) -> None:
        self._choose(hidden=frozenset(), pinned=frozenset())

    def _choose(self, **changes: Any) -> None:
        self._choices = replace(self._choices, **changes)
        self._show()

    @Slot()
    def _copy_image(self) -> None:
        self.copy_wanted.emit(self.image())

    def _save(self, suffix: str) -> None:
        if (figure := self.figure) is None:
            return
        from workbench.charts.export import svg_of

        name = f"{figure.title}.{suffix}".replace("/", "-")
        chosen, _ = QFileDialog.getSaveFileName(
            self, "Save the chart", name, f"{suffix.upper()} (*.{suffix})"
        )
        if not chosen:
            return
        path = Path(chosen)
        path = (
            path if path.suffix.lower() == f".{suffix}" else path.with_name(f"{path.name}.{suffix}")
        )
        self.save_wanted.emit(path, self.image() if suffix == "png" else svg_of(figure))

    # -- how it looks

    @property
    def _scheme(self) -> Any:
        return "dark" if theme.colors(self.palette()) is theme.DARK else "light"

    def _make_controls(self) -> None:
        self._kinds = QComboBox()
        self._kinds.setObjectName("chart-kind")
        self._kinds.setAccessibleName("Kind of chart")
        self._kinds.setMinimumContentsLength(8)
        self._kinds.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        for kind in chart_kinds():
            self._kinds.addItem(kind.title, kind.key)
        self._kinds.activated.connect(self._choose_kind)
        menu = QMenu(self)
        self._copy = menu.addAction("&Copy the chart", self._copy_image)
        self._png = menu.addAction("Save as &PNG…", lambda: self._save("png"))
        self._svg = menu.addAction("Save as &SVG…", lambda: self._save("svg"))
        menu.addSeparator()
        self._log = menu.addAction("&Logarithmic scale")
        self._log.triggered.connect(lambda is_on: self._choose(is_log=is_on))
        self._published = menu.addAction("P&ublished numbers, in grey")
        self._published.triggered.connect(lambda is_on: self._choose(published=is_on))
        for action in (self._log, self._published):
            action.setCheckable(True)
        self._all = menu.addAction("Show &all, pin none", self._show_everything)
        self._more = QToolButton()
        self._more.setObjectName("chart-menu")
        self._more.setText("⋯")
        self._more.setAccessibleName("More for this chart")
        self._more.setToolTip("Copy, save as PNG or SVG, logarithmic scale, published numbers")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more.setMenu(menu)

    def _make_card(self) -> None:
        self._options = OptionRow()
        self._options.chosen.connect(self._choose_option)
        self._title = _words("chart-title")
        self._subtitle = _words("chart-subtitle", MUTED)
        self._legend = Legend()
        self._legend.hidden.connect(self._hide)
        self._legend.pinned.connect(self._pin)
        self._canvas = Canvas(EMPTY)
        self._canvas.setObjectName("chart-canvas")
        self._canvas.setAccessibleName("Points of the chart")
        self._canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._canvas.setMinimumHeight(200)
        self._canvas.ready.connect(self._draw)
        self._canvas.picked.connect(self.picked)
        self._sentence = _words("chart-sentence")
        self._notes = _words("chart-notes", MUTED)
        self._scales = (
            (self._title, 1.05, QFont.Weight.DemiBold),
            (self._subtitle, 0.85, QFont.Weight.Normal),
            (self._sentence, 1.0, QFont.Weight.Normal),
            (self._notes, 0.88, QFont.Weight.Normal),
        )
        self._show_larger(1.0)

    def _lay_out(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(6)
        controls.addWidget(self._kinds, 1)
        controls.addWidget(self._more)
        card = QFrame()
        card.setProperty("card", True)
        inside = QVBoxLayout(card)
        inside.setContentsMargins(10, 8, 10, 8)
        inside.setSpacing(4)
        for widget in (self._title, self._subtitle, self._legend):
            inside.addWidget(widget)
        inside.addWidget(self._canvas, 1)
        for widget in (self._sentence, self._notes):
            inside.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(controls)
        layout.addWidget(self._options)
        layout.addWidget(card, 1)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        if self._later.isActive():
            self._show()


def _words(name: str, role: QPalette.ColorRole | None = None) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    if role is not None:
        label.setForegroundRole(role)
    return label
