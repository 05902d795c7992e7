"""The link between a kernel's text and its trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from kernels.core.device import Device
from kernels.core.errors import KernelError
from kernels.core.job import Job, Progress, Result
from kernels.cuda_child.worker_pool import Held
from kernels.cuda_on_cpu import confinement
from kernels.cuda_on_cpu.findings import Built, KernelTrial
from kernels.cuda_on_cpu.trial import BugSearch
from workbench.base.background import Throttle
from workbench.model import intents
from workbench.model.rung_times import RungTimes
from workbench.panels.kernel import trial_words
from workbench.panels.kernel.code_editor import CodeEditor, Kind, Mark
from workbench.panels.kernel.trial_view import Findings, TrialView
from workbench.panels.kernel.trial_words import no_bug_words, searched_words, verdict_words
from workbench.session.kernel_file import KernelFile
from workbench.session.kernel_trial import (
    Followed,
    KernelText,
    Pixel,
    Refused,
    Searched,
    Step,
    Steps,
    Tried,
    end_children,
    following,
    searching,
    trying,
)
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread, Scheduler
from workbench.session.worker import PICTURE

PAUSE_MS = 500  # in typing, after which what stands there is tried
NAME = "kernel"  # of all that is done with it: the newer takes the other's place
NO_PICTURE = "Open a picture: the kernel is tried on it."
WAITING = "The kernel is tried once the steps before are done."
TRYING, SEARCHING = "Trying it on the CPU…", "Searching for the bug…"
FOLLOWING = "Recording the steps of a block…"
BEFORE = "What is shown below is of the last text that ran, which stays in use."
STOPPED = "Stopped."
HELD = "Not run yet: the file comes from elsewhere."


class Trying(QObject):
    """A service that tries the newest text, and cancels the trial of an older one.

    found   everything that is shown of the trial
    tried   the last trial; None: there was none yet
    device  texts are tried on this GPU from now on; None: on the CPU
    newest  the window's newest result: of a list it knows what the selected step is given
    """

    # (text): this KernelText is tried from now on; None: another file begins.
    asked_for = Signal(object)
    began = Signal()  # from now on no steps are recorded
    followed = Signal(object)  # (steps): a block's steps are recorded: a Followed
    # (sentence): the text runs on the CPU only unconfined, if the user allows that.
    unconfined = Signal(str)

    def __init__(
        self,
        store: Store,
        times: RungTimes,
        trials: Scheduler,
        file: KernelFile,
        editor: CodeEditor,
        view: TrialView,
        parent: QObject,
    ) -> None:
        """Begin to follow `file`; `editor` gets the marks, and `view` everything else."""
        super().__init__(parent)
        self._store, self._file, self._editor, self._view = store, file, editor, view
        self._times, self._trials, self._thread = times, trials, AnalysisThread(self)
        self._at: Pixel | None = None
        self._pass: int | None = None
        self.device: Device | None = None
        self._children_of: Device | None = None  # that texts were tried on
        self._built: tuple[KernelText, Built] | None = None  # the last build, and that of
        self._saved: tuple[KernelText, Built] | None = None  # the last save
        self.found = Findings()
        self.tried: KernelTrial | None = None
        self.newest: Result | None = None
        self._asked: KernelText | None = None
        self._answered: KernelText | None = None  # the text of the output in view
        self._doing: KernelText | None = None  # the text under way, or the last one
        self._done: KernelText | None = None  # the text whose trial is over
        self._is_held = self._is_trial = False
        self._remark = ""  # shown at the end of what is under way
        self._pause = Throttle(PAUSE_MS, self._try, self)
        editor.textChanged.connect(self._pause.start)
        file.began.connect(self._begin_another)
        for signal in (file.arrived, file.saving, file.saved):
            signal.connect(self._try)
        file.saved.connect(self._note_saved)
        view.cancel.clicked.connect(lambda: self._cancel(STOPPED))

    @property
    def is_settled(self) -> bool:
        """True while nothing is under way and nothing waits."""
        return not self.found.is_busy and not self._pause.isActive()

    @property
    def verdict(self) -> tuple[str, Job | None]:
        """The verdict of the present text in words, and the job that it was tried on."""
        found = self.found
        if self._done is None or self._done.text != self._file.text:
            return "It was not tried.", None
        if found.is_old or not found.verdict:
            return f"✗ It does not run. {found.problem or found.status}", self._done.job
        return f"{found.problem} {found.verdict}".strip(), self._done.job

    def follow(self) -> None:
        """Try the text on the store's picture and job, if either is another.

        A text that the user stopped, or searched for its bug, stays so.
        """
        if not _is_same(self._wanted(), self._doing):
            self._pause.start()

    def hold(self, is_held: bool) -> None:
        """Try nothing from now on, or the next text: on the CPU a kernel may do anything."""
        self._is_held = is_held
        if is_held:
            self._cancel(HELD)

    def release(self) -> None:
        """Try the present text, and those after it."""
        self._is_held, self._asked = False, None
        self._try()

    def look_at(self, pixel: Pixel) -> None:
        """Try the text around this pixel (x, y) from now on."""
        self._at = pixel
        self._try()

    def find_bug(self) -> None:
        if asked := self._wanted():
            self._interrupt()
            self.began.emit()
            self._begin(SEARCHING, asked, searching)

    def step_through(self, pixel: Pixel | None = None, number: int | None = None) -> None:
        """Begin to walk through a block of the text.

        pixel   (x, y) that the block stores; None: as before
        number  of the pass; None: with a pixel as before, else the last
        """
        self._at, self._pass = pixel or self._at, self._pass if pixel else number
        if asked := self._wanted():
            self._interrupt()
            self._begin(FOLLOWING, asked, partial(following, number=self._pass))

    def _interrupt(self) -> None:
        self._pause.stop()
        if self.found.is_busy:
            self._asked = None  # it is tried again

    def close(self) -> None:
        """Cancel the work, and wait for the thread to end."""
        self._pause.stop()
        self._stop()
        self._thread.close()
        if self._children_of is not None:
            end_children(self._children_of)

    def _begin_another(self) -> None:
        """Show nothing of the kernel before, and try this one, even if it is the same text."""
        self._answered = self._asked = self._done = self._built = self._saved = None
        self.found = Findings(self.found.status, self.found.is_busy)
        self._show(marks=[])
        self.asked_for.emit(None)
        self._try()

    def _try(self) -> None:
        self._pause.stop()
        asked, good = self._wanted(), self._answered
        if asked is None or _is_same(asked, self._asked):
            return
        self._asked = asked
        self.asked_for.emit(asked)
        if good is not None and not _same_work(asked, good):
            asked = replace(asked, good=good.text)
        self.began.emit()
        self._children_of = asked.device or self._children_of
        if asked.device is None:
            self._show(build=(), held=())
        self._begin(TRYING if asked.device is None else "Trying it on the GPU…", asked, trying)

    def _begin(
        self, sentence: str, asked: KernelText, steps: Callable[[KernelText], Steps]
    ) -> None:
        self._doing, self._remark, self._is_trial = asked, "", steps is trying
        self._show(status=sentence, is_busy=True)
        if self._is_trial:  # what was found is of the text before
            self._done = None
            self._show([], problem="", line=0, is_old=bool(self.found.verdict))
        self._stop()
        on_gpu = asked.device is not None and steps in (trying, searching)
        queue = self._trials if on_gpu else self._thread
        queue.ask(
            *(NAME, lambda: steps(asked), self._take, self._keep_remark, PICTURE),
            on_end=self._end,
            purpose="a trial of a user kernel",
        )

    def _stop(self) -> None:
        for queue in (self._thread, self._trials):
            queue.cancel(NAME)

    def _cancel(self, why: str) -> None:
        self._stop()
        self._asked = None
        self._show(status=why, is_busy=False)

    def _wanted(self) -> KernelText | None:
        """The text and the job to try; None, with the reason shown, without them."""
        if not self._file.name and not self._is_held:  # no kernel is worked on yet
            return None
        state = self._store.state
        why_not = HELD if self._is_held else WAITING if state.picture else NO_PICTURE
        try:
            job = None if self._is_held else intents.step_job(state, self.newest)
        except KernelError as error:
            job, why_not = None, str(error)
        if job is None:
            self._show(status=why_not, is_busy=False)
            return None
        looks = intents.look_before(state), intents.look_for(state)
        return KernelText(*(self._file.name, self._file.text, job, self._at, *looks, self.device))

    def _show(self, marks: list[Mark] | None = None, **changes: Any) -> None:
        """Show changed fields of `found`; marks: in place of those in the editor."""
        self.found = replace(self.found, **changes)
        self._view.show_findings(self.found)
        if marks is not None:
            self._editor.show_marks(marks)

    def _take(self, step: Step) -> None:
        match step:
            case Progress():
                self._show(status=f"{step.doing[:1].upper()}{step.doing[1:]}…")
            case Refused():
                if step.sentence == confinement.why_not():
                    self.unconfined.emit(step.sentence)
                if step.is_of_job:
                    self._show(verdict="", is_old=False)  # that was of another filter, too
                if step.is_of_job or (step.is_ours and not self._is_trial):
                    self._remark = step.sentence  # it says nothing about the text
                else:
                    self._refuse(step.sentence, step.line)
            case Tried():
                self._show_trial(step)
            case Searched():
                self._show_search(step)
            case Followed(stepped=found) if found.steps is not None:
                self.followed.emit(step)
            case Followed(stepped=found):
                self._point_out(found.problem, found.line)
                self.began.emit()
            case Held():
                self._show(held=tuple(trial_words.held_rows(step)))

    def _keep_remark(self, sentence: str) -> None:
        self._remark = sentence

    def _end(self, is_complete: bool) -> None:
        if self._is_trial and is_complete:
            self._done = self._doing
        self._show(status=self._remark, is_busy=False)

    @property
    def _now(self) -> KernelText:
        assert self._doing is not None
        return self._doing

    def _point_out(
        self, sentence: str, line: int | None, kind: Kind = "bug", **changes: Any
    ) -> None:
        marks = [Mark(line, 0, sentence, kind)] if line else []
        self._show(marks, problem=sentence, line=line or 0, **changes)

    def _refuse(self, sentence: str, line: int | None) -> None:
        has_answer = self._answered is not None
        self._remark = BEFORE if has_answer else ""
        self._point_out(sentence, line, "error", is_old=has_answer)

    def _show_trial(self, step: Tried) -> None:
        if step.is_good:
            self._show_answer(step)
            return
        self.tried = tried = step.trial
        problem, line = tried.problem, tried.line
        self._show_build(step)
        if step.after is None:
            if not problem:  # it compiles, and now it runs
                return
            self._refuse(problem, line)
        else:
            where = ""
            if bug := step.finding:
                problem, line, where = bug.sentence, bug.line, searched_words(bug)
            self._remark = " ".join(filter(None, (where, tried.printed.strip())))
            self._show(problem=problem, line=line or 0)
            self._show_answer(step)
        marks = [
            Mark(each.line, each.column, each.text)
            for each in tried.diagnostics
            if each.is_error and each.file == step.rung.file
        ]
        if line and not any(each.line == line for each in marks):
            marks.append(Mark(line, 0, problem, "bug"))
        self._editor.show_marks(marks)

    def _show_build(self, step: Tried) -> None:
        now, tried, saved = self._now, step.trial, self._saved
        if tried.built is None:
            return
        before = saved[1] if saved and saved[0].job.same_work(now.job) else None
        self._built = now, tried.built
        if self._file.is_saved:
            self._saved = self._built
        place = trial_words.ladder_rows(tried, step.rung, self._times)
        self._show(build=(*place, *trial_words.build_rows(tried.built, before)))

    def _note_saved(self) -> None:
        if self._built is not None and self._built[0].text == self._file.text:
            self._saved = self._built

    def _show_answer(self, step: Tried) -> None:
        tried, check = step.trial, step.trial.check
        self._answered = replace(self._now, text=step.rung.source)
        is_unknown = check is None and tried.on_gpu and not tried.problem
        if tried.counts or not (tried.ok or is_unknown):  # else those before stay meanwhile
            counts, sample_bytes = tried.counts, tried.job.picture.itemsize
            rows = trial_words.count_rows(counts, sample_bytes) if counts else ()
            self._show(counts=tuple(rows))
            beside = None if step.is_good else counts  # of the text in the editor
            by_line = trial_words.line_words(beside, sample_bytes) if beside else {}
            self._editor.show_counts(by_line)
        is_wrong = check is not None and check.wrong > 0
        self._show(
            verdict=verdict_words(tried),
            is_old=step.is_good,
            before=step.before,
            after=step.after,
            caption=self._file.name,
            pixel=(check.worst[1], check.worst[0]) if check and is_wrong else None,
        )

    def _show_search(self, step: Searched) -> None:
        finding = step.finding
        changes: dict[str, Any] = {}
        is_of_text = self._answered is None or _is_same(self._answered, self._now)
        where = searched_words(finding) if finding else no_bug_words(step.clean)
        self._remark = " ".join(filter(None, (where, "" if is_of_text else BEFORE)))
        tried = self.tried
        if is_of_text and tried and tried.check and not tried.problem and not tried.check.wrong:
            check = BugSearch(finding).verdict(tried.check, self._now.device)
            self.tried = replace(tried, check=check)  # the verdict on a right output is complete
            changes["verdict"] = verdict_words(self.tried)
        if finding is None:
            self._point_out("", None, **changes)
            return
        if (pixel := trial_words.pixel_of(step.rung, step.job, finding)) is not None:
            changes |= {"before": step.before, "after": None, "pixel": pixel}
        why = tried.check.why if is_of_text and tried and tried.check else ""
        self._point_out(f"{why} {finding.sentence}".lstrip(), finding.line, **changes)
        if finding.line:
            self._editor.go_to_line(finding.line)


def _is_same(one: KernelText | None, other: KernelText | None) -> bool:
    if one is None or other is None:
        return False
    return (one.name, one.text) == (other.name, other.text) and _same_work(one, other)


def _same_work(one: KernelText, other: KernelText) -> bool:
    facts = ((each.at, each.seen, each.look, each.device) for each in (one, other))
    return next(facts) == next(facts) and one.job.same_work(other.job)
