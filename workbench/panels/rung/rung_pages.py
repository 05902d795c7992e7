"""Two pages on an implementation: it in words, as in the help, and the measured ladder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QTextBrowser, QWidget

from kernels.core.job import Pick, Ran
from kernels.engine.engine import Implementation
from kernels.rungs.operands import Operands
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung, not_described
from kernels.sweeps.estimate import rounds_done
from kernels.sweeps.plan import Cell
from kernels.sweeps.record import Record
from workbench.base import numbers
from workbench.base.paths import asset_table
from workbench.base.plain_text import Label
from workbench.charts.canvas import FigureView
from workbench.charts.data.figure import Axis, Bar, Bars, Figure, Group, LegendLine
from workbench.charts.data.points import style_of_implementation
from workbench.model.rung_times import LadderLine
from workbench.panels.controls.tool_row import KIND_TITLES
from workbench.widgets.boxes import HBox, UprightArea, VBox
from workbench.widgets.buttons import allow, described, push_button
from workbench.widgets.folding import OffStage
from workbench.widgets.tile import scaled_font, words_label

STEPS = {"cpu": "implementation", "cuda": "rung"}
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")  # characters that Markdown would take for marks
NUMBER = re.compile(r"\{[^}]*\}")
KEY = "rung/"  # in front of a rung's key, in links to its page


class IdeaPage(QTextBrowser):
    """The page with title, idea, place, refusal and resources of one implementation."""

    chosen = Signal(str)  # (key): the user followed a link to another implementation

    def __init__(self) -> None:
        super().__init__(openLinks=False)
        described(self, "rung-idea-page", "Idea and resources", look="sentence")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.anchorClicked.connect(lambda url: self.chosen.emit(url.path().removeprefix(KEY)))
        self._key = self._shown = ""

    def show_page(self, key: str, markdown: str) -> None:
        """Show this text on an implementation, from its beginning if that is another one."""
        if markdown != self._shown:
            bar = self.verticalScrollBar()
            top = bar.value() if key == self._key else 0
            self._key, self._shown = key, markdown
            self.setMarkdown(markdown)
            bar.setValue(top)


def escaped(text: str) -> str:
    """Plain text as Markdown, line by line."""
    return SPECIAL.sub(r"\\\1", text).replace("\n", "  \n")


def link(title: str, key: str) -> str:
    """Markdown link to the help's page `key`."""
    return f"[{escaped(title)}](help:{key})"


def words_on(
    each: Implementation,
    known: Sequence[Implementation],
    pick: Pick | None = None,
    now: Sequence[str] = (),
) -> str:
    """Describe an implementation and its place among the others of its kind.

    known  all implementations
    pick   why `auto` picked it; None: it did not
    now    paragraphs on the present job
    """
    picked = f" · picked by Auto: {pick.why}" if pick else ""
    parts = [f"*{escaped(place_words(each, known) + picked)}*", f"**{escaped(each.idea)}**", *now]
    if isinstance(each, Rung):
        parts += _of_rung(each, known)
    if isinstance(each, BrokenRung):
        parts.append(escaped(each.reason))
    parts.append(f"On the command line and in files it is called `{each.key}`.")
    return "\n\n".join(filter(None, parts))


def place_words(chosen: Implementation, known: Sequence[Implementation]) -> str:
    """Its place among its kind: "CUDA · rung 3 of 23"."""
    if is_own(chosen.key):
        return "Yours · it stands on the ladder beside the rungs"
    kind = chosen.kind
    same = [each for each in known if each.kind == kind and not is_own(each.key)]
    return f"{KIND_TITLES[kind]} · {STEPS[kind]} {same.index(chosen) + 1} of {len(same)}"


def _of_rung(rung: Rung, known: Sequence[Implementation]) -> Iterator[str]:
    before = [other for other in known if other.key == rung.after]
    then = [other for other in known if isinstance(other, Rung) and other.after == rung.key]
    if before:
        yield f"Changes one thing about {_links(before)}."
    if then:
        yield f"Changed further by {_links(then)}."
    yield escaped(" ".join(rung.lesson.split()))
    yield asset_table("help/forms.toml")[rung.weights]
    yield escaped(rung.own_block or "It takes the block shape that you choose.")
    if len(rung.passes) > 1:
        names = ", ".join(f"`{each.library or each.function}`" for each in rung.passes)
        yield f"It takes {len(rung.passes)} launches: {names}."
    if rung.capability > (0, 0):
        others = "and no other" if rung.architecture_specific else "or higher"
        yield "It needs compute capability {}.{} {}.".format(*rung.capability, others)
    if rung.reduced_precision:
        yield (
            "Its error is far above that of float32, within a bound of its own; Auto never picks "
            "it."
        )
    if rung.finite_only:
        yield (
            "It rejects pictures that hold NaN or infinity, which it would spread beyond the "
            "filter's reach."
        )
    yield escaped(not_described(rung))
    if rung.requires:
        reasons = "\n".join(f"- {escaped(NUMBER.sub('…', why))}" for _, why in rung.requires)
        yield f"It rejects some jobs, and says why (… stands for a number):\n\n{reasons}"


