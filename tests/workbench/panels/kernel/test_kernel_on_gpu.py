"""The Kernel panel with a GPU: real processes run the kernel, on a device that is made up."""

import pytest

from kernels.core.timing import Timing
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.cuda_on_cpu.regions import Region
from kernels.pictures.generated import noise
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_child.bad_texts import text as source
from tests.made_up import FAILED, H200, PASSED, a_job, result
from tests.workbench.driving import child, ready, trigger, until
from tests.workbench.panels.kernel.made_up_trials import (
    MadeUpTrials,
    editor,
    text_of,
    tried,
    words,
    write,
)
from workbench.model.rung_times import RungTimes
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.kernel import trying
from workbench.panels.kernel.trial_words import NONE_YET, NOT_RIGHT, ladder_rows, verdict_words


@pytest.fixture
def window(qtbot, make_window, children, home, monkeypatch):
    """A window with a GPU, the panel open, and a good kernel tried in it."""
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 60.0)
    monkeypatch.setattr("workbench.session.kernel_trial.cuda_children", lambda _: children)
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(home / "kernels"))
    MadeUpTrials().take_over(monkeypatch)
    window = ready(qtbot, make_window(), noise(100, 120, 1))
    window.kernel.get().show_device(H200)
    trigger(window, "Kernel")
    write(qtbot, window, source())
    return window


def test_a_right_kernel_has_a_verdict_and_a_time_and_what_crashes_or_is_wrong_has_none(
    qtbot, window, children
):
    assert words(window, "kernel-verdict").startswith("✓ Verified on the whole picture")
    assert "on NVIDIA H200." in words(window, "kernel-verdict")
    assert "100" in words(window, "kernel-verdict")  # µs
    assert child(window, "kernel-answer", PictureView).display.size == (120, 100)
    assert words(window, "kernel-build-registers") == "40 per thread"
    assert words(window, "kernel-build-spills") == "none"
    assert "processes" in words(window, "kernel-build-memory-held")
    assert words(window, "kernel-count-loads")  # the CPU counts as well
    until(qtbot, lambda: children.held().children == 2)  # one that had to be ended has gone

    # what ends the process is one sentence, and the next text runs
    write(qtbot, window, source(run="crash"))
    assert "crashed (SIGSEGV) while launching." in words(window, "kernel-problem")
    assert words(window, "kernel-status") == trying.BEFORE
    assert "✓ Verified" in words(window, "kernel-verdict")
    write(qtbot, window, source())
    assert words(window, "kernel-problem") == ""
    assert "on NVIDIA H200." in words(window, "kernel-verdict")

    # what is not right every time has no time
    write(qtbot, window, source(run="right_at_first"))
    assert words(window, "kernel-verdict").startswith("✗ ")
    assert "H200" not in words(window, "kernel-verdict")
    assert child(window, "kernel-answer", PictureView).display is not None
    assert words(window, "kernel-count-loads") == ""


def test_its_time_stands_beside_those_of_the_rungs_that_this_session_timed_on_the_same_job():
    times, job, rung = RungTimes(), a_job("shared"), own_kernel("mine.cu", text_of("ring"))
    assert rung.after != "shared"
    whole = Region(0, 0, job.width, job.height, True)
    own = KernelTrial(job, whole, on_gpu=True, kernel=Timing((0.1, 0.1, 0.1), "cold"))
    assert [row.words for row in ladder_rows(own, rung, times)] == [NONE_YET]
    times.add_result(result("shared", (0.2, 0.2, 0.2), job=job))
    times.add_result(result(rung.after, (0.4, 0.4, 0.4), job=job.but(implementation=rung.after)))
    wrong = job.but(implementation="global")
    times.add_result(result("global", (0.01, 0.01), FAILED, job=wrong))
    (row,) = ladder_rows(own, rung, times)
    first, second = row.words.split("; ")
    assert first.startswith("4.0× as fast as ")
    assert second == "2.0× as fast as Shared-memory tile (200\u202fµs)"
    assert ladder_rows(KernelTrial(job, whole, on_gpu=True), rung, times) == []


@pytest.mark.parametrize(("count", "said"), [(2, "(mean of 2)"), (3, "(median of 3)")])
def test_the_middle_of_two_is_called_a_mean(count, said):
    job = a_job("shared")
    whole, time = Region(0, 0, job.width, job.height, True), Timing(count * (0.1,), "cold")
    assert said in verdict_words(KernelTrial(job, whole, on_gpu=True, kernel=time, check=PASSED))


# -- the bug


NO_COMPILER = "There is no C++ compiler: install g++."


def test_without_a_compiler_for_the_cpu_a_right_kernel_stays_so_when_its_bug_is_looked_for(
    qtbot, window, monkeypatch
):
    for module in ("workbench.session.kernel_trial", "kernels.cuda_on_cpu.trial"):
        monkeypatch.setattr(f"{module}.why_not", lambda: NO_COMPILER)
    write(qtbot, window, source(registers="42"))
    assert "on NVIDIA H200." in words(window, "kernel-verdict")
    assert "✓" not in words(window, "kernel-verdict")
    assert "not checked for races" in words(window, "kernel-verdict")
    trigger(window, "Find the bug in the kernel")
    tried(qtbot, window)
    assert words(window, "kernel-status") == NO_COMPILER
    assert words(window, "kernel-build-registers") == "42 per thread"
    assert words(window, "kernel-problem") == ""
    assert "on NVIDIA H200." in words(window, "kernel-verdict")
    assert window.kernel.get().trying.verdict[1] is not None


def test_what_is_right_on_the_gpu_by_chance_is_not_verified(qtbot, window):
    write(qtbot, window, source() + "// by chance\n")
    assert words(window, "kernel-problem") == "Line 7: by chance."
    assert words(window, "kernel-verdict") == NOT_RIGHT
    assert editor(window).marked_lines() == {6: "bug"}
    write(qtbot, window, source())
    assert words(window, "kernel-problem") == ""
    assert "on NVIDIA H200." in words(window, "kernel-verdict")
