"""The newest times, and the line under the picture that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QFont, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QWidget

from kernels.core.job import Result
from kernels.core.verdict import Check
from workbench.base import theme
from workbench.base.numbers import GAP, MISSING
from workbench.base.plain_text import Label, tip_text
from workbench.model.speed_up import BASELINE
from workbench.panels.timing import timing_words as words
from workbench.panels.timing.timing_words import Figure
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.tile import MUTED, TEXT, scaled_font, show_role
from workbench.widgets.watch import Watch

VERDICT_BAR_PX = 4


class VerdictBar(QFrame):
    """An upright bar in the colour of a verdict."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("verdict-bar")
        self.setFixedWidth(VERDICT_BAR_PX)

    def show_check(self, check: Check | None) -> None:
        """Show the colour of this finding; None: there is none yet."""
        verdict = "good" if check is not None and check.is_verified else ""
        if check is not None and not check.ok:
            verdict = "bad"
        if verdict != self.property("verdict"):
            self.setProperty("verdict", verdict)
            self.style().polish(self)


def role_of(check: Check | None, otherwise: QPalette.ColorRole) -> QPalette.ColorRole:
    """The colour role of the verdict's words: that of errors where the output is not right."""
    return QPalette.ColorRole.BrightText if check is not None and not check.ok else otherwise


class Newest(NamedTuple):
    """The newest times, or why there are none."""

    result: Result | None = None
    baseline: Result | None = None  # the CPU's result to compare with; None: it is not known yet
    subject: str = ""  # what was timed; empty: the picture
    why_empty: str = ""


HEIGHT_PX = 36
BAR_PX, GAP_PX, NEXT_PX = 18, 7, 22  # to the first word; to its small print; to the next figure
LARGE, LESS, SMALL = 1.5, 1.2, 1.0
OPENS = "Click for all figures and the history."
# As wide as the words usually are: what stands behind them stands still while they change.
TIME, RATE, RATIO = f"88.8{GAP}ms*", f"88.8{GAP}MP/s", "88.8×* slower"
SPREAD = f"88.8{GAP}–{GAP}88.8{GAP}ms  ·  n{GAP}={GAP}888"
VERDICT = "✓ verified all pixels, largest error 0", "✓ verified all pixels", "✓ verified"
AGAINST, DOING = "as fast as OpenCV, 16 threads", "filtering with OpenCV …"