def _links(implementations: Sequence[Implementation]) -> str:
    return ", ".join(link(each.title, f"{KEY}{each.key}") for each in implementations)


def resources(ran: Sequence[Ran], operands: Operands | None) -> str:
    """List what ran for the present settings, and the weights that it took."""
    words = [*map(str, ran), *(_operand_words(operands) if operands else ())]
    return "\n".join(f"- {escaped(each)}" for each in words)


def _operand_words(operands: Operands) -> list[str]:
    """Describe the operands of a launch beside pictures: "COLUMN: 5 float32 in constant memory"."""
    words = [
        f"{name}: {_shape(values.shape)} {values.dtype} in constant memory"
        for name, values in operands.constants.items()
    ]
    words += [
        f"an argument: {_shape(values.shape)} {values.dtype} in global memory"
        for values in operands.arguments
    ]
    return words + [f"{name} = {value}" for name, value in operands.knobs.items()]


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


LARGE_RANGE = 20.0  # largest over smallest time, from which the scale is logarithmic
IN_USE = "● "  # marks the chosen one
NOT_MEASURED = "—"
MIN_CHART_PX = 220


def figure_of(places: Sequence[LadderLine], chosen: str) -> Figure:
    """A bar per implementation: its median, and the ratio to its predecessor."""
    times = [each.median_ms for each in places if each.median_ms]
    is_log = bool(times) and max(times) > LARGE_RANGE * min(times)
    axis = Axis(f"Time{', logarithmic' if is_log else ''}", numbers.duration, is_log)
    groups = []
    for each in places:
        key, title = each.implementation.key, each.implementation.title
        groups.append(Group(f"{IN_USE if key == chosen else ''}{title}", (_bar(each),)))
    body = Bars(axis, tuple(groups), names_beside=True)
    return Figure("", "The ladder: times", "", quickest_of(places), (), body)


def _bar(place: LadderLine) -> Bar:
    key, title, time = place.implementation.key, place.implementation.title, place.time
    entry = LegendLine(title, title, "", title, style_of_implementation(key))
    if time is None:
        return Bar(entry, None, 0.0, 0.0, NOT_MEASURED, place.in_words, key)
    ms = time.median_ms
    mark = "✗ " if time.is_wrong else ""
    ratio = "" if place.ratio is None else f" · {numbers.speed_up(place.ratio)}{place.mark}"
    words = f"{mark}{time.duration}{ratio}"
    return Bar(entry, ms, ms, ms, words, place.in_words, key, is_part=bool(time.where))


LEGEND = "Beside a time: how many times as fast it is as the one that it builds on; *: disturbed."
COMPARE = "Compare all"
TIPS = asset_table("tips.toml")["implementation"]
NO_JOB = "Open a picture first."
NONE_RUNS = "Nothing to measure: none of them can run this job here; each says why."


