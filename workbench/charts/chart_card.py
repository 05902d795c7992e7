"""A card with a figure: its words, its legend and its plot, in fonts that suit its size."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QScrollArea, QSizePolicy, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.charts.canvas import FigureView
from workbench.charts.data.chart_words import HIDDEN
from workbench.charts.data.figure import Figure, LegendLine
from workbench.widgets.boxes import Flow, VBox
from workbench.widgets.folding import FoldButton
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import MUTED, scaled_font

EMPTY = "Points appear here as they are measured."
URGENT = ("✗", HIDDEN)  # the beginnings of notes that are never folded
PLOT_SHARE = 0.6  # of the card's height, which its plot has at least
# Rows of a legend at each level of folding.  At 1 notes and what was held fixed are folded, at 2
# title, sentence and notes are cut as well.
ROWS = (math.inf, 3, 1)
FEW_LINES = 2
# Names of the labels, and how large their letters are.
SCALES = {"chart-title": 1.05, "chart-subtitle": 0.85, "chart-sentence": 1.0, "chart-notes": 0.88}
MAX_ROUNDS = 4  # of an arrangement that changes the size it goes by
DETAILS_TIP = "What was held fixed and where, the legend (to hide and pin series), and the notes"
SAMPLE_PX, GAP_PX, EDGE_PX = 28, 4, 3
MIN_ROW_PX = 24  # what a finger or an unsteady hand needs
FONT_SHARE = 0.85  # of the program's font
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
HINT = "Click or Space: hide or show. P or right click: pin, which keeps it in front."


class ChartCard(QFrame):
    """A card that shows one figure at a time, drawn in its `view`.

    Signals:
        hidden(key), pinned(key): hide or pin this series, or no longer.
    """

    hidden = Signal(str)
    pinned = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._figure: Figure | None = None
        self._labels = self._title, _, self._sentence, self._notes = tuple(map(_label, SCALES))
        self._fold = FoldButton("chart-fold", DETAILS_TIP, "Details")
        self._fold.clicked.connect(self._arrange)
        self._legend = Legend()
        self._legend.hidden.connect(self.hidden)
        self._legend.pinned.connect(self.pinned)
        self.view = FigureView(EMPTY, fills=True)
        self.view.setObjectName("chart-canvas")
        self.view.setAccessibleName("Points of the chart")
        self._inside = VBox(self, (10, 8, 10, 8), 4)
        self._inside.add(*self._labels[:2], self._legend, (self.view, 1))
        self._inside.add(self._sentence, self._fold, self._notes)
        self._factor = 1.0
        self._is_arranging = False
        # At once, the parts of the card would get their new letters after it.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._show_letters)
        self._show_letters()

    def show_figure(self, figure: Figure | None) -> None:
        """Show a figure's words, and draw it as soon as there is a plot."""
        self._figure = figure
        self._arrange()
        self.view.show_figure(figure)

    def show_larger(self, factor: float) -> None:
        """Magnify all fonts."""
        self._factor = factor
        self._show_letters()

    @Slot()
    def _show_letters(self) -> None:
        """Set all fonts as the size of the chart, and the letters of its panel, ask for."""
        factor = self._factor * factor_of(self)
        for label in self._labels:
            weight = QFont.Weight.DemiBold if label is self._title else QFont.Weight.Normal
            label.setFont(scaled_font(factor * SCALES[label.objectName()], weight))
        self._legend.show_larger(factor)
        self.view.show_larger(self._factor)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Show it in the letters of the panel around it, once they are others."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._later.start()

    # -- words and their folding

    @Slot()
    def _arrange(self) -> None:
        """Show and fold the words; once more where that changed the card's own size."""
        if self._is_arranging:  # Qt lays out, and so comes here, while a part is being shown
            return
        self._is_arranging = True
        for _ in range(MAX_ROUNDS):
            before = self.size()
            self._show_words()
            if self.size() == before:
                break
        self._is_arranging = False

    def _show_words(self) -> None:
        """Show as many words as leave the plot PLOT_SHARE of the card, and fold the others.

        Notes on wrong outputs and on hidden measurements are never folded, and nothing is while
        the user has the details open.
        """
        is_open, figure = self._fold.isChecked(), self._figure
        every = figure.entries if figure else ()
        needs_all = is_open or any(each.is_hidden for each in every)
        self._legend.show_entries(every if figure is None or needs_all else figure.legend)
        for level, most in enumerate(ROWS):
            texts, rows = self._texts(level), most
            if level and figure and (figure.is_named or not figure.needs_legend):
                rows = 0  # the plot has all names
            if is_open or self._high_px(texts, rows) <= (1 - PLOT_SHARE) * self.height():
                break
        self._sentence.setToolTip(tip_text(figure.sentence) if figure else "")
        for label, text in zip(self._labels, texts, strict=True):
            if label.text() != text:
                label.setText(text)
            _show(label, bool(text))
        self._legend.show_at_most(rows)
        _show(self._legend, rows > 0 and bool(self._legend.entries))
        self._fold.show_fold("Details", is_open)
        _show(self._fold, is_open or level > 0 or len(self._legend.entries) < len(every))

    def _texts(self, level: int) -> tuple[str, ...]:
        """The words of all labels at a level of folding."""
        figure = self._figure
        if figure is None:
            return ("",) * len(self._labels)
        texts = [figure.title, figure.subtitle, figure.sentence, "\n".join(figure.notes)]
        if level:
            if origin := figure.origin:
                texts[0] = f"{origin[:1].upper()}{origin[1:]}: {texts[0][:1].lower()}{texts[0][1:]}"
            texts[1] = figure.whose
            texts[3] = "\n".join(note for note in figure.notes if note.startswith(URGENT))
        if level > 1:
            lines = (1, 1, FEW_LINES, 1)
            pairs = zip(texts, self._labels, lines, strict=True)
            texts = [first_words(t, label.font(), self._wide_px, n) for t, label, n in pairs]
        return tuple(texts)

    def _high_px(self, texts: Sequence[str], rows: float) -> float:
        """The height of these words together, with the legend, the fold and the gaps."""
        pairs = zip(self._labels, texts, strict=True)
        highs = [_high_px(text, label.font(), self._wide_px) for label, text in pairs if text]
        highs += [self._legend.high_px(rows, self._wide_px), self._fold.sizeHint().height()]
        margins = self._inside.contentsMargins()
        gaps = (len(highs) + 2) * self._inside.spacing() + margins.top() + margins.bottom()
        return sum(highs) + gaps

    @property
    def _wide_px(self) -> int:
        margins = self._inside.contentsMargins()
        return self.contentsRect().width() - margins.left() - margins.right()


