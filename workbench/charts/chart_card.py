"""A card with a figure: its words, its legend and its plot, in fonts that suit its size."""

from __future__ import annotations

import math
import re
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
from workbench.charts.data.legend_entries import Rows, rows_of
from workbench.widgets.boxes import VBox
from workbench.widgets.folding import FoldButton
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import MUTED, scaled_font

EMPTY = "Points appear here as they are measured."
URGENT = ("✗", HIDDEN)  # the beginnings of notes that are never folded
PLOT_SHARE = 0.6  # of the card's height, which its plot has at least
# Rows of a legend that gives way to it.  At level 1 notes and what was held fixed are folded, at 2
# the sentence has few lines, at 3 the title has one, and at 4 nothing says whose the numbers are.
ROWS = (math.inf, 3, 2, 1, 1)
FEW_LINES = 2
# Names of the labels, and how large their letters are.
SCALES = {"chart-title": 1.05, "chart-subtitle": 0.85, "chart-sentence": 1.0, "chart-notes": 0.88}
MAX_ROUNDS = 4  # of an arrangement that changes the size it goes by
DETAILS_TIP = "What was held fixed and where, the legend (to hide and pin series), and the notes"
SAMPLE_PX = 28
GAP_PX = 4
EDGE_PX = 3
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
        self._title, self._subtitle, self._sentence, self._notes = map(_label, SCALES)
        self._labels = self._title, self._subtitle, self._sentence, self._notes
        self._fold = FoldButton("chart-fold", DETAILS_TIP, "Details")
        self._fold.clicked.connect(self._arrange)
        self._legend = Legend()
        self._legend.hidden.connect(self.hidden)
        self._legend.pinned.connect(self.pinned)
        self.view = FigureView(EMPTY, fills=True)
        self.view.setObjectName("chart-canvas")
        self.view.setAccessibleName("Points of the chart")
        self._inside = VBox(self, (10, 8, 10, 8), 4)
        self._inside.add(self._title, self._subtitle, self._legend, (self.view, 1))
        self._inside.add(self._sentence, self._fold, self._notes)
        self._factor = 1.0
        self._rounds = 0  # of an arrangement under way, with those asked for meanwhile
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
        self._rounds += 1
        if self._rounds > 1:  # Qt lays out, and so comes here, while a part is being shown
            return
        try:
            for _ in range(MAX_ROUNDS):
                before = self._rounds
                self._show_words()
                if self._rounds == before:
                    break
        finally:
            self._rounds = 0

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

    def _texts(self, level: int) -> tuple[str, str, str, str]:
        """The words of all labels at a level of folding."""
        figure, wide = self._figure, self._wide_px
        if figure is None:
            return "", "", "", ""
        title, subtitle, sentence, notes = (
            figure.title,
            figure.subtitle,
            figure.sentence,
            figure.notes,
        )
        if level >= 1:
            notes = tuple(note for note in notes if note.startswith(URGENT))
            subtitle = ". ".join(filter(None, (figure.whose, "" if level > 2 else figure.grey)))
            if origin := figure.origin:
                title = f"{origin[:1].upper()}{origin[1:]}: {title[:1].lower()}{title[1:]}"
        if level >= 2:
            sentence = first_sentences(sentence, self._sentence.font(), wide, FEW_LINES)
        said = "\n".join(notes)
        if level >= 3:
            font = self._title.font()  # the chooser says what is behind the last comma
            shorter = [title, title.rpartition(", ")[0] or title]
            title = _first_that_fits(shorter, font, wide, 1) or first_words(
                shorter[1], font, wide, 1
            )
            said = first_words(said, self._notes.font(), wide, FEW_LINES)
            sentence = "" if figure.whose else sentence
        return title, "" if level >= 4 else subtitle, sentence, said

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


def _first_that_fits(texts: Sequence[str], font: QFont, wide_px: float, lines: int) -> str:
    """The first text of at most `lines` lines; "" for none."""
    most_px = (lines + 0.5) * QFontMetricsF(font).lineSpacing()
    return next((text for text in texts if _high_px(text, font, wide_px) < most_px), "")


def first_words(text: str, font: QFont, wide_px: float, lines: int) -> str:
    """Cut a text to whole words that fit, and … where there are more."""
    words = text.split()
    shorter = [f"{' '.join(words[:kept])} …" for kept in range(len(words) - 1, 0, -1)]
    return _first_that_fits([text, *shorter], font, wide_px, lines)


def first_sentences(text: str, font: QFont, wide_px: float, lines: int) -> str:
    """Cut a text to whole sentences that fit, or clauses and … of the first, or words of it."""
    sentences = re.split(r"(?<=\.) (?=[A-Z])", text)
    clauses = sentences[0].split("; ")
    shorter = [" ".join(sentences[:kept]) for kept in range(len(sentences), 0, -1)]
    shorter += [f"{'; '.join(clauses[:kept])} …" for kept in range(len(clauses) - 1, 0, -1)]
    found = _first_that_fits(shorter, font, wide_px, lines)
    return found or first_words(sentences[0], font, wide_px, lines)