class LadderView(QWidget):
    """The measured ladder: the places of all implementations, which its chart shows."""

    measure_wanted = Signal(object)  # (implementations): all that can run, in their order
    cancelled = Signal()  # and now no longer

    def __init__(self) -> None:
        super().__init__()
        self._able: tuple[Implementation, ...] = ()
        self.is_measuring = self._is_busy = self._has_job = False
        self._known: dict[Cell, Record] = {}  # of the measurement under way, or the last
        self._rounds = self._count = 0
        self._why_none = self._quickest = ""
        self._caption = Label(name="ladder-caption", font=scaled_font(0.9), wraps=True)
        self.places: Sequence[LadderLine] = ()
        self.chart = described(FigureView(""), "ladder-chart", "The ladder: times")
        self.chart.setMinimumWidth(MIN_CHART_PX)
        self._measure = push_button("ladder-measure", COMPARE, look="primary")
        self._measure.clicked.connect(self._toggle)
        self._bar = described(QProgressBar(textVisible=False), "ladder-progress", "Rounds measured")
        self._doing = words_label("ladder-doing", 0.9, is_muted=True, lines=2)
        self._bar.hide()
        self._doing.hide()
        self._reason = Label(name="ladder-reason", font=scaled_font(0.9), wraps=True)
        legend = Label(LEGEND, font=scaled_font(0.85), is_muted=True, wraps=True)
        tools = QWidget()
        measuring = HBox(spacing=8).add(self._measure, (self._bar, 3), 1)
        VBox(tools, 0, 4).add(self._doing, measuring)  # the button last, where it stays
        layout = VBox(self, (0, 8, 0, 0), 6)
        layout.add(self._caption, (UprightArea(self.chart), 1), legend, self._reason, tools)
        OffStage(self, legend, tools)
        self._refresh()

    def show_places(self, places: Sequence[LadderLine], chosen: str, caption: str) -> None:
        """Show a bar for each implementation, the chosen one marked.

        caption  on the job; "" where there is none
        """
        self.places = places
        self.chart.show_figure(figure_of(places, chosen))
        self._caption.setText(caption or NO_JOB)
        self._able = tuple(each.implementation for each in places if each.reason is None)
        self._has_job = bool(caption)
        self._quickest = quickest_of(places)
        reasons = {each.reason for each in places}
        self._why_none = f"Nothing to measure: {reasons.pop()}" if len(reasons) == 1 else NONE_RUNS
        self._refresh()

    def show_begun(self, rounds: int) -> None:
        """Show that the measuring began, with this number of rounds for each."""
        self.is_measuring, self._rounds, self._known = True, rounds, {}
        self._count = len(self._able)
        self._bar.setRange(0, self._count * rounds)
        self._bar.setValue(0)
        self._refresh()

    def show_ended(self) -> None:
        """Show that it ended, and how many have a time if it was cancelled."""
        self.is_measuring = False
        is_all = self._bar.value() == self._bar.maximum()
        timed = sum(not isinstance(each.outcome, str) for each in self._known.values())
        few = ", with fewer samples" if timed == self._count else ""
        stopped = f"Stopped: {timed} of {self._count} measured{few}"
        self.show_progress("" if is_all else stopped)
        self._refresh()

    def show_busy(self, is_busy: bool) -> None:
        """Disable measuring while a sweep runs."""
        self._is_busy = is_busy
        self._refresh()

    def show_record(self, record: Record) -> None:
        """Show the progress by rounds; the time itself comes with `show_places`."""
        self._known[record.cell] = record
        done = (rounds_done(each, self._rounds) for each in self._known.values())
        self._bar.setValue(sum(done))

    def toggle(self) -> str:
        """Measure all, or cancel; the reason it cannot, or ""."""
        reason = self._why_not()
        self._measure.click()
        return reason

    def show_progress(self, text: str) -> None:
        self._doing.show_or_hide(text)
        self._doing.setAccessibleName(f"Ladder: {text or 'idle'}")

    def _toggle(self) -> None:
        if self.is_measuring:
            self.cancelled.emit()
        else:
            self.measure_wanted.emit(what_matters_first(self._able))

    def _refresh(self) -> None:
        reason = self._why_not()
        self._measure.setText("Cancel" if self.is_measuring else COMPARE)
        allow(self._measure, reason, TIPS["cancel" if self.is_measuring else "compare"])
        self._bar.setVisible(self.is_measuring)
        # Without a job the caption says it.
        self._reason.show_or_hide((reason or self._quickest) if self._has_job else "")

    def _why_not(self) -> str:
        if self.is_measuring:
            return ""
        if self._is_busy:
            return "A sweep is running; wait for its end, or cancel it."
        return NO_JOB if not self._has_job else "" if self._able else self._why_none


def quickest_of(places: Sequence[LadderLine]) -> str:
    """Name the fastest, once all that can run have a time; else ""."""
    able = [each for each in places if each.reason is None]
    times = [(each.time, each.implementation.title) for each in able if each.time]
    right = [(time, title) for time, title in times if not time.is_wrong]
    if len(able) < 2 or not right or len(times) < len(able):
        return ""
    time, title = min(right, key=lambda each: each[0].median_ms)
    return f"Fastest here: {title}, {time.duration}."


def what_matters_first(implementations: Iterable[Implementation]) -> tuple[Implementation, ...]:
    """Order of measuring: the GPU's, then the CPU's, plain loops on one thread last."""
    every = tuple(implementations)
    on_cpu = [each for each in every if each.kind == "cpu"]
    return (*(each for each in every if each.kind != "cpu"), *reversed(on_cpu))
