"""The window as a stage for a room: above and below the picture large words, nothing small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTime, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QGuiApplication,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QShortcut,
)
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from workbench.base import theme
from workbench.base.plain_text import Label, tip_text
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.tile import MUTED, TEXT, ElidedLabel
from workbench.window.stage_figures import Figures, LadderBar

USUAL_PX = (1280, 720)  # of a projector; on a larger screen everything grows with it
SMALL, MIDDLE, TITLE, LARGE = 24, 28, 38, 72  # letters in pixels there; nothing is smaller
POINTS_AN_INCH = 72
NOTE_SHARE = 0.22  # of the height, at most
MARGINS, SPACING = (28, 12, 28, 10), 6  # around the stage, and between its parts
FORWARD = ("PgDown", "Right", "Down", "Return", "Enter")
BACK = ("PgUp", "Left", "Up", "Backspace")
BLANK = ("B", ".")  # what clickers send
HINT = "→ PgDn next   ← PgUp back   Space original   + − 0 zoom   F7 notes   B blank   Esc leave"
MAX_BARS = 4  # the newest
NAME_SHARE = 0.36  # of the width, at least, where a name needs it
ROW, BESIDE = 1.12, 0.12  # height in lines of text; of a row, above and below its bar
SPACE_PX, MIN_PX, MIN_ROOM_PX = 10, 3, 40
LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class Stage(QObject):
    """Words around the picture, and the keys of a clicker, in the window that presents.

    Signals:
        stepped(steps): 1 for the next step, -1 for the one before.
        jumped(is_last): to the first step, or the last.
        notes_wanted(): the speaker's notes are to be shown elsewhere, or hidden.
        left(): the presenter has left it.
        resized(factor): how much larger everything is than on the usual screen.
    """

    stepped = Signal(int)
    jumped = Signal(bool)
    notes_wanted = Signal()
    left = Signal()
    resized = Signal(float)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)
        self.head, self.foot, self._numbers = QWidget(), QWidget(), QWidget()
        self._title, self._count = _line("title"), _words("count", MUTED)
        self._time, self._time_note = _words("time"), _words("time-note", MUTED)
        self._speedup, self._speedup_note = _words("speedup"), _words("speedup-note", MUTED)
        self._work, self._verdict = _line("work"), _words("verdict")
        self._note, self._hint = Label(name="stage-note", wraps=True), _line("hint")
        self._note.hide()
        self._hint.setForegroundRole(MUTED)
        self._verdict.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.ladder = LadderBars()
        self._lay_out()
        self._black = QWidget(window)
        self._black.setObjectName("stage-black")
        self._black.setAccessibleName("Blank")
        self._black.setAutoFillBackground(True)
        self._black.setPalette(QPalette(QColor("#000000")))
        own: dict[str, Callable[[], object]] = {
            **dict.fromkeys(FORWARD, partial(self.stepped.emit, 1)),
            **dict.fromkeys(BACK, partial(self.stepped.emit, -1)),
            **dict.fromkeys(BLANK, self.toggle_blank),
            "Home": partial(self.jumped.emit, False),
            "End": partial(self.jumped.emit, True),
            "F7": self.notes_wanted.emit,
            "Esc": self.left.emit,
        }
        self.add_keys(own)

    def add_keys(self, keys: Mapping[str, Callable[[], object]]) -> None:
        """Have keys do something here, whatever has the focus."""
        for key, do in keys.items():
            made = QShortcut(QKeySequence(key), self.head)
            made.activated.connect(lambda do=do: do())
            made.setAutoRepeat(key not in (*FORWARD, *BACK, *BLANK))

    def remove(self) -> None:
        """Take everything out of the window."""
        self._window.removeEventFilter(self)
        for part in (self.head, self.foot, self._black):
            part.hide()
            part.deleteLater()
        self.deleteLater()

    def show_step(self, name: str, number: int, count: int) -> None:
        """Show a step's name and its number, from 1; a blank stage is lit again."""
        self._title.show_text(name)
        self.say(HINT if number == 1 else "")
        self._count.setText(f"{number} / {count}")
        self._black.hide()

    def show_figures(self, figures: Figures) -> None:
        """Show time, speed-up and verdict, muted until the answer is known to be right."""
        for label, text in (
            (self._time, figures.time),
            (self._time_note, figures.time_note),
            (self._speedup, figures.speedup),
            (self._speedup_note, figures.speedup_note),
            (self._verdict, figures.verdict),
        ):
            label.setText(text)
        self._time.setToolTip(tip_text(figures.time_more))
        self._work.show_text(" · ".join(filter(None, (figures.work, figures.how))))
        for label in (self._time, self._speedup):
            label.setForegroundRole(TEXT if figures.is_right else MUTED)
        colors, palette = theme.colors(), self._verdict.palette()
        tints = {True: colors.good, False: colors.bad, None: colors.muted}
        palette.setColor(QPalette.ColorRole.WindowText, QColor(tints[figures.is_right]))
        self._verdict.setPalette(palette)
        self.foot.setAccessibleName(f"{self._title.whole_text}: {figures.in_words}")

    def show_numbers(self, are_shown: bool) -> None:
        """Show time and ladder, or leave their room to a panel."""
        self._numbers.setVisible(are_shown)

    def show_note(self, note: str, is_shown: bool) -> None:
        """Show the speaker's note beneath the picture, or hide it."""
        self._note.setText(note)
        self._note.setVisible(is_shown and bool(note))

    def say(self, sentence: str) -> None:
        """Show the keys, or why there is nothing new to see."""
        self._hint.show_text(sentence)
        self._hint.setVisible(bool(sentence))

    def toggle_blank(self) -> None:
        """Turn the stage black, or light it again."""
        self._black.setGeometry(self._window.rect())
        self._black.setVisible(not self._black.isVisible())
        self._black.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Resize:
            self.size_letters()
        return super().eventFilter(watched, event)

    def size_letters(self) -> None:
        """Fit all letters to the size of the window; on the usual screen they are smallest."""
        size = self._window.size()
        factor = max(min(size.width() / USUAL_PX[0], size.height() / USUAL_PX[1]), 1.0)
        bold: dict[QWidget, int] = {
            self._title: TITLE,
            self._time: LARGE,
            self._speedup: TITLE,
            self._verdict: MIDDLE,
        }
        usual: dict[QWidget, int] = {self._count: MIDDLE, self._work: MIDDLE, **bold}
        for small in (self._time_note, self._speedup_note, self._hint, self._note, self.ladder):
            usual[small] = SMALL
        for widget, px in usual.items():
            font = theme.numbers_font()
            font.setPointSizeF(round(px * factor) * POINTS_AN_INCH / self.head.logicalDpiY())
            font.setWeight(QFont.Weight.DemiBold if widget in bold else QFont.Weight.Normal)
            widget.setFont(font)
            widget.updateGeometry()
        self._note.setMaximumHeight(round(NOTE_SHARE * size.height()))
        self.resized.emit(factor)

    def _lay_out(self) -> None:
        HBox(self.head, 0).add((self._title, 1), self._count)
        told = HBox()
        told.add((self._work, 1), self._verdict)
        speed = HBox(margins=(0, 8, 0, 0), spacing=12)  # the note above belongs to the time
        speed.add(self._speedup, (self._speedup_note, 1))
        below = QGridLayout(self._numbers)
        below.setContentsMargins(0, 0, 0, 0)
        below.setHorizontalSpacing(32)
        below.setVerticalSpacing(0)
        below.addWidget(self._time, 0, 0)
        below.addWidget(self._time_note, 1, 0)
        below.addLayout(speed, 2, 0)
        below.addWidget(self.ladder, 0, 1, 3, 1)
        below.setColumnStretch(1, 1)
        VBox(self.foot, 0, SPACING).add(told, self._numbers, self._note, self._hint)


