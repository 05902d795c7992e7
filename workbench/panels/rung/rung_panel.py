"""The chosen implementation: its idea, its place on the ladder, its source, PTX and SASS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QTabWidget, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Pick, Ran, Result
from kernels.engine.auto import AUTO, with_pick
from kernels.engine.engine import Implementation
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from workbench.base.background import Background
from workbench.model import intents
from workbench.model.plan_draft import plan_of
from workbench.model.plan_words import held_fixed
from workbench.model.recorded_times import RecordedTimes, all_recorded_times, why_not_beside
from workbench.model.rung_times import RecordedTime, RungTimes, WorkKey, ladder_places
from workbench.model.state import State
from workbench.panels.controls.tool_boxes import KIND_TITLES, ImplementationBox
from workbench.panels.rung.idea_page import NOT_RUN, IdeaPage
from workbench.panels.rung.ladder_view import LadderView
from workbench.panels.rung.rung_texts import sources
from workbench.session.ptx import PtxRequest, RungCode, request_for, resources_in_words
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.boxes import VBox
from workbench.widgets.code_view import CodeView, SourceText
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import scaled_font

Availability = list[tuple[Implementation, str | None]]
TABS = ("idea", "ladder", "source", "ptx")
NEEDS_GPU = "Needs an NVIDIA GPU."
NOT_RECORDED = "What it takes for this job was not recorded."
RECORDED = "CUDA: recorded on an {device}, L2 cold, the same work on another picture."
OTHER = "CUDA: recorded on an {device}, L2 cold, for another job: {job}, border clamp."
READING = "Reading the times that were recorded on a GPU …"
HEADING, OTHER_HEADING = "CUDA, recorded", "CUDA, recorded for another job"
SOURCE_TIP = "The rung itself, or a header that it is written in"
PTX_TIP = "The compiler's intermediate code, or the instructions of the GPU itself"
OWN_PTX = "PTX and SASS of a kernel of your own stand beside its lines in the panel Kernel."
NO_TIME_HERE = "It runs on the CPU runtime here, where a kernel has no time."
COMPARE_TIP = "Time every implementation that can run this job: which is the fastest here?"
ON_THE_CPU = "{title} runs on the CPU, so there is no PTX: that is the GPU's intermediate code."


class ShownResult(NamedTuple):
    """The result on the screen without its pictures, so that it keeps none in memory."""

    work: WorkKey
    implementation: str
    block_xy: tuple[int, int]
    ran: tuple[Ran, ...]
    picked: Pick | None


class RungPane(QWidget):
    """The panel about the chosen implementation, brought up to date when it is shown.

    Signals:
        wanted(name, value): the user wants `value` for State field `name`.
        measure_wanted(implementations): these are to be measured as things stand.
        measure_cancelled(): and now no longer.
        ptx_wanted(request): this PtxRequest is to be compiled, and told to `show_ptx`.
        large_wanted(): the user wants more room to read.
    """

    wanted = Signal(str, object)
    measure_wanted = Signal(object)
    measure_cancelled = Signal()
    ptx_wanted = Signal(object)
    large_wanted = Signal()

    def __init__(
        self, store: Store, worker: Worker, times: RungTimes, background: Background
    ) -> None:
        """Make the panel.

        store, worker  read for the state and the device, never written to
        times          of this session; whoever adds one says so by `show_times`
        background     reads the times that came with the program
        """
        super().__init__()
        self.setObjectName("rung-pane")
        self._store, self._worker, self._background = store, worker, background
        self._recorded, self._asked_for_recorded = RecordedTimes(), False
        self._is_reading = False
        self._availability: Availability = []
        self._times = times
        self._shown: ShownResult | None = None
        self._ptx: PtxRequest | None = None
        # One that cannot run here but is looked at; "": the state's implementation is.
        self._looked_at = self._looked_past = ""
        self._names = ImplementationBox("rung-shown", "Implementation to look at", offers_all=True)
        self._names.setToolTip("What to look at; if it can run here, it is chosen as well")
        self._names.activated.connect(lambda _: self._look(self._names.currentData()))
        self._compare = QPushButton("Compare all implementations")
        self._compare.setObjectName("rung-compare")
        self._compare.setToolTip(COMPARE_TIP)
        self._compare.clicked.connect(self._compare_all)
        self._idea = IdeaPage()
        self._ladder = LadderView()
        self._source = CodeView("rung-source", "Source", SOURCE_TIP)
        self._ptx_view = CodeView("rung-ptx", "PTX", PTX_TIP)
        self._tabs = QTabWidget()
        self._tabs.setObjectName("rung-tabs")
        self._tabs.setDocumentMode(True)
        self._tabs.tabBar().setAccessibleName("What to see of the implementation")
        self._tabs.tabBar().setDrawBase(False)
        self._tabs.tabBar().setFont(scaled_font(0.95))
        for page, title, tip in (
            (self._idea, "Idea", "What it does differently, and what it takes of the device"),
            (
                self._ladder,
                "Ladder",
                "The times as bars: measured in this session, or recorded on another GPU",
            ),
            (self._source, "Source", "All that is compiled or run"),
            (self._ptx_view, "PTX", "What becomes of it for the present settings: PTX and SASS"),
        ):
            self._tabs.setTabToolTip(self._tabs.addTab(page, title), tip)
        self._tabs.currentChanged.connect(self._refresh)
        for chooser in (self._idea, self._ladder):
            chooser.chosen.connect(self._look)
        self._ladder.measure_wanted.connect(self.measure_wanted)
        self._ladder.cancelled.connect(self.measure_cancelled)
        for view in (self._source, self._ptx_view):
            view.large_wanted.connect(self.large_wanted)
        layout = VBox(self, MARGINS)
        layout.add(self._names, (self._tabs, 1), (self._compare, 0, Qt.AlignmentFlag.AlignLeft))
        self.setFocusProxy(self._names)

    @property
    def ladder(self) -> LadderView:
        """Return the ladder's view, which has to be told how a measuring goes."""
        return self._ladder

    @property
    def shown(self) -> Implementation | None:
        """Return the implementation that is looked at; None before any is known."""
        return self._chosen()

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run, or None."""
        if availability != self._availability:
            self._availability = availability
            self._names.show_implementations([*availability])
        self._refresh()

    def show_state(self, state: State) -> None:
        """Show `state`, which the store holds by now."""
        if state.implementation != self._looked_past:
            self._looked_at = ""
        self._refresh()

    def show_device(self, _device: Device | NoDevice) -> None:
        """Show what changes with the device, which the worker holds by now."""
        self._refresh()

    def _take_recorded(self, recorded: RecordedTimes) -> None:
        self._recorded, self._is_reading = recorded, False
        self._refresh()

    def show_ran(self, result: Result) -> None:
        """Show what ran, as known with the first picture: time and check may take long."""
        job = result.job
        shown = ShownResult(
            WorkKey.of(job), result.implementation, job.block_xy, result.ran, result.picked
        )
        if shown != self._shown:
            self._shown = shown
            self._refresh()

    def show_result(self, result: Result) -> None:
        """Show the final result of a job, whose time is also on the ladder."""
        self.show_ran(result)
        self.show_times()

    def show_times(self) -> None:
        """Show that there is another time of this session."""
        self._refresh()

    def show_ptx(self, request: PtxRequest, made: RungCode | Exception) -> None:
        """Show the PTX and SASS that `ptx_wanted` asked for, or why it could not be compiled."""
        if request != self._ptx:
            return  # another one is wanted by now
        if isinstance(made, Exception):
            log = getattr(made, "log", "")
            self._ptx_view.show_sentence(f"{made}\n\n{log}".strip())
            return
        caption = f"{resources_in_words(made.compiled)} · {request.in_words}"
        texts = [
            SourceText("PTX", made.compiled.ptx, "ptx"),
            SourceText("SASS", made.sass, "assembly"),
        ]
        self._ptx_view.show_texts(texts, caption)

    def show_large(self, is_large: bool) -> None:
        """Show whether the panel has a window of its own."""
        for view in (self._source, self._ptx_view):
            view.show_large(is_large)

    def choices(self) -> dict[str, Any]:
        """Return what to remember until the next start, fit for JSON."""
        return {"tab": TABS[self._tabs.currentIndex()]}

    def restore(self, choices: Mapping[str, Any]) -> None:
        """Take over what `choices()` gave; the defaults replace what makes no sense."""
        tab = choices.get("tab")
        self._tabs.setCurrentIndex(TABS.index(tab) if tab in TABS else 0)

    def show_tab(self, name: str) -> None:
        """Bring the page `name`, one of TABS, to the front."""
        self._tabs.setCurrentIndex(TABS.index(name))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._refresh()

    # -- the page in front

    @Slot()
    def _refresh(self) -> None:
        chosen = self._chosen()
        if not self.isVisible() or chosen is None:
            return
        if isinstance(self._worker.device, NoDevice) and not self._asked_for_recorded:
            self._asked_for_recorded = self._is_reading = True
            none = partial(self._take_recorded, RecordedTimes())
            self._background.run(all_recorded_times, self._take_recorded, lambda _: none(), none)
        self._names.show_choice(chosen.key)
        self._compare.setVisible(TABS[self._tabs.currentIndex()] == "idea")
        match TABS[self._tabs.currentIndex()]:
            case "idea":
                self._show_idea(chosen)
            case "ladder":
                self._show_ladder(chosen)
            case "source":
                self._source.show_texts(sources(chosen))
            case "ptx":
                self._show_ptx_of(chosen)

    @Slot()
    def _compare_all(self) -> None:
        """Begin to measure all where they are compared, unless that is under way."""
        self.show_tab("ladder")
        if not self._ladder.is_measuring:
            self._ladder.toggle()

    def _chosen(self) -> Implementation | None:
        """Return the implementation that the state names, or that was picked for it."""
        key, shown = self._looked_at or self._store.state.implementation, self._shown
        known = {each.key: each for each, _ in self._availability}
        if key in known or not known:
            return known.get(key)
        first = next(iter(known.values()))
        return known.get(shown.implementation, first) if shown else first

    def _pick(self, chosen: Implementation) -> Pick | None:
        """Return the pick by which `auto` came to `chosen`; None where it did not."""
        picked = self._shown.picked if self._shown else None
        is_auto = self._store.state.implementation == AUTO.key and not self._looked_at
        return picked if is_auto and picked and picked.implementation == chosen.key else None

    def _look(self, key: str) -> None:
        """Show the implementation `key`, and choose it if it can run."""
        if dict_of(self._availability)[key] is None:
            self._looked_at = ""
            self.wanted.emit("implementation", key)
        else:
            self._looked_at, self._looked_past = key, self._store.state.implementation
        self._refresh()

    def _job(self) -> Job | None:
        try:
            return intents.job_for(self._store.state)
        except KernelError:
            return None  # the window says why

    def _show_idea(self, chosen: Implementation) -> None:
        known = [each for each, _ in self._availability]
        self._idea.show_implementation(chosen, known, dict_of(self._availability)[chosen.key])
        self._idea.show_pick(self._pick(chosen))
        job, shown = self._job(), self._shown
        is_of_this = (
            job is not None
            and shown is not None
            and shown.implementation == chosen.key
            and (shown.work, shown.block_xy) == (WorkKey.of(job), job.block_xy)
        )
        if job is None or shown is None or not is_of_this:
            self._idea.show_ran((), None, self._not_run(chosen, job))
            return
        operands = chosen.operands(job) if isinstance(chosen, Rung) else None
        self._idea.show_ran(shown.ran, operands)

    def _not_run(self, chosen: Implementation, job: Job | None) -> str:
        """Say why nothing ran, and what it took on the GPU that was recorded."""
        if not isinstance(chosen, Rung) or not isinstance(self._worker.device, NoDevice):
            return NOT_RUN
        known = self._recorded.of_work(job).get(chosen.key) if job else None
        if known is None:
            return f"{NEEDS_GPU} {NOT_RECORDED}"
        why = why_not_beside(self._store.state.cache)
        return "\n".join(filter(None, (f"{NEEDS_GPU} {known.in_words}", why)))

    def _show_ladder(self, chosen: Implementation) -> None:
        """Show all implementations: measured here, or recorded where there is no GPU."""
        state, job = self._store.state, self._job()
        if job is None or not isinstance(self._worker.device, NoDevice):
            places = ladder_places(self._availability, self._times, job, state.cache)
            self._ladder.show_places(places, chosen.key, KIND_TITLES, self._work(chosen.kind))
            return
        known, heading, words = self._recorded_for(job)
        places = ladder_places(self._without_gpu(job), self._times, job, state.cache, known)
        why = why_not_beside(state.cache) if known else ""
        caption = " ".join(filter(None, (self._work("cpu"), words, why)))
        self._ladder.show_places(places, chosen.key, {**KIND_TITLES, "cuda": heading}, caption)

    def _recorded_for(self, job: Job) -> tuple[Mapping[str, RecordedTime], str, str]:
        """Return what was recorded of `job`, its heading, and a sentence on it.

        Where nothing was, it is what was recorded of the job that is most like it, for the rungs
        that can do this one.
        """
        recorded = self._recorded
        nearest = recorded.nearest(job, self._store.state.filter)
        if nearest is None:
            return {}, KIND_TITLES["cuda"], READING if self._is_reading else ""
        if known := recorded.of_work(job):
            return known, HEADING, RECORDED.format(device=recorded.device)
        able = {
            each.key
            for each, _ in self._availability
            if isinstance(each, Rung) and not each.why_not_anywhere(job)
        }
        others = {k: each for k, each in recorded.of_recorded(nearest).items() if k in able}
        said = OTHER.format(device=recorded.device, job=nearest.in_words)
        return others, OTHER_HEADING, said

    def _work(self, kind: str) -> str:
        """Return what is measured, as a sentence; "" where there is no job."""
        keys = tuple(each.key for each, _ in self._availability if each.kind == kind)
        return f"With {held_fixed(plan_of(self._store.state, keys))}." if self._job() else ""

    def _without_gpu(self, job: Job) -> Availability:
        """Return the implementations, each rung with why it has no recorded time."""

        def why_none(each: Implementation, why: str | None) -> str | None:
            if not isinstance(each, Rung):
                return why
            no_time = NO_TIME_HERE if is_own(each.key) else NOT_RECORDED
            return each.why_not_anywhere(job) or no_time

        return [(each, why_none(each, why)) for each, why in self._availability]

    def _show_ptx_of(self, chosen: Implementation) -> None:
        reason = dict_of(self._availability)[chosen.key]
        job, device = self._job(), self._worker.device
        if not isinstance(chosen, Rung):
            self._say_no_ptx(ON_THE_CPU.format(title=chosen.title))
        elif is_own(chosen.key):
            self._say_no_ptx(OWN_PTX)
        elif job is None:
            self._say_no_ptx("Open a picture first: PTX is made for its channels and pixel type.")
        elif refusal := chosen.why_not_anywhere(job):
            self._say_no_ptx(refusal)
        elif isinstance(device, Device) and reason:
            self._say_no_ptx(reason)
        else:
            picked = self._pick(chosen)
            request = request_for(chosen, with_pick(job, picked) if picked else job, device)
            if request != self._ptx:
                self._ptx = request
                self._ptx_view.show_sentence(f"Compiling {chosen.title}…")
                self.ptx_wanted.emit(request)

    def _say_no_ptx(self, sentence: str) -> None:
        self._ptx = None
        self._ptx_view.show_sentence(sentence)


def dict_of(availability: Availability) -> dict[str, str | None]:
    """Return the reasons why implementations cannot run, or None, by key."""
    return {each.key: reason for each, reason in availability}
