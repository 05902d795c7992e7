"""A card with a figure: its words, its legend and its plot, in fonts that suit its size."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import Figure, LegendLine
from workbench.widgets.boxes import Flow, UprightArea, VBox
from workbench.widgets.letters import take_up
from workbench.widgets.tile import scaled_font, words_label

EMPTY = "Points appear here as they are measured."
PLOT_SHARE = 0.7  # of the card's height, which its plot has at least
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
        self.view.setObjectName("chart-canvas")
        self.view.setAccessibleName("Points of the chart")
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

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Draw the samples in the colours of another theme, and all in other letters."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self._show()
