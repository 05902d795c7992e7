"""The window as a stage for a room: above and below the picture large words, nothing small."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTime, QTimer
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

from kernels import filters
from kernels.core.errors import KernelError
from kernels.core.job import Result
from kernels.core.timing import SAME_WITHIN
from workbench.base import numbers, theme
from workbench.base.numbers import MISSING, why_starred
from workbench.base.plain_text import Label, tip_text
from workbench.model import intents
from workbench.model.rung_times import CACHE, RecordedTimes
from workbench.model.speed_up import no_time_in_words, single_in_words, speed_up_of
from workbench.model.state import State
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import described
from workbench.widgets.tile import MUTED, TEXT, ElidedLabel

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
Keys = Mapping[str, Callable[[], object]]
LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class Stage(QObject):
    """Words around the picture, and the keys of a clicker, in the window that presents.

    resized  called with the enlargement against the usual screen
    """

    def __init__(self, window: QWidget, keys: Keys, resized: Callable[[float], None]) -> None:
        super().__init__(window)
        self._window, self._resized = window, resized
        window.installEventFilter(self)
        self.head, self.foot, self.numbers = QWidget(), QWidget(), QWidget()
        self._title, self._count = _line("title"), _words("count", MUTED)
        self._time, self._time_note = _words("time"), _words("time-note", MUTED)
        self._speedup, self._speedup_note = _words("speedup"), _words("speedup-note", MUTED)
        self._work, self._verdict = _line("work"), _words("verdict")
        self._note, self._hint = Label(name="stage-note", wraps=True), _line("hint")
        self._note.hide()
        self._hint.setForegroundRole(MUTED)
        self._verdict.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.ladder = LadderBars()
        self._black = described(QWidget(window), "stage-black", "Blank")
        self._black.setAutoFillBackground(True)
        self._black.setPalette(QPalette(QColor("#000000")))
        self._lay_out()
        for key, do in {**keys, **dict.fromkeys(BLANK, self.toggle_blank)}.items():
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
        """Show time, speed-up and verdict, muted until the output is known to be right."""
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
        """Fit all letters to the size of the window."""
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
        self._resized(factor)

    def _lay_out(self) -> None:
        HBox(self.head, 0).add((self._title, 1), self._count)
        work = HBox()
        work.add((self._work, 1), self._verdict)
        speed = HBox(margins=(0, 8, 0, 0), spacing=12)  # the note above belongs to the time
        speed.add(self._speedup, (self._speedup_note, 1))
        below = QGridLayout(self.numbers)
        below.setContentsMargins(0, 0, 0, 0)
        below.setHorizontalSpacing(32)
        below.setVerticalSpacing(0)
        below.addWidget(self._time, 0, 0)
        below.addWidget(self._time_note, 1, 0)
        below.addLayout(speed, 2, 0)
        below.addWidget(self.ladder, 0, 1, 3, 1)
        below.setColumnStretch(1, 1)
        VBox(self.foot, 0, SPACING).add(work, self.numbers, self._note, self._hint)


def letters_factor(px: float) -> float:
    """Enlargement of the program's letters to `px` pixels."""
    return max(px / QFontInfo(QGuiApplication.font()).pixelSize(), 1.0)


