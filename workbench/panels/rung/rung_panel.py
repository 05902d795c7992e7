"""Panel of the chosen implementation: idea, ladder, source, PTX, SASS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QTabWidget, QWidget

from kernels.core.device import Device, NoDevice
from kernels.core.job import Job, Pick, Ran, Result
from kernels.engine.auto import AUTO, with_pick
from kernels.engine.engine import Implementation
from kernels.rungs.cuda_text import LADDER
from kernels.rungs.headers import BEGIN, END
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung
from workbench.base.background import Background, Latest
from workbench.base.paths import asset_table
from workbench.model import intents
from workbench.model.cell_words import held_fixed
from workbench.model.plan_draft import plan_of
from workbench.model.rung_times import (
    RungTimes,
    Time,
    WorkKey,
    all_recorded_times,
    ladder_places,
    why_not_beside,
)
from workbench.model.state import State
from workbench.model.step_files import select
from workbench.panels.controls.tool_row import ImplementationBox
from workbench.panels.rung.list_page import ListPage
from workbench.panels.rung.rung_pages import IdeaPage, LadderView, escaped, resources, words_on
from workbench.session.kernel_code import (
    PtxRequest,
    RungCode,
    compile_request,
    request_for,
    resources_in_words,
)
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.boxes import VBox
from workbench.widgets.code_view import CodeView, Language, SourceText
from workbench.widgets.lazy_panel import MARGINS
from workbench.widgets.tile import scaled_font
from workbench.widgets.watch import Watch


def sources(implementation: Implementation) -> tuple[SourceText, ...]:
    """The texts of `implementation`: its own file, then headers."""
    if not isinstance(implementation, Rung | BrokenRung):
        return _module(implementation.key)
    names = ("prelude", *implementation.includes) if isinstance(implementation, Rung) else ()
    headers = tuple(f"{name}.cuh" for name in names)
    if isinstance(implementation, Rung) and is_own(implementation.key):
        text = implementation.source
        own = SourceText(implementation.file, text, "cuda", _first_line_of_code(text))
        return (own, *device_files(headers))
    return device_files((implementation.file, *headers))


@cache
def device_files(names: tuple[str, ...]) -> tuple[SourceText, ...]:
    """Files of the ladder's folder."""
    return tuple(_read(LADDER, name, "cuda") for name in names)


@cache
def _module(key: str) -> tuple[SourceText, ...]:
    return (_read(files("kernels.cpu"), f"{key}.py", "python"),)


def _read(folder: Any, name: str, language: Language) -> SourceText:
    text = (folder / name).read_text(encoding="utf-8", errors="replace")
    return SourceText(name, text, language, _first_line_of_code(text))


def _first_line_of_code(text: str) -> int:
    if not text.startswith(BEGIN):
        return 0
    header, _, code = text.partition(END)
    return header.count("\n") + len(code) - len(code.lstrip("\n"))


Availability = list[tuple[Implementation, str | None]]
TIPS = asset_table("tips.toml")["implementation"]
TABS = tuple(map(str.lower, TIPS["tabs"]))
NEEDS_GPU = "Needs an NVIDIA GPU."
NOT_RECORDED = "What it takes for this job was not recorded."
RECORDED = "CUDA: recorded on an {where}, the same work on another picture."
OTHER = "CUDA: recorded on an {device}, L2 cold, for another job: {job}, border clamp."
OWN_PTX = "PTX and SASS of a kernel of your own stand beside its lines in the panel Kernel."
NO_TIME_HERE = "It runs on the CPU runtime here, where a kernel has no time."
ON_THE_CPU = "{title} runs on the CPU, so there is no PTX: that is the GPU's intermediate code."


class ShownResult(NamedTuple):
    """The result on the screen without its pictures, which take memory."""

    work: WorkKey
    implementation: str
    block_xy: tuple[int, int]
    ran: tuple[Ran, ...]
    picked: Pick | None