def letters_factor(px: float) -> float:
    """How much larger letters of `px` pixels are than those of the program."""
    return max(px / QFontInfo(QGuiApplication.font()).pixelSize(), 1.0)


class LadderBars(QWidget):
    """The newest bars in the order of the steps, the present one in colour."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("stage-ladder")
        self.setAccessibleName("The ladder so far")
        self._bars: list[LadderBar] = []
        self._now: LadderBar | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_bars([])

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """Name, time and comparison of each bar, as they are painted."""
        befores = [None, *self._bars][: len(self._bars)]
        is_mixed = len({each.source for each in self._bars}) > 1
        return [
            (f"{bar.name}, here" if is_mixed and not bar.source else bar.name,
             bar.time, bar.beside(before))
            for bar, before in zip(self._bars, befores, strict=True)
        ][-MAX_BARS:]  # fmt: skip

    def show_bars(self, bars: Sequence[LadderBar], now: LadderBar | None = None) -> None:
        """Show the bars of the steps up to now, one of which is the present step's."""
        self._bars, self._now = list(bars), now
        sources = [f"recorded on an {each.source}" if each.source else "" for each in bars]
        words = [
            ", ".join(filter(None, (*line, source)))
            for line, source in zip(self.lines, sources[-MAX_BARS:], strict=True)
        ]
        self.setAccessibleDescription("; ".join(words))
        self.setToolTip(tip_text("\n".join(words)))
        self.setVisible(bool(bars))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        names_px, said_px = self._widths()
        width = names_px + said_px + MIN_ROOM_PX + 3 * SPACE_PX
        return QSize(width, round(MAX_BARS * ROW * self.fontMetrics().height()))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        # A name may lose its end rather than the words beside the ladder theirs.
        return self.sizeHint() - QSize(round(0.3 * self._widths()[0]), 0)

    def _widths(self) -> tuple[int, int]:
        """Width of the longest name, and of the words behind a bar; a pixel more: else elided."""
        width = self.fontMetrics().horizontalAdvance
        names = max((width(name) for name, *_ in self.lines), default=0) + 1
        return names, max((width(_said(*line[1:])) for line in self.lines), default=0)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter, colors = QPainter(self), theme.colors(self.palette())
        shown, metrics = self._bars[-MAX_BARS:], self.fontMetrics()
        # Times of two machines do not compare: only those that are from where the newest is.
        source = (self._now or shown[-1]).source if shown else ""
        longest = max((each.median_ms for each in shown if each.source == source), default=1.0)
        names_px, said_px = self._widths()
        left_px = self.width() - said_px - 3 * SPACE_PX
        names_px = min(names_px, max(left_px - MIN_ROOM_PX, round(NAME_SHARE * self.width())))
        room, high = max(left_px - names_px, MIN_ROOM_PX), self.height() / MAX_BARS
        for row, (bar, (name, time, beside)) in enumerate(zip(shown, self.lines, strict=True)):
            is_now = self._now is not None and bar.key == self._now.key
            painter.setPen(QColor(colors.text if is_now else colors.muted))
            elided = metrics.elidedText(name, Qt.TextElideMode.ElideRight, names_px)
            painter.drawText(QRectF(0, row * high, names_px, high), LEFT, elided)
            left = float(names_px + SPACE_PX)
            if bar.source == source:
                length = max(bar.median_ms / longest * room, MIN_PX)
                color = QColor(colors.accent if is_now else colors.muted)
                color.setAlphaF(1.0 if is_now else 0.5)
                top = (row + BESIDE) * high
                painter.fillRect(QRectF(left, top, length, high * (1 - 2 * BESIDE)), color)
                left += length + SPACE_PX
            painter.drawText(
                QRectF(left, row * high, self.width(), high), LEFT, _said(time, beside)
            )