class LadderBars(QWidget):
    """The newest bars in the order of the steps, the present one in colour."""

    def __init__(self) -> None:
        super().__init__()
        described(self, "stage-ladder", "The ladder so far")
        self._bars: list[LadderBar] = []
        self._now: LadderBar | None = None
        self.lines: list[tuple[str, str]] = []  # name, and time with comparison, of each bar
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_bars([])

    def show_bars(self, bars: Sequence[LadderBar], now: LadderBar | None = None) -> None:
        """Show the bars of the steps so far, the present one among them."""
        self._bars, self._now = list(bars[-MAX_BARS:]), now
        befores = [None, *bars][: len(bars)][-MAX_BARS:]
        is_mixed = len({each.source for each in bars}) > 1
        self.lines, words = [], []
        for bar, before in zip(self._bars, befores, strict=True):
            name = f"{bar.name}, here" if is_mixed and not bar.source else bar.name
            time, beside = bar.time, bar.beside(before)
            self.lines.append((name, f"{time}   {beside}".rstrip()))
            source = f"recorded on an {bar.source}" if bar.source else ""
            words.append(", ".join(filter(None, (name, time, beside, source))))
        self.setAccessibleDescription("; ".join(words))
        self.setToolTip(tip_text("\n".join(words)))
        self.setVisible(bool(bars))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        width = sum(self._widths()) + MIN_ROOM_PX + 3 * SPACE_PX
        return QSize(width, round(MAX_BARS * ROW * self.fontMetrics().height()))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        # A name may lose its end rather than the words beside the ladder theirs.
        return self.sizeHint() - QSize(round(0.3 * self._widths()[0]), 0)

    def _widths(self) -> tuple[int, int]:
        """Width of the longest name, and of the words behind a bar."""
        width = self.fontMetrics().horizontalAdvance
        names = max((width(name) for name, _ in self.lines), default=0) + 1
        return names, max((width(words) for _, words in self.lines), default=0)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter, colors = QPainter(self), theme.colors(self.palette())
        # Times of two machines do not compare: only those that are from where the newest is.
        source = (self._now or self._bars[-1]).source if self._bars else ""
        longest = max((each.median_ms for each in self._bars if each.source == source), default=1)
        names_px, words_px = self._widths()
        left_px = self.width() - words_px - 3 * SPACE_PX
        names_px = min(names_px, max(left_px - MIN_ROOM_PX, round(NAME_SHARE * self.width())))
        room, high = max(left_px - names_px, MIN_ROOM_PX), self.height() / MAX_BARS
        for row, (bar, (name, words)) in enumerate(zip(self._bars, self.lines, strict=True)):
            is_now = self._now is not None and bar.key == self._now.key
            painter.setPen(QColor(colors.text if is_now else colors.muted))
            elided = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, names_px)
            painter.drawText(QRectF(0, row * high, names_px, high), LEFT, elided)
            left = float(names_px + SPACE_PX)
            if bar.source == source:
                length = max(bar.median_ms / longest * room, MIN_PX)
                color = QColor(colors.accent if is_now else colors.muted)
                color.setAlphaF(1.0 if is_now else 0.5)
                top = (row + BESIDE) * high
                painter.fillRect(QRectF(left, top, length, high * (1 - 2 * BESIDE)), color)
                left += length + SPACE_PX
            painter.drawText(QRectF(left, row * high, self.width(), high), LEFT, words)


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
        """Show a note, its number as "3 of 20", and the name of the next step."""
        self._note.setText(note or "No note for this step.")
        self._next.setText(f"Next: {following}" if following else "This is the last step.")
        self._count = count
        self._tick()

    def _tick(self) -> None:
        gone = self._began.secsTo(QTime.currentTime())
        self._clock.setText(f"{self._count}   ·   {gone // 60}:{gone % 60:02}")


def _line(name: str) -> ElidedLabel:
    """A label that is elided where the screen is too narrow."""
    label = ElidedLabel(1.0, f"stage-{name}")
    label.setForegroundRole(TEXT)
    return label


def _words(name: str, role: QPalette.ColorRole = TEXT) -> QLabel:
    label = Label(name=f"stage-{name}")
    label.setForegroundRole(role)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
    label.setMinimumWidth(1)
    return label


@dataclass(frozen=True, slots=True)
class LadderBar:
    """One step's time.

    key     the implementation that was timed, and its blocks
    source  empty: here; else the name of the machine that a recorded time is from
    """

    name: str
    key: tuple[object, ...]
    median_ms: float
    source: str = ""
    is_disturbed: bool = False

    @property
    def time(self) -> str:
        """The time, with a star where something disturbed it."""
        return f"{numbers.duration(self.median_ms)}{'*' if self.is_disturbed else ''}"

    def beside(self, before: LadderBar | None) -> str:
        """Format "1.9× the step before", or how much slower; empty where they do not compare."""
        if before is None or before.source != self.source:
            return ""
        ratio = before.median_ms / self.median_ms
        if abs(ratio - 1) < SAME_WITHIN:
            return "as fast as before"
        words = numbers.speed_up(ratio, numbers.fine_ratio)
        return f"{words} the step before" if ratio > 1 else words


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one result, in words.

    work       filter and size; `how`: implementation and block shape
    verdict    one line on the output
    is_right   None: not known yet
    speedup    times as fast as the CPU, or slower; the note names the baseline, or why there is
               none
    time_more  disturbances of the time, for a tooltip
    bar        of the ladder; None while there is no right output
    """

    work: str = ""
    how: str = ""
    verdict: str = ""
    is_right: bool | None = None
    time: str = MISSING
    time_note: str = "filter time"
    speedup: str = MISSING
    speedup_note: str = ""
    time_more: str = ""
    bar: LadderBar | None = None

    @property
    def in_words(self) -> str:
        """All figures in words, for screen readers."""
        speedup = f"{self.speedup} {self.speedup_note}" if self.speedup_note else ""
        parts = (f"{self.time_note} {self.time}", speedup, self.verdict, self.work, self.how)
        return ", ".join(filter(None, (*parts, self.time_more)))


def short_name(device: str) -> str:
    """A GPU's name for a room: neither who makes it nor its memory."""
    return re.sub(r" \d+ ?GB.*", "", device.removeprefix("NVIDIA "))


