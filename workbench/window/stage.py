"""The window as a stage for a room: above and below the picture large words, nothing small."""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTime, QTimer
from PySide6.QtGui import QColor, QFont, QKeySequence, QPalette, QShortcut
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from kernels.core.errors import KernelError
from kernels.core.job import Result
from kernels.core.plain_data import table_beside
from kernels.core.timing import SAME_WITHIN
from workbench.base import numbers, theme
from workbench.base.numbers import MISSING, star
from workbench.base.plain_text import Label, tip_text
from workbench.model import intents
from workbench.model.rung_times import CACHE, RungTimes
from workbench.model.state import State
from workbench.panels.timing import timing_words
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import described
from workbench.widgets.tile import MUTED, TEXT, ElidedLabel

USUAL_PX = (1280, 720)  # of a projector; on another screen everything grows or shrinks with it
SMALL = 24  # letters in pixels there; nothing is smaller


class Look(NamedTuple):
    """The look of a label: letters in pixels, and whether a long text is cut."""

    px: int = SMALL
    is_bold: bool = False
    is_pale: bool = False
    is_elided: bool = False


LABELS = {name: Look(**look) for name, look in table_beside(__file__).items()}
FIGURES = ("time", "time_note", "speedup", "speedup_note", "verdict", "work")
POINTS_AN_INCH = 72
SIDE_PX, SPACING = 28, 6
FORWARD = ("PgDown", "Right", "Down", "Return", "Enter")
BACK = ("PgUp", "Left", "Up", "Backspace")
BLANK = ("B", ".")  # what clickers send
HINT = "→ PgDn next   ← PgUp back   Space original   + − 0 zoom   F7 notes   B blank   Esc leave"
MAX_BARS = 4  # the newest
BAR_LETTERS, NAME_LETTERS = 6, 18  # of the longest bar; a longer name loses its end
PARTS = ("", *"▏▎▍▌▋▊▉")  # of a letter, in eighths
ROW = (
    '<tr style="color:{0}; white-space:pre"><td>{1} </td>'
    # Between whole letters there would be seams.
    '<td><span style="color:{2}; background:{2}">{3}</span>'
    '<span style="color:{2}">{4}</span> {5}</td></tr>'
)
Keys = Mapping[str, Callable[[], object]]


class Stage(QObject):
    """Words around the picture, and the keys of a clicker, in the window that presents.

    resized  called with the enlargement against the usual screen
    """

    def __init__(self, window: QWidget, keys: Keys, resized: Callable[[float], None]) -> None:
        super().__init__(window)
        self._window, self._resized = window, resized
        window.installEventFilter(self)
        self.head, self.foot, self.numbers = QWidget(), QWidget(), QWidget()
        self._labels = {name: _label(name, look) for name, look in LABELS.items()}
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
        self._window.removeEventFilter(self)
        for part in (self.head, self.foot, self._black):
            part.hide()
            part.deleteLater()
        self.deleteLater()

    def show_step(self, name: str, number: int, count: int) -> None:
        """Show a step's name and its number, from 1; a blank stage is lit again."""
        self._write("title", name)
        self._write("count", f"{number} / {count}")
        self.say(HINT if number == 1 else "")
        self._black.hide()

    def show_figures(self, figures: Figures) -> None:
        """Show time, speed-up and verdict, muted until the output is known to be right."""
        is_right, colors = figures.is_right, theme.colors()
        for name in FIGURES:
            self._write(name, getattr(figures, name))
        self._labels["time"].setToolTip(tip_text(figures.time_more))
        for name in ("time", "speedup"):
            self._labels[name].setForegroundRole(TEXT if is_right else MUTED)
        palette = self._labels["verdict"].palette()
        color = colors.muted if is_right is None else colors.good if is_right else colors.bad
        palette.setColor(QPalette.ColorRole.WindowText, QColor(color))
        self._labels["verdict"].setPalette(palette)
        said = [self._title, *(getattr(figures, name) for name in FIGURES), figures.time_more]
        self.foot.setAccessibleName(", ".join(filter(None, said)))

    def say(self, sentence: str) -> None:
        """Show the keys, or why there is nothing new to see."""
        self._write("hint", sentence)
        self._labels["hint"].setVisible(bool(sentence))

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
        size = self._window.size()
        factor = min(size.width() / USUAL_PX[0], size.height() / USUAL_PX[1])
        parts = [(self._labels[name], look) for name, look in LABELS.items()]
        for widget, look in [*parts, (self.ladder, Look())]:
            font = theme.numbers_font()
            font.setPointSizeF(round(look.px * factor) * POINTS_AN_INCH / self.head.logicalDpiY())
            font.setWeight(QFont.Weight.DemiBold if look.is_bold else QFont.Weight.Normal)
            widget.setFont(font)
            widget.updateGeometry()
        self._resized(factor)

    def _write(self, name: str, text: str) -> None:
        label = self._labels[name]
        if isinstance(label, ElidedLabel):
            label.show_text(text)
        else:
            label.setText(text)
        if name == "title":
            self._title = text

    def _lay_out(self) -> None:
        labels = self._labels
        HBox(self.head, (SIDE_PX, 12, SIDE_PX, SPACING)).add((labels["title"], 1), labels["count"])
        work = HBox().add((labels["work"], 1), labels["verdict"])
        speed = HBox(None, (0, 8, 0, 0), 12).add(labels["speedup"], (labels["speedup_note"], 1))
        below = QGridLayout(self.numbers)
        below.setContentsMargins(0, 0, 0, 0)
        below.setHorizontalSpacing(20)
        below.setVerticalSpacing(0)
        below.addWidget(labels["time"], 0, 0)
        below.addWidget(labels["time_note"], 1, 0)
        below.addLayout(speed, 2, 0)
        below.addWidget(self.ladder, 0, 1, 3, 1)
        for column, share in enumerate((4, 5)):  # else a longer note moved the bars
            below.setColumnStretch(column, share)
        foot = VBox(self.foot, (SIDE_PX, SPACING, SIDE_PX, 10), SPACING)
        foot.add(work, self.numbers, labels["hint"])