class LegendEntry(QAbstractButton):
    """A button for one series, checked while the series is shown.

    Signals:
        pin_wanted(): keep the series in front, or no longer.
    """

    pin_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._entry: LegendLine | None = None
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_entry(self, entry: LegendLine, factor: float) -> None:
        """Show a series, with a font `factor` times as large as usual."""
        self._entry = entry
        self.setChecked(not entry.is_hidden)
        pinned = ", pinned" if entry.is_pinned else ""
        name = f"{entry.label}{pinned}{', hidden' if entry.is_hidden else ''}"
        self.setAccessibleName(name)
        self.setToolTip(tip_text(f"{name}\n{HINT}"))
        font = scaled_font(FONT_SHARE * factor)
        font.setBold(entry.is_pinned)
        font.setStrikeOut(entry.is_hidden)
        self.setFont(font)
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """The size at which the whole name is readable."""
        name = self._entry.name if self._entry else ""
        text_px = self.fontMetrics().horizontalAdvance(name)
        return QSize(2 * EDGE_PX + SAMPLE_PX + GAP_PX + text_px, MIN_ROW_PX)

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
        role = roles.PlaceholderText if is_hidden else roles.WindowText
        painter.setPen(self.palette().color(role))
        left = EDGE_PX + SAMPLE_PX + GAP_PX
        room = QRect(left, 0, self.width() - left - EDGE_PX, self.height())
        cut = Qt.TextElideMode.ElideRight
        text = self.fontMetrics().elidedText(self._entry.name, cut, room.width())
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
        self._headings: list[QLabel] = []
        self._inside = QWidget()
        self.setWidget(self._inside)
        self.setAccessibleName("Legend")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._factor, self._most = 1.0, math.inf
        for part in (self.viewport(), self._inside):
            part.setAutoFillBackground(False)
        self.setFixedHeight(0)

    @property
    def entries(self) -> list[LegendEntry]:
        """The buttons shown, in order."""
        return self._buttons[: len(self._shown)]

    def show_larger(self, factor: float) -> None:
        """Magnify the font."""
        self._factor = factor
        self.setFont(scaled_font(FONT_SHARE * factor))
        self._show()

    def show_at_most(self, rows: float) -> None:
        """Show no more rows at once; the scroll bar says that there are more."""
        if rows != self._most:
            self._most = rows
            self._lay_out()

    def show_entries(self, entries: Sequence[LegendLine]) -> None:
        """Show these entries; existing buttons are reused, so the focus stays."""
        if self._shown != tuple(entries):
            self._shown = tuple(entries)
            self._show()

    def _show(self) -> None:
        while len(self._buttons) < len(self._shown):
            self._buttons.append(self._new_button(len(self._buttons)))
        for button, entry in zip(self._buttons, self._shown, strict=False):
            button.show_entry(entry, self._factor)
        for number, button in enumerate(self._buttons):
            button.setVisible(number < len(self._shown))
        self._lay_out()

    def _new_button(self, number: int) -> LegendEntry:
        button = LegendEntry(self._inside)
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
        self._lay_out()

    def high_px(self, rows: float, wide_px: float) -> float:
        """Its height in pixels at a width, where it may show at most `rows`."""
        return min(rows, self._placed(wide_px).total) * self._row_px

    @property
    def _row_px(self) -> int:
        return max(MIN_ROW_PX, self.fontMetrics().height() + 6)

    def _placed(self, wide_px: float) -> Rows:
        shown = zip(self._shown, self.entries, strict=True)
        entries_px = {entry.key: button.sizeHint().width() + GAP_PX for entry, button in shown}
        advance = self.fontMetrics().horizontalAdvance
        return rows_of(
            self._shown,
            wide_px,
            lambda entry: entries_px[entry.key],
            lambda text: EDGE_PX + advance(text) + 2 * GAP_PX,
        )

    def _lay_out(self) -> None:
        row_px, wide = self._row_px, self.width()
        rows = self._placed(wide)
        if rows.total > self._most:
            wide -= self.verticalScrollBar().sizeHint().width()
            rows = self._placed(wide)
        for button, place in zip(self.entries, rows.entries, strict=True):
            button.setGeometry(round(place.x), place.row * row_px, int(place.wide), row_px)
        while len(self._headings) < len(rows.headings):
            self._headings.append(Label(is_muted=True, parent=self._inside))
        for number, label in enumerate(self._headings):
            label.setVisible(number < len(rows.headings))
        for label, (text, place) in zip(self._headings, rows.headings, strict=False):
            label.setText(text)
            label.setFont(self.font())
            label.setGeometry(EDGE_PX, place.row * row_px, int(place.wide), row_px)
        self._inside.resize(wide, rows.total * row_px)
        self.setFixedHeight(int(min(rows.total, self._most) * row_px))