def figures_of(
    state: State, result: Result | None, baseline: Result | None, *, is_refused: bool = False
) -> Figures:
    """Make the figures of `result` if it answers `state`; else only the work is named.

    baseline    the CPU's result of the same work; None while it is not known
    is_refused  the state's job cannot be run, so that no result will come
    """
    work, title = _work(state), intents.title_with_pick(state.implementation, None)
    if result is None or not intents.is_answer(result, state):
        verdict = "✗ this cannot be run" if is_refused else "working …"
        return Figures(work, title, verdict, False if is_refused else None)
    how = _with_block(intents.title_with_pick(state.implementation, result.picked), result.block_xy)
    check, kernel = result.check, result.kernel
    if check is not None and not check.ok:
        unknown = "✗ not verified" if check.bug else "✗ the output cannot be checked"
        return Figures(work, how, "✗ the output is wrong" if check.wrong else unknown, False)
    is_right = True if check is not None and check.is_verified else None
    verdict = "✓ verified" if is_right else "right, not verified" if check else "verifying …"
    found = Figures(work, how, verdict, is_right, time_more=why_starred(result.disturbances))
    found = replace(found, speedup_note="the CPU's time is still to come")
    if baseline is not None and baseline.check is not None:
        speed_up = speed_up_of(result, baseline)
        found = replace(found, speedup=speed_up.text, speedup_note=speed_up.against)
    if kernel is None:
        return replace(found, time_note=no_time_in_words(result))
    note = f"filter time, L2 {kernel.cache}" if kernel.cache else "filter time on the CPU"
    note += f", {single_in_words(result)}" if kernel.is_single else ""
    note += ", * disturbed" if result.disturbances else ""
    key, is_disturbed = (result.implementation, result.block_xy), bool(result.disturbances)
    bar = LadderBar(title, key, kernel.median_ms, is_disturbed=is_disturbed)
    return replace(found, time=bar.time, time_note=note, bar=bar if check is not None else None)


def recorded_figures(state: State, recorded: RecordedTimes) -> Figures | None:
    """Figures recorded for the job of `state`, marked as such; None without."""
    try:
        job = intents.job_for(state)
    except KernelError:
        return None
    times = recorded.of_work(job) if job is not None else {}
    if (time := times.get(state.implementation)) is None:
        return None
    title, speedup, against = intents.title_with_pick(state.implementation, None), MISSING, ""
    if (baseline := times.get("opencv")) is not None and state.implementation != "opencv":
        ratio = baseline.median_ms / time.median_ms
        speedup = numbers.speed_up(ratio, numbers.fine_ratio)
        is_slower = numbers.is_slower(ratio, numbers.fine_ratio)
        against = f"{'than' if is_slower else 'as fast as'} OpenCV there"
    key = (state.implementation, time.block_xy)
    return Figures(
        *(_work(state), _with_block(title, time.block_xy), "✓ verified when recorded", True),
        numbers.duration(time.median_ms),
        f"recorded on an {short_name(recorded.device)}, L2 {CACHE}",
        *(speedup, against),
        bar=LadderBar(title, key, time.median_ms, recorded.device),
    )


def work_of(state: State) -> tuple[object, ...]:
    """Key of the work of a step; the steps of one ladder share it."""
    picture = state.picture and weakref.ref(state.picture)  # it may be large
    return state.filter, state.ksize, state.sigma, state.border, picture


def _work(state: State) -> str:
    return f"{filters.get(state.filter).title} {state.ksize}×{state.ksize}"


def _with_block(title: str, block: tuple[int, int] | None) -> str:
    return f"{title} · {block[0]}×{block[1]}" if block else title