def _label(name: str, look: Look) -> Label:
    known = f"stage-{name.replace('_', '-')}"
    label = ElidedLabel(1.0, known) if look.is_elided else Label(name=known)
    if not look.is_elided:
        label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        label.setMinimumWidth(1)
    label.setForegroundRole(MUTED if look.is_pale else TEXT)
    return label


class LadderBar(NamedTuple):
    """One step's time."""

    name: str
    work: str  # what was timed, in words, with its blocks
    median_ms: float
    disturbances: Sequence[str] = ()
    source: str = ""  # of a recorded time: the name of the machine; empty: here

    @property
    def time(self) -> str:
        return f"{numbers.duration(self.median_ms)}{star(self.disturbances)}"

    def beside(self, before: LadderBar | None) -> str:
        """Format "1.9× the step before", or how much slower; empty where they do not compare."""
        if before is None or before.source != self.source:
            return ""
        ratio = before.median_ms / self.median_ms
        if abs(ratio - 1) < SAME_WITHIN:
            return "as fast as before"
        mark = star((*self.disturbances, *before.disturbances))
        words = f"{numbers.speed_up(ratio, numbers.fine_ratio)}{mark}"
        return f"{words} the step before" if ratio > 1 else words


class LadderBars(Label):
    """The newest bars in the order of the steps, the present one in colour."""

    def __init__(self) -> None:
        super().__init__()
        described(self, "stage-ladder", "The ladder so far")
        self.setTextFormat(Qt.TextFormat.RichText)
        self.lines: list[tuple[str, str]] = []  # name, and time with comparison, of each bar
        self.hide()

    def show_bars(self, bars: Sequence[LadderBar], now: LadderBar | None = None) -> None:
        """Show the bars of the steps so far, the present one among them."""
        colors, rows, words = theme.colors(), [], []
        # Times of two machines do not compare: only those that are from where the newest is.
        source = (now or bars[-1]).source if bars else ""
        pairs = list(zip(bars, [None, *bars], strict=False))[-MAX_BARS:]
        longest = max((bar.median_ms for bar, _ in pairs if bar.source == source), default=1.0)
        self.lines = [
            (bar.name, f"{bar.time}   {bar.beside(before)}".rstrip()) for bar, before in pairs
        ]
        for (bar, _), (name, said) in zip(pairs, self.lines, strict=True):
            text, fill = (colors.text, colors.accent) if bar == now else 2 * (colors.muted,)
            length = bar.median_ms / longest if bar.source == source else 0.0
            cut = name if len(name) <= NAME_LETTERS else f"{name[: NAME_LETTERS - 1]}…"
            rows.append(ROW.format(text, escape(cut), fill, *_bar(length), escape(said)))
            recorded = f"recorded on an {bar.source}" if bar.source else ""
            words.append(", ".join(filter(None, (name, said, recorded))))
        self.setText(f"<table>{''.join(rows)}</table>")
        self.setAccessibleDescription("; ".join(words))
        self.setToolTip(tip_text("\n".join(words)))
        self.setVisible(bool(bars))


def _bar(share: float) -> tuple[str, str]:
    """A bar of block letters: whole ones, and part of one; empty only for 0."""
    eighths = math.ceil(8 * BAR_LETTERS * share)
    return eighths // 8 * "█", PARTS[eighths % 8]


