"""The link between a kernel's text and its trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.job import Job, Progress
from kernels.core.verdict import NOT_YET_SEARCHED
from kernels.cuda_child.worker_pool import Held
from kernels.cuda_on_cpu import confinement
from kernels.cuda_on_cpu.bug import BugSearch
from kernels.cuda_on_cpu.counting import RunCounts
from kernels.cuda_on_cpu.findings import Finding
from kernels.cuda_on_cpu.kernel_trial import KernelTrial
from kernels.rungs.rung import Rung
from workbench.model import intents
from workbench.model.rung_times import RungTimes
from workbench.panels.kernel import trial_words
from workbench.panels.kernel.code_editor import CodeEditor, Kind, Mark
from workbench.panels.kernel.trial_view import TrialView
from workbench.panels.kernel.trial_words import (
    BY_CHANCE,
    NO_BUG,
    OF_GOOD,
    FactRow,
    SavedBuilds,
    searched_words,
    verdict_words,
)
from workbench.session.kernel_file import KernelFile
from workbench.session.kernel_trial import (
    Counted,
    Followed,
    KernelText,
    Pixel,
    Refused,
    Searched,
    Step,
    Tried,
    end_children,
    following,
    searching,
    trying,
)
from workbench.session.store import Store
from workbench.session.tasks import AnalysisThread, StepQueue
from workbench.widgets.message_bar import MessageBar

PAUSE_MS = 500  # in typing, after which what stands there is tried
PATIENCE_MS = 2500  # after which the message bar has the error in an unfinished text, too
NAME = "kernel"  # of both on the thread: the newer takes the other's place
NO_PICTURE = "Open a picture: the kernel is tried on it."
TRYING, SEARCHING = "Trying it on the CPU…", "Searching for the bug…"
TRYING_ON_GPU = "Trying it on the GPU…"
FOLLOWING = "Recording the steps of a block…"
BEFORE = "What is shown below is of the last text that ran, which stays in use."
STAYS = "The last text that ran stays in use."
STOPPED = "Stopped."
NOT_TRIED = "It was not tried."
HELD = "Not run yet: the file comes from elsewhere."


class Trying(QObject):
    """A service that tries the newest text, and cancels the trial of an older one.

    tried  the last trial; None: there was none yet

    Signals:
        asked_for(text): this KernelText is tried from now on; None: another file begins.
        began(): from now on no steps are recorded.
        followed(steps): a block's steps are recorded: a Followed.
        unconfined(sentence): the text runs on the CPU only unconfined, if the user allows that.
    """

    asked_for = Signal(object)
    began = Signal()
    followed = Signal(object)
    unconfined = Signal(str)

    def __init__(
        self,
        store: Store,
        times: RungTimes,
        trials: StepQueue,
        file: KernelFile,
        editor: CodeEditor,
        view: TrialView,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        """Begin to follow `file`; `editor` gets the marks, and `view` everything else."""
        super().__init__(parent)
        self._store, self._file, self._editor, self._view = store, file, editor, view
        self._times, self._trials, self._thread = times, trials, AnalysisThread(self)
        self._messages = messages
        self._at: Pixel | None = None
        self._device: Device | None = None
        self._children_of: Device | None = None  # that texts were tried on
        self._builds = SavedBuilds()
        self._built: list[FactRow] = []
        self._held: Held | None = None
        self._complaint = ""  # for the message bar, which may show
        self._shown_complaint = ""
        self._asked: KernelText | None = None
        self._answered: KernelText | None = None  # the text of the output in view
        self._found: tuple[KernelText, str] | None = None  # of the newest text: its verdict
        self.tried: KernelTrial | None = None
        self._is_under_way = self._is_held = self._is_trial = False
        self._doing: KernelText | None = None  # the text under way, or the last one
        self._verdict = ""  # of the output in view
        self._remark = ""  # shown at the end of what is under way
        for queue in (self._thread, trials):
            queue.dropped.connect(lambda _: self._end(""))
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._try)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._complain)
        editor.textChanged.connect(self._pause.start)
        editor.textChanged.connect(self._patience.stop)
        file.began.connect(self._begin_another)
        for signal in (file.arrived, file.saving, file.saved):
            signal.connect(self._try)
        file.saved.connect(self._note_saved)
        view.cancel.clicked.connect(self._cancel)

    @property
    def is_settled(self) -> bool:
        """True while nothing is under way and nothing waits."""
        timers = (self._pause, self._patience)
        return not self._is_under_way and not any(each.isActive() for each in timers)

    @property
    def found(self) -> tuple[str, Job | None]:
        """The verdict of the present text in words, and the job that it was tried on."""
        if self._found is None or self._found[0].text != self._file.text:
            return NOT_TRIED, None
        return self._found[1], self._found[0].job

    def use_device(self, device: Device | NoDevice) -> None:
        """Try texts on this GPU from now on, or on the CPU where there is none."""
        self._device = device if isinstance(device, Device) else None

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
            self._stop()
            self._asked = None
            self._end(HELD)

    def release(self) -> None:
        """Try the present text, and those after it."""
        self._is_held = False
        self._asked = None
        self._try()

    def look_at(self, pixel: Pixel) -> None:
        """Try the text around this pixel (x, y) from now on."""
        self._at = pixel
        self._try()

    def find_bug(self) -> None:
        """Search the text for its bug."""
        if asked := self._wanted():
            self._interrupt()
            self.began.emit()
            self._begin(SEARCHING, asked, searching)

    def step_through(self, pixel: Pixel | None = None, number: int | None = None) -> None:
        """Begin to walk through a block of the text.

        pixel   (x, y) that the block stores; None: as before
        number  of the pass; None: the last
        """
        self._at = pixel or self._at
        if asked := self._wanted():
            self._interrupt()
            self._begin(FOLLOWING, asked, partial(following, number=number))

    def _interrupt(self) -> None:
        self._pause.stop()
        if self._is_under_way:
            self._asked = None  # it is tried again

    def close(self) -> None:
        """Cancel the work, and wait for the thread to end."""
        self._pause.stop()
        self._patience.stop()
        self._stop()
        self._thread.close()
        if self._children_of is not None:
            end_children(self._children_of)

    def _begin_another(self) -> None:
        """Show nothing of the kernel before, and try this one, even if it is the same text."""
        self._answered = self._asked = None
        self._builds.forget()
        self._built = []
        self._view.show_nothing()
        self._editor.show_marks([])
        self._withdraw_complaint()
        self.asked_for.emit(None)
        self._try()

    def _try(self) -> None:
        self._pause.stop()
        asked = self._wanted()
        if asked is None or _is_same(asked, self._asked):
            return
        self._asked = asked
        self.asked_for.emit(asked)
        good = self._answered
        if good is not None and not _same_work(asked, good):
            asked = replace(asked, good=good.text)
        self.began.emit()
        self._children_of = asked.device or self._children_of
        self._begin(TRYING if asked.device is None else TRYING_ON_GPU, asked, trying)

    def _begin(
        self,
        sentence: str,
        asked: KernelText,
        steps: Callable[[KernelText], Iterator[Step | Followed | None]],
    ) -> None:
        self._is_under_way, self._doing, self._remark = True, asked, ""
        self._is_trial = steps is trying
        self._view.show_under_way(sentence)
        self._stop()
        on_gpu = asked.device is not None and steps in (trying, searching)
        queue = self._trials if on_gpu else self._thread
        queue.ask(NAME, lambda: steps(asked), self._take, self._end)

    def _stop(self) -> None:
        for queue in (self._thread, self._trials):
            queue.cancel(NAME)

    def _end(self, sentence: str) -> None:
        self._is_under_way = False
        self._view.show_idle(sentence)

    def _wanted(self) -> KernelText | None:
        """The text and the job to try; None, with the reason shown, without them."""
        if not self._file.name and not self._is_held:  # no kernel is worked on yet
            return None
        state, why_not = self._store.state, HELD if self._is_held else NO_PICTURE
        try:
            job = None if self._is_held else intents.job_for(state)
        except KernelError as error:
            job, why_not = None, str(error)
        if job is None:
            self._view.show_idle(why_not)
            return None
        look = intents.look_for(state)
        return KernelText(
            *(self._file.name, self._file.text, job, self._at, state.levels, look, self._device)
        )

    def _cancel(self) -> None:
        self._stop()
        self._asked = None
        self._end(STOPPED)

    # -- findings

    def _take(self, step: Step | Followed) -> None:
        if isinstance(step, Refused) and step.sentence == confinement.why_not():
            self.unconfined.emit(step.sentence)
        if isinstance(step, Progress):
            self._view.show_under_way(f"{step.doing[:1].upper()}{step.doing[1:]}…")
        elif isinstance(step, Refused) and step.is_ours and not self._is_trial:
            self._remark = step.sentence  # it says nothing about the text
        elif isinstance(step, Refused):
            self._refuse(step.sentence, step.line)
        elif isinstance(step, Tried):
            self._show_trial(step)
        elif isinstance(step, Counted):
            self._show_counted(step.trial)
        elif isinstance(step, Searched):
            self._show_search(step)
        elif isinstance(step, Followed):
            self._show_steps(step)
        else:  # Ended
            if self._is_trial:
                self._held = step.held
                self._show_build(self._built if step.held else [])
            self._end(self._remark)

    @property
    def _now(self) -> KernelText:
        """The text that the steps belong to."""
        assert self._doing is not None
        return self._doing

    def _point_out(self, sentence: str, line: int, kind: Kind = "bug") -> None:
        """Show one error, and mark its line; 0: it has none."""
        self._view.show_problem(sentence, line)
        self._editor.show_marks([Mark(line, 0, sentence, kind)] if line else [])

    def _refuse(self, sentence: str, line: int) -> None:
        self._found = self._now, f"✗ It does not run. {sentence}"
        has_answer = self._answered is not None
        self._remark = BEFORE if has_answer else ""
        if has_answer:
            self._view.show_verdict(OF_GOOD.format(verdict=self._verdict))
        self._point_out(sentence, line, "error")
        in_file = trial_words.refused_words(self._file.name, sentence)
        self._complaint = f"{in_file} {STAYS}" if has_answer else in_file
        if self._file.is_saved:
            self._complain()
        else:  # perhaps half of a line: its mark says enough
            self._patience.start()

    def _complain(self) -> None:
        """Show the error in the message bar, unless it was shown, and perhaps dismissed, before."""
        self._patience.stop()
        if self._complaint != self._shown_complaint:
            self._withdraw_complaint()
            self._shown_complaint = self._complaint
            self._messages.show_error_if_free(self._complaint)

    def _withdraw_complaint(self) -> None:
        if self._shown_complaint:
            self._messages.dismiss(self._shown_complaint)
            self._shown_complaint = ""

    def _note_saved(self) -> None:
        """Treat a text that was tried before it was saved as one that is tried now."""
        self._builds.note_saved(self._file.text)
        if self._patience.isActive():
            self._complain()

    def _show_trial(self, step: Tried) -> None:
        if step.is_good:
            self._show_answer(step)
            return
        self.tried = tried = step.trial
        line = tried.line or 0
        self._take_build(tried, step.rung)
        if step.after is None:
            if not tried.problem:  # it compiles, and now it runs
                return
            self._refuse(tried.problem, line)
        else:
            bug = step.finding
            problem, line = (bug.sentence, bug.line or 0) if bug else (tried.problem, line)
            where = searched_words(bug.region) if bug else ""
            self._remark = " ".join(filter(None, (where, tried.printed.strip())))
            self._view.show_problem(problem, line)
            self._show_answer(step)
            if _is_outcome(tried):
                self._found = self._now, f"{problem} {verdict_words(tried)}".strip()
            self._patience.stop()
            self._withdraw_complaint()
        marks = [
            Mark(each.line, each.column, each.text)
            for each in tried.diagnostics
            if each.is_error and each.file == step.rung.file
        ]
        if line and not any(each.line == line for each in marks):
            sentence = step.finding.sentence if step.finding else tried.problem
            marks.append(Mark(line, 0, sentence, "bug"))
        self._editor.show_marks(marks)

    def _take_build(self, tried: KernelTrial, rung: Rung) -> None:
        """Show the build, beside that of the last save, and the kernel's place on the ladder."""
        if tried.built is not None:
            before = self._builds.take(self._now, tried.built, self._file.is_saved)
            place = trial_words.ladder_rows(tried, rung, self._times)
            self._show_build([*place, *trial_words.build_rows(tried.built, before)])

    def _show_build(self, rows: list[FactRow]) -> None:
        self._built = rows
        self._view.show_build([*rows, *(trial_words.held_rows(self._held) if self._held else ())])

    def _show_answer(self, step: Tried) -> None:
        tried, pictures = step.trial, self._view.pictures
        self._answered = replace(self._now, text=step.rung.source)
        self._verdict = verdict_words(tried)
        words = OF_GOOD.format(verdict=self._verdict) if step.is_good else self._verdict
        self._view.show_verdict(words)
        if tried.on_gpu:
            if tried.problem or not (tried.check is None or tried.check.ok):
                self._show_counts(None, tried.job)
        elif tried.counts or not tried.ok:  # else they are being counted, and those before stay
            self._show_counts(tried.counts, tried.job, is_of_text=not step.is_good)
        pictures.show_pictures(step.before, step.after, self._file.name)
        check = tried.check
        is_wrong = check is not None and check.wrong > 0
        pictures.show_pixel((check.worst[1], check.worst[0]) if check and is_wrong else None)

    def _show_counted(self, tried: KernelTrial) -> None:
        """Show the counts of a kernel that is right on the GPU, perhaps by chance."""
        self._show_counts(tried.counts, tried.job)
        if tried.is_at_fault:
            self._point_out(tried.problem, tried.line or 0)
            self._verdict = BY_CHANCE
            self._view.show_verdict(BY_CHANCE)
            self._found = self._now, f"{tried.problem} {BY_CHANCE}"

    def _show_counts(self, counts: RunCounts | None, job: Job, is_of_text: bool = True) -> None:
        """Show counts, also beside the lines if they are of the text in the editor."""
        sample_bytes = job.picture.itemsize
        self._view.show_counts(trial_words.count_rows(counts, sample_bytes) if counts else ())
        self._editor.show_counts(
            trial_words.line_words(counts, sample_bytes) if counts and is_of_text else {}
        )

    def _show_steps(self, step: Followed) -> None:
        found = step.stepped
        if found.steps is not None:
            self.followed.emit(step)
            return
        self._point_out(found.problem, found.line or 0)
        self.began.emit()

    def _show_search(self, step: Searched) -> None:
        finding = step.finding
        is_of_text = self._answered is None or _is_same(self._answered, self._now)
        if is_of_text:
            self._complete_verdict(finding)
        where = searched_words(finding.region) if finding else NO_BUG
        self._remark = " ".join(filter(None, (where, "" if is_of_text else BEFORE)))
        line = (finding and finding.line) or 0
        self._point_out(finding.sentence if finding else "", line)
        if finding is None:
            return
        if line:
            self._editor.go_to_line(line)
        if (pixel := trial_words.pixel_of(step.rung, step.job, finding)) is not None:
            self._view.pictures.show_pictures(step.before, None)
            self._view.pictures.show_pixel(pixel)

    def _complete_verdict(self, finding: Finding | None) -> None:
        """Add a search that the user began to the verdict in view, if that is of a right output."""
        tried = self.tried
        if tried is None or tried.check is None or tried.problem or tried.check.wrong:
            return
        check = BugSearch(finding).verdict(tried.check, self._now.device)
        self.tried = replace(tried, check=check)
        self._verdict = verdict_words(self.tried)
        self._view.show_verdict(self._verdict)
        if self._found is not None:
            said = finding.sentence if finding else ""
            self._found = self._found[0], f"{said} {self._verdict}".strip()


def _is_outcome(tried: KernelTrial) -> bool:
    """True once a trial is over; else its verdict or its time is still to come."""
    if tried.check is not None and tried.check.unsearched == NOT_YET_SEARCHED:
        return False
    if not tried.on_gpu:
        return True
    is_wrong = tried.check is not None and not tried.ok
    return tried.kernel is not None or is_wrong or bool(tried.problem)


def _is_same(one: KernelText | None, other: KernelText | None) -> bool:
    if one is None or other is None:
        return False
    return (one.name, one.text) == (other.name, other.text) and _same_work(one, other)


def _same_work(one: KernelText, other: KernelText) -> bool:
    """Compare what both are tried on, and how they are shown."""
    facts = ((each.at, each.levels, each.look, each.device) for each in (one, other))
    return next(facts) == next(facts) and one.job.same_work(other.job)
