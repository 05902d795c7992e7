"""Made-up trials, which find what stands in the text, and hands and eyes for the panel."""

import threading
from dataclasses import replace

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from kernels.core.job import Progress
from kernels.core.verdict import Check
from kernels.cuda_on_cpu.compile_errors import Diagnostic
from kernels.cuda_on_cpu.counting import LineCount, RunCounts
from kernels.cuda_on_cpu.findings import Finding, KernelTrial
from kernels.cuda_on_cpu.regions import Region
from kernels.rungs.own_kernels import starting_points
from tests.workbench.driving import PATIENCE_MS, child, ready, settle, trigger, until
from workbench.panels.kernel import trying
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.session.kernel_file import KernelFile

PASSED = Check(0.25, (1, 2, 0), 5, 0, 0.5, 600, 600, samples=1800)
WRONG = Check(8.0, (3, 4, 1), 9, 7, 0.5, 600, 600, samples=1800)
COUNTS = RunCounts(  # of 1,000 samples of one byte
    {"picture": 2060, "sums": 8000},
    {"picture": 1000},
    (25000, 0, 300, 0),
    (
        LineCount(34, "picture", False, 100, 3200, 300),
        LineCount(40, "picture", True, 100, 3200, 100),
        LineCount(53, "shared memory", False, 100, 12800, 400),
        LineCount(54, "shared memory", False, 100, 51200, 400),
    ),
    1,
    1,
)


class MadeUpTrials:
    """Trials and searches that find what stands in the text."""

    def __init__(self):
        self.texts, self.jobs, self.places, self.closed = [], [], [], 0
        self.go_on = threading.Event()

    def trial(self, rung, job, *, at=None, counting):
        self.texts.append(rung.source)
        self.jobs.append(job)
        self.places.append(at)
        is_endless = "endless" in rung.source
        try:
            yield Progress("compiling")
            while is_endless and not self.go_on.wait(0.005):
                yield Progress("running")
        finally:
            self.closed += is_endless
        found = self._found(rung, job)
        yield found
        if counting and found.ok:
            yield Progress("compiling")
            yield replace(found, counts=COUNTS)

    def _found(self, rung, job):
        height, width, _ = job.picture.shape
        region = Region(0, 0, width, height, True)
        for number, line in enumerate(rung.source.split("\n"), 1):
            if "nonsense" in line:
                said = Diagnostic(
                    rung.file, number, line.index("nonsense") + 1, True, "no such type"
                )
                other = Diagnostic("prelude.cuh", 3, 1, True, "not here")
                sentence = f"Line {number}: no such type."
                return KernelTrial(
                    *(job, region),
                    problem=sentence,
                    line=number,
                    diagnostics=(said, other),
                    log=sentence,
                )
        check = WRONG if "too bright" in rung.source else PASSED
        printed = "sum is 3\n" if "printf" in rung.source else ""
        answer = 255 - job.picture
        if "by chance" in rung.source:
            found = {"problem": "Line 7: by chance.", "line": 7}
            return KernelTrial(job, region, answer=answer, check=check, **found)
        return KernelTrial(job, region, answer=answer, check=check, printed=printed)

    def finding_bug(self, rung, job, *, at=None, deadline_s=None):
        yield Progress("looking for races")
        if "racy" not in rung.source:
            yield None
            return
        line = 1 + rung.source[: rung.source.index("racy")].count("\n")
        region = Region(0, 0, *job.picture.shape[1::-1], True)
        sentence = f"Line {line}: threads (3, 1) and (4, 1) of block (0, 0) write the same word."
        yield Finding("race", sentence, region, line, (3, 1), (0, 0))

    def take_over(self, monkeypatch):
        """Have the program try kernels in this way."""
        monkeypatch.setattr("workbench.session.kernel_trial.trial", self.trial)
        monkeypatch.setattr("workbench.session.kernel_trial.finding_bug", self.finding_bug)
        monkeypatch.setattr("kernels.cuda_on_cpu.trial.finding_bug", self.finding_bug)
        for module in ("workbench.session.kernel_trial", "kernels.cuda_on_cpu.trial"):
            monkeypatch.setattr(f"{module}.why_not", lambda: None)
        monkeypatch.setattr(KernelFile, "do", _done_at_once)
        monkeypatch.setattr(trying, "PAUSE_MS", 60)


_do = KernelFile.do


def _done_at_once(file, *how):
    """Have a test go on once the disk is done; what happens until then, others test."""
    before = file._at_disk
    _do(file, *how)
    for _ in range(PATIENCE_MS // 2):
        if file._at_disk <= before:
            return
        QTest.qWait(2)


def editor(window):
    return child(window, "kernel-source", CodeEditor)


def shows_80_letters(edit):
    """True if so many of a line fit, beside the text's own margins."""
    return edit.viewport().width() - 8 >= edit.fontMetrics().horizontalAdvance("0" * 80)


def in_view(edit):
    """The number of lines of a source that are seen whole."""
    return sum(box.bottom() < edit.viewport().height() for _, box in edit.lines_in_view())


def words(window, name):
    """The text of a label; empty where it is not to be seen."""
    label = window.findChild(QLabel, name)
    return label.text() if label is not None and label.isVisible() else ""


def tried(qtbot, window):
    until(qtbot, lambda: window.kernel.get().is_tried)


def with_kernel(qtbot, window, samples, **choices):
    """The window with a picture and these choices, and the panel open, whose kernel was tried."""
    ready(qtbot, window, samples)
    if choices:
        settle(qtbot, window, lambda: window.store.choose(**choices))
    trigger(window, "Kernel")
    tried(qtbot, window)
    return window


def write(qtbot, window, text):
    """Begin with a text, and wait until it was tried."""
    editor(window).begin_with(text)
    tried(qtbot, window)


def text_of(key):
    """The text of a rung's starting point."""
    return next(each.text for each in starting_points() if each.key == key)
