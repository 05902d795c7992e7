"""Live filtering: every change of the state becomes a job, every answer something to show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from kernels.core.errors import CompileFailedError, KernelError, OutOfMemoryError
from kernels.core.job import Job, Result, Sampling
from kernels.core.step import OUTPUT
from kernels.cpu.opencv import preview, takes_long
from kernels.rungs.own_kernels import text_hash
from workbench.base.background import Background, Latest, Throttle
from workbench.imaging.display import Display, show
from workbench.imaging.display_mapping import DisplayMapping, known_unclipped, unclipped
from workbench.imaging.pictures import Picture
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.session.store import Store
from workbench.session.worker import Worker

CUT_OFF_INSTEAD = (
    "Or choose uint8 or uint16 as pixel type, and Clip for negative values: that takes less."
)
REST_MS = 200  # for so long nothing changes before what takes long begins
MOVING_S = 1.0  # a change so soon after another is one of many, as of a dragged slider
NO_ANSWER = "There is no result of the present settings yet."
LONG_MS = 250  # what took less is shown as it is
Wanted = tuple[Job, DisplayMapping, Job]  # the job, how it is shown, and what a preview is made of


class Live(QObject):
    """A link between the store and the worker, which lives on the GUI thread.

    Attributes:
        result: the newest Result, of whatever job; None before the first.
        shown: its Display; look: how that was made.
        newest: the same, or one for which there is no Display yet.
        refusal: sentence and details of why the present settings were rejected; then these are of
            others; None: they were not.
        previews: the thread that makes them.

    Signals:
        before_ready(picture, display): the picture, fit for the screen.
        computed(): there is another `newest`.
        preview_ready(job, display): about what will become of it, which takes long to compute.
        after_ready(result, display): what became of it; again when more is known.
        baseline_ready(result): the CPU's Result for the same work; None while there is none.
        settled(result): the last word; it and the picture are shown, and nothing is under way.
        timed_again(result): `settled` came with a single run; now there are several.
        refused(sentence, details): why there is no new result; the old one stays.
        recovered(): after that, there is one for the newest request.
    """

    before_ready = Signal(object, object)
    computed = Signal()
    preview_ready = Signal(object, object)
    after_ready = Signal(object, object)
    baseline_ready = Signal(object)
    settled = Signal(object)
    timed_again = Signal(object)
    refused = Signal(str, str)
    recovered = Signal()

    def __init__(
        self, store: Store, worker: Worker, background: Background, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.result: Result | None = None
        self.newest: Result | None = None
        self._store = store
        self._worker = worker
        self._background = background
        self.shown: Display | None = None
        self.look = DisplayMapping()
        self._baseline: Result | None = None
        self._before_shown: Picture | None = None
        self._widening: Picture | None = None  # being stored as float32
        self._asked: Job | None = None  # the newest request; None: it was refused
        self.refusal: tuple[str, str] | None = None
        self._last_word: Result | None = None  # settled, but the picture is not yet shown
        self.previews = Background((), self)

        def make(wanted: Wanted) -> Display | None:
            made = preview(wanted[2])
            return None if made is None else show(made, wanted[1])

        # Without room for a preview there is none; the job itself says if there is room for it.
        take = self._take_preview
        self._latest: Latest[Wanted] = Latest(
            self.previews, make, take, lambda wanted, _: take(wanted, None)
        )
        self._preview: tuple[Job, Display] | None = None
        self._choices: WeakKeyDictionary[Job, dict[str, Any]] = WeakKeyDictionary()
        self._took_ms: dict[tuple[object, ...], float] = {}  # by kind of job, of this picture
        self._asked_at, self._is_moving = -MOVING_S, False
        self._rest = Throttle(REST_MS, self._request, self)
        store.changed.connect(self._follow)
        worker.computed.connect(self._announce)
        worker.filtered.connect(self._show)
        worker.settled.connect(self._settle)
        worker.failed.connect(self._refuse)
        worker.baseline.stepped.connect(self._take_baseline)
        worker.again.stepped.connect(self._take_again)

    @property
    def of_view(self) -> tuple[Picture, Result, Display] | None:
        """The picture in view, its newest result and Display; None without a result."""
        picture = self._store.state.picture
        if picture is None or self.result is None or self.shown is None:
            return None
        is_of_it = intents.is_of(self.result.job, picture)
        return (picture, self.result, self.shown) if is_of_it else None

    @property
    def answer(self) -> tuple[Picture, Result, Display] | str:
        """`of_view`, if it is of the present settings; else why there is nothing to keep."""
        if self.refusal is not None:
            return f"There is no result of the present settings: {self.refusal[0]}"
        found = self.of_view
        return found if found and intents.is_answer(found[1], self._store.state) else NO_ANSWER

    def choices_of(self, result: Result) -> dict[str, Any]:
        data = self._choices.get(result.job, {})
        return {**data, choices.TEXT: text_hash(result.job.own)} if result.job.own else data

    def run_again(self) -> None:
        """Filter once more, with the present choices."""
        state = self._store.state
        self._asked = self._last_word = self._preview = None
        self._rest.stop()
        self._latest.waiting = None
        self._is_moving = monotonic() - self._asked_at < MOVING_S
        self._asked_at = monotonic()
        job = None
        if not self._waits_for_unclipped(state):
            try:
                job = intents.job_for(state)
            except KernelError as error:
                self._refuse(error)
        if job is None:
            self._worker.expect(False)
            return
        self._asked = replace(job)  # each run has its own Job, which its results refer to
        self._choices[self._asked] = choices.to_data(state)
        if self._takes_long(job):
            self._worker.expect(True)
            # Of a list what its last step will give, where the steps before are known.
            is_last = job.runs[-1].blend == OUTPUT and job.opaque is None
            last = intents.step_job(state, self.result) if is_last else None
            self._latest.request((self._asked, intents.look_for(state), last or job))
        else:
            self._request()

    def _takes_long(self, job: Job) -> bool:
        known = 0 if job.is_one_launch else intents.runs_known(job, self.result)
        left = [job.part(run, job.picture) for run in job.runs[known:]]
        took_ms = [self._took_ms.get(_kind(each)) for each in left]
        known_ms = [each for each in took_ms if each is not None]
        is_known = len(known_ms) == len(left)
        return sum(known_ms) > LONG_MS if is_known else any(map(takes_long, left))

    def _request(self) -> None:
        if self._asked is not None:
            state = self._store.state
            self._worker.request(self._asked, intents.look_for(state), Sampling(cache=state.cache))

    def _take_preview(self, wanted: Wanted, display: Display | None) -> None:
        """Show a preview, also of an earlier request; filter the last one's job after a rest."""
        (job, look, _), state = wanted, self._store.state
        is_answered = self.result is not None and self.result.job is self._asked
        is_wanted = not is_answered and intents.is_of(job, state.picture)
        if display is not None and is_wanted and look == intents.look_for(state):
            self._preview = job, display
            self._emit_preview()
        if job is self._asked:
            self._rest.start(REST_MS if self._is_moving else 0)

    def _waits_for_unclipped(self, state: State) -> bool:
        """Return True if the picture has to be stored as float32 first, and begin that."""
        picture = state.picture
        if picture is None or not intents.is_unclipped(state):
            return False
        if known_unclipped(picture.samples) is not None:
            return False
        if self._widening is picture:
            return True
        self._widening = picture

        def end(error: Exception | None = None, *, is_bug: bool = False) -> None:
            """Filter the float32 picture, if it is still wanted, or say why there is none."""
            now = self._store.state
            if self._widening is picture:
                self._widening = None  # so that the next request tries once more
            if is_bug or now.picture is not picture or not intents.is_unclipped(now):
                return
            if error is None:
                self.run_again()
            else:
                self._refuse(OutOfMemoryError(f"{error} {CUT_OFF_INSTEAD}"))

        self._background.run(
            *(lambda: unclipped(picture.samples), lambda _: end(), end),
            on_bug=lambda: end(is_bug=True),
        )
        return True

    def baseline_of(self, result: Result) -> Result | None:
        """The baseline's Result for the same work, which may be `result`; None while unknown."""
        state = self._store.state
        found = (result, self._baseline)
        return next((b for b in found if intents.is_baseline_of(b, result.job, state)), None)

    def _follow(self, old: State, new: State) -> None:
        if new.picture is not old.picture:
            self._took_ms.clear()
        if new.picture is not old.picture or intents.look_before(new) != intents.look_before(old):
            self._show_before(new)
        if intents.needs_run(old, new):
            self.run_again()
        elif intents.look_for(new) != intents.look_for(old):
            self._show_after_again(new)
        if new.baseline != old.baseline and self.result is not None:
            self.baseline_ready.emit(self.baseline_of(self.result))
            self._compare(self.result)

    def _show_before(self, state: State) -> None:
        picture = state.picture
        if picture is None:
            return

        def show_it(display: Display) -> None:
            self._before_shown = picture
            self.before_ready.emit(picture, display)
            self._emit_after()  # a quick filter may be done before
            self._emit_preview()
            self._emit_settled()

        self._ask_display(picture.samples, intents.look_before(state), show_it, intents.look_before)

    def _show_after_again(self, state: State) -> None:
        if self.result is None:
            return
        job, look = self.result.job, intents.look_for(state)

        def show_it(display: Display) -> None:
            if self.result is not None and self.result.job is job:
                self.shown, self.look = display, look
                self._emit_after()

        self._ask_display(self.result.picture, look, show_it, intents.look_for)

    def _ask_display(
        self,
        samples: NDArray[Any],
        look: DisplayMapping,
        show_it: Callable[[Display], None],
        look_of: Callable[[State], DisplayMapping],
    ) -> None:
        picture = self._store.state.picture

        def take(display: Display) -> None:
            now = self._store.state
            if now.picture is picture and look_of(now) == look:
                show_it(display)

        def fail(error: Exception) -> None:
            self.refused.emit(str(error), "")

        self._background.run(lambda: show(samples, look), take, fail)

    def _announce(self, result: Result) -> None:
        if not intents.is_of(result.job, self._store.state.picture):
            return
        self.newest = result
        if intents.is_of(result.job, self._before_shown):  # else another picture is still shown
            self.computed.emit()

    def _show(self, result: Result, display: Display, look: DisplayMapping) -> None:
        state = self._store.state
        if not intents.is_of(result.job, state.picture):
            return
        self._preview = None
        for each in result.steps or (result,):
            if each.kernel is not None:
                self._took_ms[_kind(each.job)] = each.kernel.median_ms
        # The same job may already have a display with a newer look.
        is_new = self.result is None or self.result.job is not result.job
        self.result = self.newest = result
        if is_new:
            self.shown, self.look = display, look
        is_recovered = self.refusal and result.job is self._asked
        self.refusal = None if is_recovered else self.refusal
        self._emit_after()
        if is_new and look != intents.look_for(state):
            self._show_after_again(state)
        self.baseline_ready.emit(self.baseline_of(result))
        if is_recovered:
            self.recovered.emit()

    def _emit_preview(self) -> None:
        if self._preview is not None and intents.is_of(self._preview[0], self._before_shown):
            self.preview_ready.emit(*self._preview)

    def _emit_after(self) -> None:
        picture = self._before_shown
        if (
            self._preview is None
            and self.result is not None
            and intents.is_of(self.result.job, picture)
        ):
            self.after_ready.emit(self.result, self.shown)

    def _settle(self, result: Result) -> None:
        if intents.is_of(result.job, self._store.state.picture):
            self._compare(result)
            self._time_again(result)
            self._last_word = result
            self._emit_settled()

    def _emit_settled(self) -> None:
        result = self._last_word
        if result is not None and intents.is_of(result.job, self._before_shown):
            self._last_word = None
            self.settled.emit(result)

    def _compare(self, result: Result) -> None:
        """Time the baseline, unless its time is known or `result` is the baseline itself."""
        if self.baseline_of(result) is None:
            self._worker.request_baseline(intents.baseline_for(result.job, self._store.state))

    def _time_again(self, result: Result) -> None:
        kernel = result.kernel
        if kernel is not None and kernel.is_single and result.strips == 1:
            self._worker.request_again(result.job, kernel.cache or "cold")

    def _take_again(self, again: object) -> None:
        """Put a repeated timing in place of the single run, but keep transfer and compile times."""
        first = self.result
        if not isinstance(again, Result):
            return
        if self._baseline is not None and again.job is self._baseline.job:
            self._keep_baseline(again)
        if first is None or again.job is not first.job:
            return
        result = replace(
            again,
            compile_ms=first.compile_ms,
            upload_ms=first.upload_ms,
            download_ms=first.download_ms,
        )
        if self.newest is first:
            self.newest = result
        self.result = result
        self._emit_after()
        self.baseline_ready.emit(self.baseline_of(result))
        self.timed_again.emit(result)

    def _take_baseline(self, baseline: object) -> None:
        if isinstance(baseline, Result):
            self._keep_baseline(baseline)
            self._time_again(baseline)

    def _keep_baseline(self, baseline: Result) -> None:
        # Its output may be a gigabyte.
        self._baseline = replace(baseline, picture=baseline.job.picture)
        if self.result is not None:
            self.baseline_ready.emit(self.baseline_of(self.result))

    def _refuse(self, error: KernelError) -> None:
        details = error.log if isinstance(error, CompileFailedError) else ""
        if self.newest is not self.result:  # it cannot be shown
            self.newest = self.result
            self.computed.emit()
        self._preview = None
        self.refusal = str(error), details
        self.refused.emit(*self.refusal)


def _kind(job: Job) -> tuple[object, ...]:
    return job.implementation, job.title, job.ksize, job.border, job.pixel_type