class NotesWindow(QWidget):
    """A window for the speaker's own screen: the note, what comes next, and the time gone by."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("stage-notes-window")
        self.setWindowTitle("Speaker's notes")
        self.resize(theme.window_size(620, 420))
        self._began, self._count = QTime.currentTime(), ""
        font = QFont(self.font())
        font.setPointSizeF(1.5 * font.pointSizeF())
        self._clock, self._note, self._next = (
            Label(name=f"notes-{name}", font=font, wraps=True, is_muted=name == "next")
            for name in ("clock", "text", "next")
        )
        self._note.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        VBox(self, (16, 12, 16, 12)).add(self._clock, (UprightArea(self._note), 1), self._next)
        ticking = QTimer(self, interval=1000)
        ticking.timeout.connect(self._tick)
        ticking.start()

    def show_note(self, note: str, count: str, following: str) -> None:
        """Show a step's note, its number as "3 of 20", and the name of the next one."""
        self._note.setText(note or "No note for this step.")
        self._next.setText(f"Next: {following}" if following else "This is the last step.")
        self._count = count
        self._tick()

    def _tick(self) -> None:
        gone = self._began.secsTo(QTime.currentTime())
        self._clock.setText(f"{self._count}   ·   {gone // 60}:{gone % 60:02}")


def _said(time: str, beside: str) -> str:
    return f"{time}   {beside}".rstrip()


def _line(name: str) -> ElidedLabel:
    """A label for words that may be too long for the screen, and are then elided."""
    label = ElidedLabel(1.0, f"stage-{name}")
    label.setForegroundRole(TEXT)
    return label


def _words(name: str, role: QPalette.ColorRole = TEXT) -> QLabel:
    label = Label(name=f"stage-{name}")
    label.setForegroundRole(role)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    label.setMinimumWidth(1)
    return label