class NotesWindow(QWidget):
    """A window for the speaker's own screen: the note, what comes next, and the time gone by."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window, windowTitle="Speaker's notes")
        self.setObjectName("stage-notes-window")
        self.resize(theme.window_size(620, 420))
        self._began, self._count = QTime.currentTime(), ""
        font = QFont(self.font())
        font.setPointSizeF(1.5 * font.pointSizeF())
        self._clock = Label(name="notes-clock", font=font)
        self._note = Label(name="notes-text", font=font, wraps=True)
        self._note.setAlignment(Qt.AlignmentFlag.AlignTop)
        VBox(self, (16, 12, 16, 12)).add(self._clock, (UprightArea(self._note), 1))
        ticking = QTimer(self, interval=1000)
        ticking.timeout.connect(self._tick)
        ticking.start()

    def show_note(self, note: str, count: str, following: str) -> None:
        """Show a note, its number as "3 of 20", and the name of the next step."""
        after = f"Next: {following}" if following else "This is the last step."
        self._note.setText(f"{note or 'No note for this step.'}\n\n{after}")
        self._count = count
        self._tick()

    def _tick(self) -> None:
        gone = self._began.secsTo(QTime.currentTime())
        self._clock.setText(f"{self._count}   ·   {gone // 60}:{gone % 60:02}")


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one result, in words."""

    work: str  # filter, size, implementation and block shape
    verdict: str
    is_right: bool | None = None  # None: not known yet
    time: str = MISSING
    time_note: str = "filter time"
    speedup: str = MISSING
    speedup_note: str = ""
    time_more: str = ""  # disturbances of the time, for a tooltip
    bar: LadderBar | None = None  # of the ladder; None while there is no right output


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
    if result is None or not intents.is_answer(result, state):
        verdict = "✗ this cannot be run" if is_refused else "working …"
        return Figures(_work(state), verdict, False if is_refused else None)
    title = intents.title_with_pick(state.implementation, result.picked)
    work, check, kernel = _work(state, title, result.block_xy), result.check, result.kernel
    verdict = timing_words.judged(result)[0][-1]
    if check is not None and not check.ok:
        return Figures(work, verdict, False)
    time, speed = timing_words.filter_time(result), timing_words.speed_up(result, baseline)
    disturbed = "* disturbed" if result.disturbances else ""
    noted = ("filter time", time.note, time.unsure, disturbed) if kernel else (time.detail,)
    bar = None
    if kernel is not None and check is not None:
        named = intents.title_with_pick(state.implementation)
        bar = LadderBar(named, work, kernel.median_ms, result.disturbances)
    return Figures(
        *(work, verdict, True if check is not None and check.is_verified else None),
        *(time.text, ", ".join(filter(None, noted))),
        # A speed counts only beside two passed checks.
        *((MISSING, speed.unsure) if speed.unsure else (speed.text, speed.detail)),
        *(time.more, bar),
    )


def recorded_figures(state: State, recorded: RungTimes) -> Figures | None:
    """Figures recorded for the job of `state`, marked as such; None without."""
    try:
        job = intents.job_for(state)
    except KernelError:
        return None
    times = recorded.of_work(job) if job is not None and job.is_one_launch else {}
    if (time := times.get(state.implementation)) is None:
        return None
    title, speedup, against = intents.title_with_pick(state.implementation), MISSING, ""
    if (baseline := times.get("opencv")) is not None and state.implementation != "opencv":
        ratio = baseline.median_ms / time.median_ms
        mark = star((*time.disturbances, *baseline.disturbances))
        speedup = f"{numbers.speed_up(ratio, numbers.fine_ratio)}{mark}"
        is_slower = numbers.is_slower(ratio, numbers.fine_ratio)
        against = f"{'than' if is_slower else 'as fast as'} OpenCV there"
    work = _work(state, title, time.block_xy)
    return Figures(
        *(work, "✓ verified when recorded", True, time.duration),
        f"recorded on an {short_name(recorded.device)}, L2 {CACHE}",
        *(speedup, against),
        bar=LadderBar(title, work, time.median_ms, time.disturbances, recorded.device),
    )


def work_of(state: State) -> tuple[object, ...]:
    """Key of the work of a step; the steps of one ladder share it."""
    picture = state.picture and weakref.ref(state.picture)  # it may be large
    return state.filter, state.ksize, state.sigma, state.border, state.before, picture


def _work(state: State, title: str = "", block: tuple[int, int] | None = None) -> str:
    filtering = " ▸ ".join(map(intents.step_in_words, intents.taken_in(state)))
    blocks = f"{block[0]}×{block[1]}" if block else ""
    named = title or intents.title_with_pick(state.implementation)
    return " · ".join(filter(None, (filtering, named, blocks)))