class StatusLine(QToolButton):
    """The line of the newest Result; a click opens the panel with the rest.

    Parts without room are left out, the least important first; nothing is cut.  A speed counts
    only beside a passed check: until then it is pale, and beside a failed one there is none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("status-line")
        self.setAccessibleDescription(OPENS)
        self.setToolTip(OPENS)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._bar = VerdictBar(self)
        self._time, self._rate, self._speed_up = (
            _Words(self, name, LARGE, QFont.Weight.DemiBold)
            for name in ("line-time", "line-rate", "line-speed-up")
        )
        self._spread, self._against, self._doing, self._subject = (
            _Words(self, name, SMALL)
            for name in ("line-spread", "line-against", "doing", "line-subject")
        )
        self._verdict = _Words(self, "line-verdict", LESS, QFont.Weight.DemiBold)
        for each in (self._spread, self._against, self._doing):
            each.setForegroundRole(MUTED)
        self._doing.setAlignment(Qt.AlignmentFlag.AlignRight)
        # Said in fewer words, or left out, in this order.
        self._shrinking = (
            *(self._subject, self._verdict, self._against, self._verdict, self._spread),
            *(self._rate, self._speed_up, self._doing),
        )
        self._doing.show_words("", widest=DOING)
        self._newest, self._is_awaited = Newest(), False  # and whether a speed-up may still come
        self.show_times(Newest())

    def show_times(self, newest: Newest) -> None:
        """Show the newest times, or why there are none; the subject is never left out."""
        before, self._newest = self._newest.result, newest
        if (result := newest.result) is None:
            for each in self._figures:
                each.show_words("")
            self._show_verdict((newest.why_empty,), None)
        else:
            self._subject.show_words(newest.subject, newest.subject.partition(",")[0])
            time, rate = words.filter_time(result), words.throughput(result)
            tip, is_known = words.tip(time, words.TIPS["filter-time"]), rate.text != MISSING
            self._time.show_words(time.text, widest=TIME, tip=tip, is_pale=bool(time.unsure))
            self._spread.show_words(time.detail, "", widest=SPREAD, tip=tip)
            text, widest = (rate.text, RATE) if is_known else ("", "")
            tip = words.tip(rate, words.TIPS["throughput"])
            self._rate.show_words(text, "", widest=widest, tip=tip, is_pale=bool(rate.unsure))
            speed_up = words.speed_up(result, newest.baseline)
            if before is None or before.job is not result.job:  # else the verdict stays
                self._is_awaited = is_known and speed_up.text != BASELINE
            self._show_speed_up(speed_up)
            self._show_verdict(*words.judged(result))
        self._refresh()

    def show_doing(self, text: str) -> None:
        """Show what is under way; empty: nothing.

        Called many times a second, it keeps the layout where the words have their place.
        """
        before, room = self._doing.wordings[0], self._doing.room
        if text == before:
            return
        self._doing.show_words(text, "", widest=DOING, tip=text)
        if text and before and self._doing.room == room:
            self._doing.show_step()
        else:
            self._refresh()

    def sizeHint(self) -> QSize:  # noqa: N802
        height = max(theme.in_letters(HEIGHT_PX), self._time.fontMetrics().height() + 8)
        return QSize(theme.in_letters(600), height)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(theme.in_letters(240), self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._bar.setGeometry(6, 7, VERDICT_BAR_PX, self.height() - 14)
        self._fit()

    @property
    def _figures(self) -> tuple[_Words, ...]:
        return self._time, self._spread, self._subject, self._rate, self._speed_up, self._against

    @property
    def _parts(self) -> tuple[_Words, ...]:
        return *self._figures, self._verdict, self._doing

    def _show_speed_up(self, figure: Figure) -> None:
        """Show a speed-up; its place is kept where it might still have come."""
        is_known = figure.text not in (MISSING, BASELINE)
        text, against = (figure.text, figure.detail) if is_known else ("", "")
        tip, unsure = words.tip(figure, words.TIPS["speed-up"]), bool(figure.unsure)
        widest = RATIO if self._is_awaited else ""
        self._speed_up.show_words(text, "", widest=widest, tip=tip, is_pale=unsure)
        widest = AGAINST if self._is_awaited else ""
        self._against.show_words(against, "", widest=widest, tip=tip)

    def _show_verdict(self, wordings: Sequence[str], check: Check | None) -> None:
        self._bar.show_check(check)
        widest = VERDICT if check is None else ""
        self._verdict.show_words(
            *wordings, widest=widest, tip=f"{wordings[0]}\n\n{words.verdict_tip(check)}"
        )
        show_role(self._verdict, role_of(check, TEXT if check else MUTED))

    def _refresh(self) -> None:
        said = [each.wordings[0] for each in self._parts if each.wordings[0]]
        self.setAccessibleName(", ".join(("Timing", *said)))
        self._fit()
        self.update()

    def _fit(self) -> None:
        room = self.width() - BAR_PX - GAP_PX
        for each in self._parts:
            each.step = 0
        for each in self._shrinking:
            if sum(gap + each.room for gap, each in self._in_order()) <= room:
                break
            each.step += 1
        self._place()

    def _in_order(self) -> list[tuple[int, _Words]]:
        """Parts that take room, from left to right, and the gap before each."""
        parts = [each for each in self._parts if each.room]
        small = (self._spread, self._subject, self._against)
        gaps = (0, *(GAP_PX if each in small else NEXT_PX for each in parts[1:]))
        return list(zip(gaps, parts, strict=False))

    def _place(self) -> None:
        metrics = self._time.fontMetrics()
        base = (self.height() - metrics.height()) // 2 + metrics.ascent()
        x = BAR_PX
        for gap, each in self._in_order():
            x += gap
            each.place(self.width() - GAP_PX - each.room if each is self._doing else x, base)
            x += each.room
        for each in self._parts:
            each.show_step()


class _Words(Label):
    """Words of the line in several wordings, the fullest first.

    wordings  "" where it may be left out
    step      which of them is shown
    """

    def __init__(
        self, line: QWidget, name: str, scale: float, weight: QFont.Weight = QFont.Weight.Normal
    ) -> None:
        super().__init__("", line, name=name)
        self._rooms: dict[int, int] = {}  # by step: asked for many times while a line is laid out
        self.setFont(scaled_font(scale, weight))
        Watch(self, QEvent.Type.FontChange).seen.connect(self._rooms.clear)
        self.wordings: Sequence[str] = ("",)
        self._widest: Sequence[str] = ()
        self.step = 0

    def show_words(
        self,
        *wordings: str,
        widest: str | Sequence[str] = "",
        tip: str = "",
        is_pale: bool | None = None,
    ) -> None:
        """Set other words.

        widest   as wide as the fullest of them may become, or each: room is kept for it
        is_pale  they are unreliable; None: they keep their colour
        """
        self.wordings = wordings
        self._widest = (widest,) if isinstance(widest, str) else widest
        self._rooms.clear()
        self.setToolTip(tip_text(tip))
        if is_pale is not None:
            show_role(self, MUTED if is_pale else TEXT)

    @property
    def room(self) -> int:
        """The width at this step; 0 where it is left out."""
        if self.step not in self._rooms:
            kept = self._widest[self.step] if self.step < len(self._widest) else ""
            self._rooms[self.step] = max(self._wide(self._now), self._wide(kept))
        return self._rooms[self.step]

    def _wide(self, text: str) -> int:
        # The advance alone would cut a last letter that leans over its end, as "*" does.
        return self.fontMetrics().size(Qt.TextFlag.TextSingleLine, text).width()

    def place(self, x: int, base: int) -> None:
        metrics = self.fontMetrics()
        self.setGeometry(x, base - metrics.ascent(), self.room, metrics.height())

    def show_step(self) -> None:
        self.setText(self._now)
        self.setVisible(bool(self._now))

    @property
    def _now(self) -> str:
        return self.wordings[min(self.step, len(self.wordings) - 1)]


NO_PICTURE = "Open a picture to see how fast it is filtered."
COMING = "The picture is being filtered."
REFUSED = "Not filtered, so there is nothing to time."
PREVIEWED = "Preview. The whole picture is filtered next."


class TimingViews(QObject):
    """Show the newest times in the line, and in the panel once made.

    line  its owner places it
    """

    def __init__(self, panel: LazyPanel[Any], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.line = StatusLine()
        self._panel = panel
        self._newest = Newest()
        self.show_empty(NO_PICTURE)
        panel.when_made(lambda made: made.show_times(self._newest))

    def show_result(self, result: Result, baseline: Result | None = None) -> None:
        """Show the newest Result; `baseline` is a CPU's, None keeps the one before."""
        self._show(self._newest._replace(result=result, baseline=baseline or self._newest.baseline))

    def show_subject(self, words: str) -> None:
        """Set what was timed; empty: the picture."""
        if words != self._newest.subject:
            self._show(self._newest._replace(subject=words))

    @Slot(object)
    def show_baseline(self, result: Result | None) -> None:
        """Set a CPU's Result to compare with; it counts only for the same work."""
        if result is not self._newest.baseline:  # set with every Result
            self._show(self._newest._replace(baseline=result))

    @Slot(str)
    def show_progress(self, doing: str) -> None:
        """Show what is under way, in the -ing form; empty: nothing."""
        self.line.show_doing(doing and f"{doing} …")

    def show_empty(self, why: str) -> None:
        """Clear all figures; `why` is shown in their place."""
        self.show_progress("")
        self.show_late(why)

    def show_late(self, why: str = COMING) -> None:
        """Clear all figures, which are of earlier settings; what is under way stays."""
        self._show(Newest(subject=self._newest.subject, why_empty=why))

    def _show(self, newest: Newest) -> None:
        self._newest = newest
        self.line.show_times(newest)
        self._panel.if_made(lambda panel: panel.show_times(newest))