class RungPane(QWidget):
    """The panel about the chosen implementation, refreshed while it is visible.

    ladder  the page with all times
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        times: RungTimes,
        background: Background,
        compiling: Background,
    ) -> None:
        """Make the panel.

        times       of this session; call `refresh` after each change
        background  reads the times that come with the program
        compiling   compiles rungs, which has no part in what runs, and needs no GPU
        """
        super().__init__()
        self.setObjectName("rung-pane")
        self._store, self._worker, self._background = store, worker, background
        self._compiler: Latest[PtxRequest] = Latest(
            *(compiling, compile_request, self._show_compiled, self._show_compiled)
        )
        self._recorded: RungTimes | None = None  # read once there is no GPU
        self._is_reading = False
        self._availability: Availability = []
        self._reasons: dict[str, str | None] = {}  # by key
        self._times = times
        self._shown: ShownResult | None = None
        self._ptx: PtxRequest | None = None
        # One that cannot run here but is shown; "": the state's implementation is.
        self._looked_at = self._looked_past = ""
        self._names = ImplementationBox("rung-shown", "Implementation to look at", offers_all=True)
        self._names.setToolTip("What to look at; if it can run here, it is chosen as well")
        self._names.activated.connect(lambda _: self._look_at(self._names.currentData()))
        self._idea = IdeaPage()
        self.ladder = LadderView()
        self._source = CodeView("rung-source", "Source", TIPS["source"])
        self._ptx_view = CodeView("rung-ptx", "PTX", TIPS["ptx"])
        self._tabs = QTabWidget(documentMode=True)
        self._tabs.setObjectName("rung-tabs")
        bar = self._tabs.tabBar()
        bar.setAccessibleName("What to see of the implementation")
        bar.setDrawBase(False)
        bar.setFont(scaled_font(0.95))
        self.list_page = ListPage(worker, background)
        self.paint, self.point_at = self.list_page.paint, self.list_page.point_at
        pages = (self._idea, self.ladder, self._source, self._ptx_view, self.list_page)
        for page, (title, tip) in zip(pages, TIPS["tabs"].items(), strict=True):
            self._tabs.setTabToolTip(self._tabs.addTab(page, title), tip)
        self._tabs.currentChanged.connect(lambda _: self.refresh())
        self._idea.chosen.connect(self._look_at)
        self.ladder.chart.picked.connect(self._look_at)
        VBox(self, MARGINS).add(self._names, (self._tabs, 1))
        self.setFocusProxy(self._names)
        Watch(self, QEvent.Type.Show).seen.connect(self.refresh)

    @property
    def shown(self) -> Implementation | None:
        """The implementation shown: that of the state, or Auto's pick; None while none is known."""
        key, ran = self._looked_at or self._store.state.implementation, self._shown
        known = {each.key: each for each, _ in self._availability}
        if key in known or not known:
            return known.get(key)
        first = next(iter(known.values()))
        return known.get(ran.implementation, first) if ran else first

    def show_implementations(self, availability: Availability) -> None:
        """Offer these implementations, each with the reason it cannot run, or None."""
        if availability != self._availability:
            self._availability = availability
            self._reasons = {each.key: reason for each, reason in availability}
            self._names.show_implementations([*availability])
        self.refresh()

    def show_state(self, state: State) -> None:
        if state.implementation != self._looked_past:
            self._looked_at = ""
        self.refresh()

    def show_ran(self, result: Result) -> None:
        """Show the launches, which are known with the first picture, before time and check."""
        job = result.job
        shown = ShownResult(
            WorkKey.of(job), result.implementation, job.block_xy, result.ran, result.picked
        )
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def show_result(self, result: Result) -> None:
        """Show the final result of a job, whose time is also on the ladder."""
        self.show_ran(result)
        self.refresh()

    def _show_compiled(self, request: PtxRequest, made: RungCode | Exception | None) -> None:
        if request != self._ptx or made is None:
            return  # it is outdated, or ended with a bug
        if isinstance(made, Exception):
            log = getattr(made, "log", "")
            self._ptx_view.show_sentence(f"{made}\n\n{log}".strip())
            return
        caption = f"{resources_in_words(made.compiled)} · {request.in_words}"
        ptx, sass = made.compiled.ptx, made.sass
        texts = [SourceText("PTX", ptx, "assembly"), SourceText("SASS", sass, "assembly")]
        self._ptx_view.show_texts(texts, caption)

    def choices(self) -> dict[str, Any]:
        return {"tab": TABS[self._tabs.currentIndex()]}

    def restore(self, choices: Mapping[str, Any]) -> None:
        tab = choices.get("tab")
        self._tabs.setCurrentIndex(TABS.index(tab) if tab in TABS else 0)

    def show_tab(self, name: str) -> None:
        """Bring the page `name`, one of TABS, to the front."""
        self._tabs.setCurrentIndex(TABS.index(name))

    # -- the page in front

    def refresh(self) -> None:
        chosen = self.shown
        if not self.isVisible() or chosen is None:
            return
        if isinstance(self._worker.device, NoDevice) and self._recorded is None:
            self._read_recorded()
        self._names.show_choice(chosen.key)
        match TABS[self._tabs.currentIndex()]:
            case "idea":
                self._show_idea(chosen)
            case "ladder":
                self._show_ladder(chosen)
            case "source":
                self._source.show_texts(sources(chosen))
            case "ptx":
                self._show_ptx_of(chosen)
            case "list":
                whole = replace(self._store.state, **select(self._store.state.steps, -1))
                of_all = partial(intents.job_for, is_newest=False)
                self.list_page.show_job(self._job(lambda _: of_all(whole)))

    def _read_recorded(self) -> None:
        self._recorded, self._is_reading = RungTimes(), True

        def show(recorded: RungTimes) -> None:
            self._recorded, self._is_reading = recorded, False
            self.refresh()

        none = partial(show, RungTimes())
        self._background.run(all_recorded_times, show, lambda _: none(), none)

    def _pick(self, chosen: Implementation) -> Pick | None:
        picked = self._shown.picked if self._shown else None
        is_auto = self._store.state.implementation == AUTO.key and not self._looked_at
        return picked if is_auto and picked and picked.implementation == chosen.key else None

    def _look_at(self, key: str) -> None:
        if self._reasons[key] is None:
            self._looked_at = ""
            self._store.choose(implementation=key)
        else:
            self._looked_at, self._looked_past = key, self._store.state.implementation
        self.refresh()

    def _job(self, make: Callable[[State], Job | None] = intents.like_step_job) -> Job | None:
        return intents.or_none(make, self._store.state)

    def _show_idea(self, chosen: Implementation) -> None:
        job, shown, refusal = self._job(), self._shown, self._reasons[chosen.key]
        of = (chosen.key, WorkKey.of(job), job.block_xy) if job else None
        if job and shown and (shown.implementation, shown.work, shown.block_xy) == of:
            operands = chosen.operands(job) if isinstance(chosen, Rung) else None
            taken = resources(shown.ran, operands)
        else:
            taken = escaped(self._not_run(chosen, job))
        known = [each for each, _ in self._availability]
        now = [f"✗ {escaped(refusal)}" if refusal else "", taken]
        words = words_on(chosen, known, self._pick(chosen), now)
        self._idea.show_page(chosen.key, f"## {escaped(chosen.title)}\n\n{words}")

    def _not_run(self, chosen: Implementation, job: Job | None) -> str:
        if not isinstance(chosen, Rung) or not isinstance(self._worker.device, NoDevice):
            return "Not measured yet with these settings."
        known = self._recorded.of_work(job).get(chosen.key) if job and self._recorded else None
        if known is None:
            return f"{NEEDS_GPU} {NOT_RECORDED}"
        why = why_not_beside(self._store.state.cache)
        return "\n".join(filter(None, (f"{NEEDS_GPU} {known.in_words}", why)))

    def _show_ladder(self, chosen: Implementation) -> None:
        """Show all implementations: measured here, or recorded where there is no GPU."""
        state, job = self._store.state, self._job()
        if job is None or not isinstance(self._worker.device, NoDevice):
            places = ladder_places(self._availability, self._times, job, state.cache)
            self.ladder.show_places(places, chosen.key, self._work(chosen.kind))
            return
        known, words = self._recorded_for(job)
        places = ladder_places(self._without_gpu(job), self._times, job, state.cache, known)
        why = why_not_beside(state.cache) if known else ""
        caption = " ".join(filter(None, (self._work("cpu"), words, why)))
        self.ladder.show_places(places, chosen.key, caption)

    def _recorded_for(self, job: Job) -> tuple[Mapping[str, Time], str]:
        """Times recorded for `job`, or for the job nearest to it; and a sentence.

        Of the nearest job only the rungs are listed that can run this one; no sentence if none.
        """
        recorded = self._recorded or RungTimes()
        nearest, times = recorded.of_nearest(job, self._store.state.filter)
        if not nearest:
            return {}, "Reading the times that were recorded on a GPU …" if self._is_reading else ""
        if known := recorded.of_work(job):
            return known, RECORDED.format(where=next(iter(known.values())).where)
        able = {
            each.key
            for each, _ in self._availability
            if isinstance(each, Rung) and not each.why_not_anywhere(job)
        }
        others = {k: each for k, each in times.items() if k in able}
        said = OTHER.format(device=recorded.device, job=nearest)
        return others, said if others else ""

    def _work(self, kind: str) -> str:
        if not self._job():
            return ""
        every = [each for each, _ in self._availability if each.kind == kind]
        keys = tuple(each.key for each in every if not is_own(each.key))
        return f"With {held_fixed(plan_of(self._store.state, keys).cells())}."

    def _without_gpu(self, job: Job) -> Availability:
        """All implementations, each rung with why it has no recorded time."""

        def why_none(each: Implementation, why: str | None) -> str | None:
            if not isinstance(each, Rung):
                return why
            no_time = NO_TIME_HERE if is_own(each.key) else NOT_RECORDED
            return each.why_not_anywhere(job) or no_time

        return [(each, why_none(each, why)) for each, why in self._availability]

    def _show_ptx_of(self, chosen: Implementation) -> None:
        reason = self._reasons[chosen.key]
        job, device = self._job(), self._worker.device
        if not isinstance(chosen, Rung):
            self._show_no_ptx(ON_THE_CPU.format(title=chosen.title))
        elif is_own(chosen.key):
            self._show_no_ptx(OWN_PTX)
        elif job is None:
            self._show_no_ptx("Open a picture first: PTX is made for its channels and pixel type.")
        elif refusal := chosen.why_not_anywhere(job):
            self._show_no_ptx(refusal)
        elif isinstance(device, Device) and reason:
            self._show_no_ptx(reason)
        else:
            picked = self._pick(chosen)
            request = request_for(chosen, with_pick(job, picked) if picked else job, device)
            if request != self._ptx:
                self._ptx = request
                self._ptx_view.show_sentence(f"Compiling {chosen.title}…")
                self._compiler.request(request)

    def _show_no_ptx(self, sentence: str) -> None:
        self._ptx = None
        self._ptx_view.show_sentence(sentence)