def _label(name: str) -> QLabel:
    label = Label(name=name, wraps=True)
    by_mouse = Qt.TextInteractionFlag.TextSelectableByMouse
    label.setTextInteractionFlags(by_mouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    if name in ("chart-subtitle", "chart-notes"):
        label.setForegroundRole(MUTED)
    return label


def _show(widget: QWidget, is_shown: bool) -> None:
    """Show or hide a widget, which lays its parent out anew only where that changes something."""
    if widget.isHidden() == is_shown:
        widget.setVisible(is_shown)


def _high_px(text: str, font: QFont, wide_px: float) -> float:
    """The height of a text that is broken between words."""
    wrap, room = Qt.TextFlag.TextWordWrap, QRectF(0, 0, wide_px, 1e6)
    return QFontMetricsF(font).boundingRect(room, wrap, text).height()


def first_words(text: str, font: QFont, wide_px: float, lines: int) -> str:
    """Cut a text to whole words that fit into some lines, with … where there are more."""
    most_px, words = (lines + 0.5) * QFontMetricsF(font).lineSpacing(), text.split()
    shorter = (f"{' '.join(words[:kept])} …" for kept in range(len(words) - 1, 0, -1))
    return next((t for t in (text, *shorter) if _high_px(t, font, wide_px) < most_px), "")


class LegendEntry(QAbstractButton):
    """A button for one series, checked while the series is shown.

    Signals:
        pin_wanted(): keep the series in front, or no longer.
    """

    pin_wanted = Signal()

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._entry: LegendLine | None = None
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_entry(self, entry: LegendLine, font: QFont) -> None:
        """Show a series."""
        self._entry = entry
        self.setText(entry.name)
        self.setChecked(not entry.is_hidden)
        pinned = ", pinned" if entry.is_pinned else ""
        name = f"{entry.label}{pinned}{', hidden' if entry.is_hidden else ''}"
        self.setAccessibleName(name)
        self.setToolTip(tip_text(f"{name}\n{HINT}"))
        font = QFont(font)
        font.setBold(entry.is_pinned)
        font.setStrikeOut(entry.is_hidden)
        self.setFont(font)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """The size at which the whole name is readable, and a gap after it."""
        text_px = self.fontMetrics().horizontalAdvance(self.text())
        wide = 2 * EDGE_PX + SAMPLE_PX + 2 * GAP_PX + text_px
        return QSize(wide, max(MIN_ROW_PX, self.fontMetrics().height() + 6))

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

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002, N802
        if self._entry is None:
            return
        from workbench.charts.drawing.marks import draw_sample

        colors, is_hidden = theme.colors(self.palette()), self._entry.is_hidden
        painter = QPainter(self)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colors.accent), 2))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 4, 4)
        painter.setOpacity(0.4 if is_hidden else 1.0)
        draw_sample(painter, self._entry, colors, QRectF(EDGE_PX, 0, SAMPLE_PX, self.height()))
        painter.setOpacity(1.0)
        roles = QPalette.ColorRole
        painter.setPen(
            self.palette().color(roles.PlaceholderText if is_hidden else roles.WindowText)
        )
        left = EDGE_PX + SAMPLE_PX + GAP_PX
        room = QRect(left, 0, self.width() - left - EDGE_PX, self.height())
        cut = Qt.TextElideMode.ElideRight
        text = self.fontMetrics().elidedText(self.text(), cut, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()


class Legend(QScrollArea):
    """A legend with as many entries per row as fit, those of each machine after its name.

    The arrow keys go from one to the next.  Where it may have few rows it scrolls.

    Signals:
        hidden(key): leave this series out, or show it again.
        pinned(key): keep it in front, or no longer.
    """

    hidden = Signal(str)
    pinned = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[LegendLine, ...] = ()
        self._buttons: list[LegendEntry] = []
        self._headings: dict[str, QLabel] = {}
        self._most = math.inf
        inside, self._flow = QWidget(), Flow(0)
        inside.setLayout(self._flow)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setAccessibleName("Legend")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for part in (self.viewport(), inside):
            part.setAutoFillBackground(False)

    @property
    def entries(self) -> list[LegendEntry]:
        """The buttons shown, in order."""
        return self._buttons[: len(self._shown)]

    def show_larger(self, factor: float) -> None:
        """Magnify the font."""
        self.setFont(scaled_font(FONT_SHARE * factor))
        self._show()

    def show_at_most(self, rows: float) -> None:
        """Show no more rows at once; the scroll bar says that there are more."""
        self._most = rows
        self._fit()

    def show_entries(self, entries: Sequence[LegendLine]) -> None:
        """Show these entries; existing buttons are reused, so the focus stays."""
        if self._shown != tuple(entries):
            self._shown = tuple(entries)
            self._show()

    def _show(self) -> None:
        while len(self._buttons) < len(self._shown):
            self._buttons.append(self._new_button(len(self._buttons)))
        while self._flow.takeAt(0):
            pass
        parts: list[QWidget] = []
        for button, entry in zip(self._buttons, self._shown, strict=False):
            button.show_entry(entry, self.font())
            if entry.group not in self._headings:
                self._headings[entry.group] = Label(entry.group, self.widget(), is_muted=True)
            heading = self._headings[entry.group]
            if entry.group and heading not in parts:
                heading.setFont(self.font())
                heading.setFixedHeight(button.sizeHint().height())
                heading.setContentsMargins(EDGE_PX, 0, 2 * GAP_PX, 0)
                parts.append(heading)
            parts.append(button)
        for part in parts:
            self._flow.addWidget(part)
        for part in (*self._buttons, *self._headings.values()):
            part.setVisible(part in parts)
        self._fit()

    def _new_button(self, number: int) -> LegendEntry:
        button = LegendEntry(self.widget())
        button.clicked.connect(lambda: self.hidden.emit(self._shown[number].key))
        button.pin_wanted.connect(lambda: self.pinned.emit(self._shown[number].key))
        return button

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        here = next((i for i, each in enumerate(self.entries) if each.hasFocus()), None)
        step = STEPS.get(Qt.Key(event.key()))
        if here is None or step is None:
            super().keyPressEvent(event)
            return
        there = self.entries[(here + step) % len(self.entries)]
        there.setFocus(Qt.FocusReason.TabFocusReason)
        self.ensureWidgetVisible(there, 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def high_px(self, rows: float, wide_px: int) -> int:
        """Its height in pixels at a width, where it may show at most `rows`."""
        if not self._shown or not rows:
            return 0
        row_px = self._buttons[0].sizeHint().height()
        return int(min(rows * row_px, self._flow.heightForWidth(wide_px)))

    def _fit(self) -> None:
        high, policy = self.high_px(self._most, self.width()), Qt.ScrollBarPolicy
        is_whole = high == self.high_px(math.inf, self.width())
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAlwaysOff if is_whole else policy.ScrollBarAlwaysOn
        )
        self.setFixedHeight(high)
