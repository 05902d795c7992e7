"""A chart of sessions, which fills as they do, with its controls: kind, slices, baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QFont,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QComboBox, QMenu, QSizePolicy, QToolButton, QWidget

from kernels.sweeps.plan import Plan
from kernels.sweeps.record import Session
from workbench.base import theme
from workbench.base.background import Throttle
from workbench.base.plain_text import Label, tip_text
from workbench.charts import ALL_SHOWN, LINES, NO_CHART, NO_SCALE, UNPUBLISHED
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import Bars, Choices, Figure, LegendLine, Option, Plot
from workbench.charts.data.points import Data
from workbench.charts.kinds import NOTHING, ChartKind, chart_kinds, kinds_for
from workbench.widgets.actions import show_reason
from workbench.widgets.boxes import Flow, HBox, UprightArea, VBox
from workbench.widgets.buttons import described, tab_button
from workbench.widgets.drop_down import DropDown, ToolList
from workbench.widgets.file_dialogs import ask_save_path
from workbench.widgets.letters import factor_of, set_factor, take_up
from workbench.widgets.tile import scaled_font, words_label
from workbench.widgets.watch import Watch

EMPTY = "Points appear here as they are measured."
PLOT_SHARE = 0.62  # of the card's height, which its plot has at least
# Names of the labels, and how large their letters are.
SCALES = {"chart-title": 1.05, "chart-subtitle": 0.85, "chart-sentence": 1.0, "chart-notes": 0.88}
SAMPLE_PX, HIDDEN_OPACITY = 28, 0.4
FONT_SHARE = 0.85  # of the program's font
HINT = "Click or Space: hide or show. P or right click: pin, which keeps it in front."


class ChartCard(UprightArea):
    """A card that shows one figure at a time, drawn in its `view`; it scrolls to its last words.

    The legend stands above the plot where marks need it, and below where lines have their names.
    """

    def __init__(self) -> None:
        inside = QWidget()
        super().__init__(inside)
        self.setProperty("card", True)
        self._labels = title, subtitle, sentence, notes = tuple(
            words_label(name, scale, is_muted=name in ("chart-subtitle", "chart-notes"))
            for name, scale in SCALES.items()
        )
        title.setFont(scaled_font(SCALES["chart-title"], QFont.Weight.DemiBold))
        self.view = FigureView(EMPTY, fills=True)
        self.legend = Legend(self.view)
        described(self.view, "chart-canvas", "Points of the chart")
        self._inside = VBox(inside, (10, 8, 10, 8), 4)
        self._inside.add(title, subtitle, (self.view, 1), sentence, notes, self.legend)

    def show_figure(self, figure: Figure | None) -> None:
        """Show a figure's words, and draw it as soon as there is a plot."""
        texts = ("", "", "", "")
        if figure:
            texts = figure.title, figure.subtitle, figure.sentence, "\n".join(figure.notes)
        for label, text in zip(self._labels, texts, strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        is_below = figure is not None and figure.is_named
        self._inside.removeWidget(self.legend)
        self._inside.insertWidget(self._inside.count() if is_below else 2, self.legend)
        self.legend.show_entries(figure.entries if figure and figure.needs_legend else ())
        self.view.show_figure(figure)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.view.show_room(round(PLOT_SHARE * self.height()))


class LegendButton(QToolButton):
    """A button for one series.

    Signals:
        pin_wanted(): keep the series in front, or no longer: by P or a right click.
    """

    pin_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("flat", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_P and not event.modifiers():
            self.pin_wanted.emit()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if event.button() == Qt.MouseButton.RightButton:
            self.pin_wanted.emit()
        else:
            super().mouseReleaseEvent(event)


class FlowRow(QWidget):
    """A widget of parts side by side, in as many rows as its width makes it."""

    def __init__(self, gap_px: int) -> None:
        super().__init__()
        self.flow = Flow(gap_px)
        self.setLayout(self.flow)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def empty(self) -> None:
        while self.flow.takeAt(0):
            pass


class Legend(FlowRow):
    """A legend with as many entries per row as fit, those of each machine after its name.

    The arrow keys go from one to the next.

    Signals:
        hidden(key): leave this series out, or show it again.
        pinned(key): keep it in front, or no longer.
    """

    hidden = Signal(str)
    pinned = Signal(str)

    def __init__(self, view: FigureView) -> None:
        super().__init__(0)
        self._view = view
        view.ready.connect(self._draw_samples)
        self._shown: tuple[LegendLine, ...] = ()
        self._buttons: list[LegendButton] = []
        self._headings: list[Label] = []
        self.setFont(scaled_font(FONT_SHARE))
        Watch(self, QEvent.Type.PaletteChange, QEvent.Type.FontChange).seen.connect(self._show)
        self.setAccessibleName("Legend")

    @property
    def entries(self) -> list[LegendButton]:
        return self._buttons[: len(self._shown)]

    def show_entries(self, entries: Sequence[LegendLine]) -> None:
        """Show these entries; existing buttons are reused, so the focus stays."""
        if self._shown != tuple(entries):
            self._shown = tuple(entries)
            self._show()

    def _show(self) -> None:
        for number in range(len(self._buttons), len(self._shown)):
            self._buttons.append(self._new_button(number))
        self.empty()
        for heading in self._headings:
            heading.deleteLater()
        self._headings, group = [], ""
        for button, entry in zip(self._buttons, self._shown, strict=False):
            pinned = ", pinned" if entry.is_pinned else ""
            name = f"{entry.label}{pinned}{', hidden' if entry.is_hidden else ''}"
            button.setText(entry.name.replace("&", "&&"))
            button.setAccessibleName(name)
            button.setToolTip(tip_text(f"{name}\n{HINT}"))
            font = QFont(self.font())
            font.setBold(entry.is_pinned)
            font.setStrikeOut(entry.is_hidden)
            button.setFont(font)
            if entry.group != group:
                group = entry.group
                heading = Label(group, self, font=self.font(), is_muted=True)
                heading.setFixedHeight(button.sizeHint().height())
                heading.show()
                self._headings.append(heading)
                self.flow.addWidget(heading)
            self.flow.addWidget(button)
        for number, button in enumerate(self._buttons):
            button.setVisible(number < len(self._shown))
        self.setVisible(bool(self._shown))
        self._draw_samples()

    def _draw_samples(self) -> None:
        if self._view.plot is None:  # pyqtgraph would be imported in this thread
            return
        from workbench.charts.drawing.marks import draw_sample

        ratio, colors = self.devicePixelRatioF(), theme.colors(self.palette())
        for button, entry in zip(self.entries, self._shown, strict=True):
            size = QSize(SAMPLE_PX, button.fontMetrics().height())
            sample = QPixmap(size * ratio)
            sample.setDevicePixelRatio(ratio)
            sample.fill(Qt.GlobalColor.transparent)
            painter = QPainter(sample)
            painter.setOpacity(HIDDEN_OPACITY if entry.is_hidden else 1.0)
            draw_sample(painter, entry, colors, QRectF(QPointF(), QSizeF(size)))
            painter.end()
            button.setIconSize(size)
            button.setIcon(sample)

    def _new_button(self, number: int) -> LegendButton:
        button = LegendButton(self)
        button.setFont(scaled_font(FONT_SHARE))
        take_up(button)
        button.clicked.connect(lambda: self.hidden.emit(self._shown[number].key))
        button.pin_wanted.connect(lambda: self.pinned.emit(self._shown[number].key))
        return button


USUAL_PX = (900, 640)  # a larger chart has larger letters: it is looked at from farther away
MAX_FACTOR = 1.6
IMAGE_PX = (1000, 640)
GAP_PX, ROW_GAP_PX = 6, 4  # between the controls, and between rows of lists
MAX_LIST_PX = 300
Identity = tuple[float, str, bool, Plan]  # the part of a session that stays while it grows


class ChartView(QWidget):
    """A view of sessions as one of the kinds of chart.

    Signals:
        picked(cell): the user wants this Cell in the window.
        copy_wanted(image): copy this QImage to the clipboard.
        save_wanted(path, content): save a QImage, or the text of an SVG.
    """

    picked = Signal(object)
    copy_wanted = Signal(object)
    save_wanted = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        described(self, "chart-view", "Chart")
        self._sessions: tuple[Session, ...] = ()
        self._choices = Choices()
        self._preferred: str | None = None
        self._newest: Identity | None = None  # of the session that was begun or opened last
        self.kind_key: str | None = None  # of the chosen kind; None: what suits the sessions
        self._varied: tuple[str, ...] = ()
        self.figure: Figure | None = None
        self._later = Throttle(0, lambda: set_factor(self._card, self._letters()), self)
        # At once, the parts of the card would get theirs after it.
        Watch(self, QEvent.Type.FontChange).seen.connect(self._later.start)
        self._make_controls()
        controls = HBox(spacing=GAP_PX).add((self._kinds, 1), self._menu)
        VBox(self, 0, 6).add(controls, self._options, (self._card, 1))
        self._show()

    # -- input

    def show_sessions(self, sessions: Sequence[Session]) -> None:
        """Show all records so far, the live session first.

        When a session is new, the chart shows its values, whatever was chosen before.
        """
        known = [_identity(session) for session in self._sessions]
        self._sessions = tuple(sessions)
        here = [_identity(session) for session in sessions]
        if new := [each for each in here if each not in known]:
            self._newest = new[0]
            self._choices = replace(self._choices, slices={})
        newest = here.index(self._newest) if self._newest in here else None
        self._choices = replace(self._choices, newest=newest)
        varied = sessions[newest or 0].plan.varied if sessions else ()
        if varied != self._varied:  # another sweep asks for another first look
            self._varied, self.kind_key = varied, None
        self._show()

    def prefer_baseline(self, key: str) -> None:
        """Set the baseline of speed-ups until the user picks another."""
        if key != self._preferred:
            self._preferred = key
            self._show()

    def show_kind(self, key: str) -> None:
        """Show a kind of chart if the sessions have enough for it."""
        self.kind_key = key
        self._show()

    def show_marked(self, cell: object) -> None:
        """Mark a measurement, as a click on it does; None: none any more."""
        self._card.view.show_marked(cell)

    # -- output

    def image(self) -> QImage:
        """The chart with its words in the current theme; a null image if there is none."""
        from workbench.charts.drawing.chart_export import png_of

        colors = theme.colors(self.palette())
        return png_of(self.figure, colors, IMAGE_PX) if self.figure else QImage()

    # -- drawing

    def _show(self) -> None:
        """Show everything anew: the figure is made from scratch, so nothing stale remains."""
        choices = self._choices
        if choices.baseline is None:
            choices = replace(choices, baseline=self._preferred)
        data = Data(self._sessions, choices)
        reasons = {kind: kind.why_not(data) for kind in chart_kinds()}
        kind = min(kinds_for(data), key=lambda kind: kind.key != self.kind_key, default=None)
        self.figure = figure = kind.figure(data) if kind else None
        self._show_kinds(kind, reasons)
        self._options.show_options(figure.options if figure else ())
        self._show_menu(figure, choices)
        self._card.show_figure(figure)
        self.setAccessibleDescription(figure.summary if figure else NOTHING)

    def _show_kinds(self, shown: ChartKind | None, reasons: dict[ChartKind, str | None]) -> None:
        with QSignalBlocker(self._kinds):
            self._kinds.setCurrentIndex([*reasons].index(shown) if shown else -1)
            for kind, reason in reasons.items():
                self._kinds.show_why_not(kind.key, reason or "", kind.tip)
        self._kinds.setEnabled(shown is not None)
        self._kinds.setVisible(shown is not None)
        self._menu.setVisible(shown is not None)
        self._kinds.setToolTip(tip_text(shown.tip if shown else NOTHING))

    def _show_menu(self, figure: Figure | None, choices: Choices) -> None:
        nothing = "" if figure else NO_CHART
        for action in self._exports:
            show_reason(action, nothing)
        body = figure.body if figure else None
        show_reason(self._log, nothing or ("" if isinstance(body, Plot | Bars) else NO_SCALE))
        if isinstance(body, Plot | Bars):
            self._log.setChecked((body.y if isinstance(body, Plot) else body.axis).is_log)
        is_published = figure is not None and figure.has_published
        show_reason(self._grey, nothing or ("" if is_published else UNPUBLISHED))
        self._grey.setChecked(figure is not None and figure.shows_published)
        is_other = bool(choices.hidden or choices.pinned)
        show_reason(self._all, nothing or ("" if is_other else ALL_SHOWN))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self._letters() != factor_of(self._card):
            self._later.start()

    def _letters(self) -> float:
        """The factor of the letters: they grow with the chart, and with those of its panel."""
        factor = min(self.width() / USUAL_PX[0], self.height() / USUAL_PX[1], MAX_FACTOR)
        return max(factor_of(self), round(factor, 1))

    # -- what the user does

    def _choose_option(self, name: str, value: Any) -> None:
        if name == "baseline":
            self._choose(baseline=value)
        else:
            self._choose(slices={**self._choices.slices, name: value})

    def _choose(self, **changes: Any) -> None:
        self._choices = replace(self._choices, **changes)
        self._show()

    def _save(self, suffix: str) -> None:
        from workbench.charts.drawing.chart_export import svg_of

        if (figure := self.figure) is None:
            return
        proposed = Path(f"{figure.title}.{suffix}".replace("/", "-"))
        kind = f"{suffix.upper()} (*.{suffix})"
        if path := ask_save_path(self, "Save the chart", proposed, kind):
            is_svg = path.suffix.lower() == ".svg"
            self.save_wanted.emit(path, svg_of(figure) if is_svg else self.image())

    # -- how it looks

    def _make_controls(self) -> None:
        self._kinds = DropDown("chart-kind", "Kind of chart")
        self._kinds.setMinimumContentsLength(8)
        for kind in chart_kinds():
            self._kinds.addItem(kind.title, kind.key)
        self._kinds.activated.connect(lambda row: self.show_kind(chart_kinds()[row].key))
        self._make_menu()
        self._options = OptionRow()
        self._options.chosen.connect(self._choose_option)
        self._card = ChartCard()
        legend = self._card.legend
        legend.hidden.connect(lambda key: self._choose(hidden=self._choices.hidden ^ {key}))
        legend.pinned.connect(lambda key: self._choose(pinned=self._choices.pinned ^ {key}))
        self._card.view.picked.connect(self.show_marked)
        self._card.view.picked.connect(self.picked)

    def _make_menu(self) -> None:
        tip = "Copy, save as PNG or SVG, logarithmic scale, published numbers"
        self._menu = tab_button("chart-menu", "⋯", tip, "More for this chart")
        self._menu.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        actions = [QAction(text, self, whatsThis=tip) for text, tip in LINES.items()]
        copy, png, svg, self._log, self._grey, self._all = actions
        self._exports = copy, png, svg
        # Those that other menus take over.
        self.actions_of_menu = [svg, self._log, self._grey, self._all]
        copy.triggered.connect(lambda: self.copy_wanted.emit(self.image()))
        png.triggered.connect(lambda: self._save("png"))
        svg.triggered.connect(lambda: self._save("svg"))
        self._log.triggered.connect(lambda on: self._choose(is_log=on))
        self._grey.triggered.connect(lambda on: self._choose(published=on))
        self._all.triggered.connect(lambda: self._choose(hidden=frozenset(), pinned=frozenset()))
        self._log.setCheckable(True)
        self._grey.setCheckable(True)
        menu = QMenu(self)
        menu.addActions(self._exports)
        menu.addSeparator()
        menu.addActions([self._log, self._grey, self._all])
        menu.setToolTipsVisible(True)
        self._menu.setMenu(menu)


def _identity(session: Session) -> Identity:
    return session.started, session.machine.name, session.is_recorded, session.plan


class OptionRow(FlowRow):
    """Lists above a chart, each after its name: the baseline, and dimensions without room.

    Signals:
        chosen(name, value): the user chose a value of the option of that name.
    """

    chosen = Signal(str, object)

    def __init__(self) -> None:
        super().__init__(ROW_GAP_PX)
        self._options: dict[str, Option] = {}
        self._lists: dict[str, tuple[QWidget, QComboBox]] = {}

    def show_options(self, options: Sequence[Option]) -> None:
        """Show a list for each option without emitting; lists that stay keep their entries."""
        shown = {option.name: option for option in options}
        if shown == self._options:
            return
        self._options = shown
        self.empty()
        for name, option in shown.items():
            pair, box = self._lists.get(name) or self._new_list(option)
            texts = [text for _, text in option.values]
            with QSignalBlocker(box):
                if [box.itemText(row) for row in range(box.count())] != texts:
                    box.clear()
                    box.addItems(texts)
                box.setCurrentIndex([value for value, _ in option.values].index(option.chosen))
            self.flow.addWidget(pair)
        for name, (pair, _) in self._lists.items():
            pair.setVisible(name in shown)
        self.setVisible(bool(shown))

    def _new_list(self, option: Option) -> tuple[QWidget, QComboBox]:
        tip = "What speed-ups are against" if option.name == "baseline" else "Which one is shown"
        pair = QWidget(self)
        box = ToolList(f"chart-{option.name}", option.label, tip)
        box.setFont(scaled_font(0.93))
        box.setMaximumWidth(MAX_LIST_PX)
        box.activated.connect(lambda row: self._choose(option.name, row))
        label = Label(option.label, pair, font=scaled_font(0.9), is_muted=True)
        label.setBuddy(box)
        take_up(label)
        take_up(box)
        HBox(pair, 0, GAP_PX).add(label, (box, 1))
        self._lists[option.name] = pair, box
        return pair, box

    def _choose(self, name: str, row: int) -> None:
        """Emit the choice, unless the chart has lost this option since the list was opened."""
        option = self._options.get(name)
        if option is not None and row < len(option.values):
            self.chosen.emit(name, option.values[row][0])
