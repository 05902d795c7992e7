"""A card with a figure: its words, its legend and its plot, in fonts that suit its size."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontMetricsF, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QWidget

from workbench.base.plain_text import Label, tip_text
from workbench.charts.data.chart_words import HIDDEN
from workbench.charts.data.figure import Figure, LegendLine
from workbench.charts.figure_view import FigureView
from workbench.charts.legend import Legend
from workbench.widgets.boxes import VBox
from workbench.widgets.fold_button import FoldButton
from workbench.widgets.letters import factor_of
from workbench.widgets.tile import MUTED, scaled_font

EMPTY = "Points appear here as they are measured."
URGENT = ("✗", HIDDEN)  # the beginnings of notes that are never folded
PLOT_SHARE = 0.6  # of the card's height, which its plot has at least
# What gives it way, in turn: the words, then whose the numbers are, without which no line of
# several sessions has a name.
FOLDED = (
    *("notes", "subtitle", "legend", "sentence", "rows"),
    *("title", "grey", "speech", "whose", "row"),
)
RECORDED = "Recorded"
ROWS = {"legend": 3, "rows": 2, "row": 1}  # of a legend that has to give way, further and further
MAX_ROUNDS = 4  # of an arrangement that changes the size it goes by
FEW_LINES = 2  # of a sentence that has to
DETAILS_TIP = "What was held fixed and where, the legend (to hide and pin series), and the notes"


class ChartCard(QFrame):
    """A card that shows one figure at a time.

    Signals:
        picked(cell): the user wants this Cell in the window.
        hidden(key, is_hidden), pinned(key): what to do with a series, from the legend.
    """

    picked = Signal(object)
    hidden = Signal(str, bool)
    pinned = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._figure: Figure | None = None
        self._title = _words("chart-title")
        self._subtitle = _words("chart-subtitle", MUTED)
        self._sentence = _words("chart-sentence")
        self._notes = _words("chart-notes", MUTED)
        self._fold = FoldButton("chart-fold", DETAILS_TIP, "Details")
        self._fold.clicked.connect(self._arrange)
        self._legend = Legend()
        self._legend.hidden.connect(self.hidden)
        self._legend.pinned.connect(self.pinned)
        self._view = FigureView(EMPTY, fills=True)
        self._view.setObjectName("chart-canvas")
        self._view.setAccessibleName("Points of the chart")
        self._view.picked.connect(self.picked)
        self._inside = VBox(self)
        self._factor = 1.0
        self._rounds = 0  # of an arrangement under way, with those asked for meanwhile
        self._lay_out()
        # At once, the parts of the card would get their new letters after it.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._show_letters)
        self._show_letters()

    def show_figure(self, figure: Figure | None) -> None:
        """Show a figure's words, and draw it as soon as there is a plot."""
        self._figure = figure
        self._arrange()
        self._view.show_figure(figure)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange()

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

        Notes on wrong answers and on hidden measurements are never folded, and nothing is while
        the user has the details open.
        """
        is_open = self._fold.isChecked()
        self._legend.show_entries(self._entries(is_open))
        room_px = (1 - PLOT_SHARE) * self.height()
        for count in range(len(FOLDED) + 1):
            folded = FOLDED[:count]
            texts, rows = self._texts(folded), self._rows(folded)
            if is_open or self._high_px(texts, rows) <= room_px:
                break
        self._sentence.setToolTip(tip_text(self._figure.sentence) if self._figure else "")
        for label, text in texts.items():
            if label.text() != text:
                label.setText(text)
            _show(label, bool(text))
        self._legend.show_at_most(rows)
        _show(self._legend, rows > 0 and bool(self._legend.entries))
        self._fold.show_fold("Details", is_open)
        is_less = self._figure is not None and len(self._legend.entries) < len(self._figure.entries)
        _show(self._fold, is_open or count > 0 or is_less)

    def _entries(self, is_open: bool) -> Sequence[LegendLine]:
        """Return the entries of the legend: all in the details, and where some are hidden."""
        figure = self._figure
        if figure is None:
            return ()
        needs_all = is_open or any(each.is_hidden for each in figure.entries)
        return figure.entries if needs_all else figure.legend

    def _texts(self, folded: Sequence[str]) -> dict[QLabel, str]:
        """Return the words of all labels but those folded."""
        figure = self._figure
        if figure is None:
            return dict.fromkeys((self._title, self._subtitle, self._sentence, self._notes), "")
        kept = [n for n in figure.notes if "notes" not in folded or n.startswith(URGENT)]
        sentence = figure.sentence
        if "sentence" in folded:
            sentence = first_sentences(sentence, self._sentence.font(), self._wide_px, FEW_LINES)
        if "speech" in folded and figure.whose:
            sentence = ""
        whose = ("" if "whose" in folded else figure.whose, "" if "grey" in folded else figure.grey)
        notes = "\n".join(kept)
        title = figure.title
        if "subtitle" in folded and figure.is_recorded:
            title = f"{RECORDED}: {title[:1].lower()}{title[1:]}"
        if "title" in folded:
            title = first_clause(title, self._title.font(), self._wide_px)
            notes = first_lines(notes, self._notes.font(), self._wide_px, FEW_LINES)
        return {
            self._title: title,
            self._subtitle: (
                ". ".join(filter(None, whose)) if "subtitle" in folded else figure.subtitle
            ),
            self._sentence: sentence,
            self._notes: notes,
        }

    def _rows(self, folded: Sequence[str]) -> float:
        """Return how many rows the legend may have: none where the plot has all names."""
        figure = self._figure
        if "legend" not in folded:
            return math.inf
        if figure is not None and (figure.is_named or not figure.needs_legend):
            return 0
        return min(rows for name, rows in ROWS.items() if name in folded)

    def _high_px(self, texts: Mapping[QLabel, str], rows: float) -> float:
        """Return how high these words are together, with the fold and the gaps."""
        highs: list[float] = [
            _high_px(text, label.font(), self._wide_px) for label, text in texts.items() if text
        ]
        highs += [self._legend.high_px(rows, self._wide_px), self._fold.sizeHint().height()]
        margins = self._inside.contentsMargins()
        gaps = (len(highs) + 2) * self._inside.spacing() + margins.top() + margins.bottom()
        return sum(highs) + gaps

    @property
    def _wide_px(self) -> int:
        margins = self._inside.contentsMargins()
        return self.contentsRect().width() - margins.left() - margins.right()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Show it in the letters of the panel around it, once they are others."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._later.start()

    def show_larger(self, factor: float) -> None:
        """Set all fonts to so many times their usual size."""
        self._factor = factor
        self._show_letters()

    @Slot()
    def _show_letters(self) -> None:
        """Set all fonts as the size of the chart, and the letters of its panel, ask for."""
        factor = self._factor * factor_of(self)
        for label, scale, weight in (
            (self._title, 1.05, QFont.Weight.DemiBold),
            (self._subtitle, 0.85, QFont.Weight.Normal),
            (self._sentence, 1.0, QFont.Weight.Normal),
            (self._notes, 0.88, QFont.Weight.Normal),
        ):
            label.setFont(scaled_font(factor * scale, weight))
        self._legend.show_larger(factor)
        self._view.show_larger(self._factor)
        self._arrange()

    def show_marked(self, cell: object) -> None:
        """Mark a measurement in the plot; None: none any more."""
        self._view.show_marked(cell)

    def make_plot(self) -> None:
        """Make the plot now rather than after the first paint of the window."""
        self._view.make_plot()

    def _lay_out(self) -> None:
        inside = self._inside
        inside.setContentsMargins(10, 8, 10, 8)
        inside.setSpacing(4)
        above = (self._title, self._subtitle, self._legend)
        below = (self._sentence, self._fold, self._notes)
        for widget in (*above, self._view, *below):
            inside.addWidget(widget, int(widget is self._view))


def _words(name: str, role: QPalette.ColorRole | None = None) -> QLabel:
    label = Label(name=name, wraps=True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    if role is not None:
        label.setForegroundRole(role)
    return label


def _show(widget: QWidget, is_shown: bool) -> None:
    """Show or hide a widget, which lays its parent out anew only where that changes something."""
    if widget.isHidden() == is_shown:
        widget.setVisible(is_shown)


def _high_px(text: str, font: QFont, wide_px: int) -> float:
    """Return the height of a text that is broken between words."""
    box = QRectF(0, 0, wide_px, 1e6)
    return QFontMetricsF(font).boundingRect(box, Qt.TextFlag.TextWordWrap, text).height()


def first_sentences(text: str, font: QFont, wide_px: float, count: int) -> str:
    """Return as many whole sentences as fit into `count` lines.

    Where not even the first fits, its whole clauses and …, or else `first_lines` of it.
    """
    sentences = re.split(r"(?<=\.) (?=[A-Z])", text)
    clauses = sentences[0].split("; ")
    shorter = [" ".join(sentences[:kept]) for kept in range(len(sentences), 0, -1)]
    shorter += [f"{'; '.join(clauses[:kept])} …" for kept in range(len(clauses) - 1, 0, -1)]
    fitting = (part for part in shorter if first_lines(part, font, wide_px, count) == part)
    return next(fitting, first_lines(sentences[0], font, wide_px, count))


def first_clause(text: str, font: QFont, wide_px: float) -> str:
    """Return a text that fits into a line: the chooser says what is behind its last comma."""
    if QFontMetricsF(font).horizontalAdvance(text) > wide_px:
        text = text.rpartition(", ")[0] or text
    return first_lines(text, font, wide_px, 1)


def first_lines(text: str, font: QFont, wide_px: float, count: int) -> str:
    """Return as many whole words as fit into `count` lines, and … where there are more."""
    metrics, lines, words = QFontMetricsF(font), 1, text.split()
    line = ""
    for at, word in enumerate(words):
        longer = f"{line} {word}".strip()
        last = lines == count and at < len(words) - 1
        if metrics.horizontalAdvance(longer + (" …" if last else "")) <= wide_px or not line:
            line = longer
        elif lines == count:
            return f"{' '.join(words[:at])} …"
        else:
            line, lines = word, lines + 1
    return text
