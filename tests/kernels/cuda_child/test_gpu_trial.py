"""Bad kernels in real processes, on made-up devices: none reaches us, and none gets a time."""

import errno
import os
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from kernels.core.job import Progress, Sampling
from kernels.cuda_child import gpu_trial as module
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.cuda_child.worker_pool import MAIN, Held
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.rungs.own_kernels import own_kernel
from tests.conftest import ROOT
from tests.kernels.cuda_child.bad_texts import a_job, text, tried
from tests.kernels.cuda_child.conftest import LIMITS, children_of

# What a kernel does, and what has to be said of it.
ENDED = {
    "crash": "^The process that runs kernels on the GPU crashed (SIGSEGV) while launching.$",
    "leave": "^The process that runs kernels on the GPU ended (exit code 0) while launching.$",
    "be_killed": "was killed (perhaps for want of memory) while launching.$",
    "memory": "took more than 0.586 GiB of memory while launching.$",
    "out_of_memory": "^The GPU ran out of memory",
    "refused": "^The GPU refused while running.$",
    "illegal": "^A thread accessed memory outside of all arrays (cudaErrorIllegalAddress).$",
    "stack": "^A thread has used up its stack: does a function call itself without end?$",
    "some_failure": "^The kernel ended all work on the GPU in its process (cudaErrorUnheardOf).$",
    "assertion": "^Line 8: thread (8, 3) of block (1, 0) finds an assertion that does not hold",
}
OUTSIDE = {
    "behind_the_answer": "behind the end of the output",
    "before_the_answer": "before the start of the output",
    "between_rows": "behind the end of row 3 of the output, where no sample is",
    "to_the_picture": "to the picture, which is only to be read",
}
# What is wrong with the answer, if there is more to say than that it is.
WRONG = {
    "nothing": "^12,000 samples were never written, the first at x 0, y 0.$",
    "half": "^6,000 samples were never written, the first at x 1, y 0.$",
    "by_chance": "left behind: 1 sample differs, the first at",
    "wrong": "^$",
    "all_rows": "^The kernel writes row 0. Only rows 21 to 47 were asked for (from",
    "rows_moved": "^Row 21 comes out wrong, and right where all rows are asked for. Only rows",
}
CHEATS = (
    *("keep_the_answer", "keep_and_move", "right_at_first", "right_in_most"),
    *("a_part_when_timed", "the_answer_before", "looks_for_the_answer"),
)


def is_said(pattern: str, sentence: str) -> bool:
    """Whether it is part of it; its begin with ^, its end with $."""
    words = pattern.removeprefix("^").removesuffix("$")
    begins = not pattern.startswith("^") or sentence.startswith(words)
    ends = not pattern.endswith("$") or sentence.endswith(words)
    return words in sentence and begins and ends


@pytest.fixture(autouse=True)
def deadlines(long_deadlines):
    pass


def test_a_good_kernel_is_right_and_has_a_time(children):
    outcome = tried(children, text(), sampling=Sampling(max_samples=5, max_seconds=10))
    assert outcome.ok
    assert outcome.check.is_full
    assert outcome.kernel.samples_ms == (0.1,) * 5
    assert (outcome.kernel.ended, outcome.kernel.warmups) == ("samples", 1)
    assert outcome.built.registers == 40
    assert outcome.device_name == "NVIDIA H200"


@pytest.mark.parametrize("name", ENDED)
def test_what_ends_the_child_is_told_and_the_next_run_works(children, name):
    outcome = tried(children, text(run=name))
    assert is_said(ENDED[name], outcome.problem), outcome.problem
    assert (outcome.answer, outcome.check, outcome.kernel) == (None, None, None)
    assert outcome.line == (8 if name == "assertion" else None)
    assert tried(children, text(), sampling=Sampling(max_samples=0)).ok


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_written_outside_is_told(children, name):
    outcome = tried(children, text(run=name))
    assert is_said(f"^Something was written {OUTSIDE[name]}.$", outcome.problem), outcome.problem
    assert (outcome.answer, outcome.kernel) == (None, None)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_shown_and_have_no_time(children, name):
    outcome = tried(children, text(run=name))
    assert is_said(WRONG[name], outcome.problem), outcome.problem
    assert not outcome.ok
    assert outcome.answer.shape == (100, 120, 1)
    assert outcome.kernel is None


def test_the_last_chunk_of_a_row_may_be_written_as_a_whole(children):
    """As threads do that store 16 bytes at once: rows begin at multiples of 128."""
    job = a_job()
    assert job.width % 16
    run = text(run="in_the_last_chunk_of_a_row")
    assert tried(children, run, job, sampling=Sampling(max_samples=0)).ok


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_nan_equals_nothing(children, dtype):
    outcome = tried(children, text(run="nan"), a_job(dtype))
    assert outcome.check.wrong == 97 * 120
    assert outcome.kernel is None


@pytest.mark.parametrize(
    ("name", "dtype"),
    [  # each with one pixel type by day
        pytest.param(name, dtype, marks=[pytest.mark.nightly] * ((place + turn) % 2))
        for place, name in enumerate(CHEATS)
        for turn, dtype in enumerate((np.uint8, np.float32))
    ],
)
def test_no_cheat_has_a_time(children, name, dtype):
    outcome = tried(children, text(run=name), a_job(dtype))
    assert outcome.kernel is None
    assert outcome.check.ok  # of the user's picture
    assert "with which it was timed" in outcome.problem


def test_a_write_outside_while_it_is_timed_takes_the_time_away(children):
    outcome = tried(children, text(run="when_timed_behind_the_answer"))
    assert is_said("^Something was written behind the end of the output.$", outcome.problem)
    assert outcome.kernel is None
    assert outcome.answer is not None


def test_what_does_not_compile_is_told_with_its_line(children):
    outcome = tried(children, text(compile="error"))
    assert outcome.problem.startswith("Line 8: ")
    assert '"heigth"' in outcome.problem
    assert (outcome.line, outcome.built) == (8, None)
    assert "mine.cu(8)" in outcome.log


@pytest.mark.parametrize(
    ("doing", "said"),
    [
        ("crash", "^The compiler crashed (SIGSEGV).$"),
        ("memory", "^The compiler took more than 0.586 GiB of memory.$"),
    ],
)
def test_a_compiler_that_fails_is_told_and_the_next_run_works(children, doing, said):
    outcome = tried(children, text(compile=doing))
    assert is_said(said, outcome.problem), outcome.problem
    assert tried(children, text(), sampling=Sampling(max_samples=0)).ok


def test_a_storm_of_words_is_cut(children):
    outcome = tried(children, text(run="storm"))
    assert outcome.ok
    assert len(outcome.printed) == 64 << 10
    assert outcome.printed.startswith("thread 0 says hello\n")
    assert tried(children, text()).printed == ""


# ---- Deadlines and stages. ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("doing", "shown"), [("hang", False), ("hang_on_the_whole", False), ("hang_when_timed", True)]
)
def test_a_hang_is_ended_at_its_deadline(children, short_deadlines, doing, shown):
    outcome = tried(children, text(run=doing))
    assert is_said("^The kernel was still running after 0.3 s: a loop", outcome.problem)
    assert (outcome.answer is not None) == shown
    assert outcome.kernel is None


def test_what_ends_after_its_deadline_took_too_long_and_its_process_goes_on(
    children, short_deadlines
):
    outcome = tried(children, text(run="ends_late"))
    assert is_said("^The kernel was still running after 0.3 s: a loop", outcome.problem)
    assert outcome.answer is None
    held = children.held().children
    assert tried(children, text(), sampling=Sampling(max_samples=0)).ok
    assert children.held().children == held


def test_where_a_display_hangs_on_the_gpu_no_fault_is_waited_for_and_both_causes_are_named(
    short_deadlines, children_on
):
    outcome = tried(children_on("with_a_display"), text(run="misaligned_and_told_late"))
    assert is_said("or a fault that the GPU has not reported yet?$", outcome.problem)


def test_a_time_is_never_one_of_a_picture_that_was_seen_before(children):
    outcome = tried(children, text(run="keep_the_answer_for_long"))
    assert (outcome.check.ok, outcome.kernel) == (True, None)
    assert "with which it was timed" in outcome.problem
    good = tried(children, text(run="slow_on_the_whole"))
    assert (good.kernel.samples_ms, good.kernel.ended) == ((4_000.0,), "single")


def test_a_compiler_that_hangs_is_ended(children_on):
    limits = replace(LIMITS, seconds={**LIMITS.seconds, "compiling": 0.3})
    outcome = tried(children_on("fake", limits), text(compile="hang"))
    assert is_said("^The compiler was still at work after 0.3 s", outcome.problem)


def test_the_crop_is_first_then_a_strip_then_the_whole(children):
    steps = gpu_trial(own_kernel("mine.cu", text()), a_job(), children=children)
    doing = [step.doing for step in steps if isinstance(step, Progress)]
    stages = dict.fromkeys(each for each in doing if each.startswith("running"))
    assert [each.partition(" on ")[2] for each in stages] == [
        "a part of the picture",
        "a strip of the picture",
        "the whole of the picture",
    ]


def test_what_is_foretold_to_take_too_long_is_not_begun(children, monkeypatch):
    monkeypatch.setattr(module, "MIN_DEADLINE_S", 3.0)
    outcome = tried(children, text(run="slow"))
    assert is_said("^Estimated time 3.8 s for a strip", outcome.problem), outcome.problem
    assert "exceeds the limit 3 s" in outcome.problem
    assert outcome.answer is None
    monkeypatch.setattr(module, "MIN_DEADLINE_S", 20.0)
    assert tried(children, text(run="slow"), sampling=Sampling(max_samples=0)).ok


def test_what_was_slow_because_others_used_the_gpu_is_not_refused(children, monkeypatch):
    monkeypatch.setattr(module, "MIN_DEADLINE_S", 3.0)
    outcome = tried(children, text(run="slow_beside_others"))
    assert outcome.ok, outcome.problem


def test_no_long_launch_is_begun_where_a_display_hangs_on_the_gpu(children_on):
    made = children_on("with_a_display")
    assert tried(made, text(run="slow_for_a_display")).ok
    outcome = tried(made, text(run="slow"))
    assert "a display hangs on NVIDIA H200" in outcome.problem
    assert outcome.answer is None


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("that_is_not_there", "^There is no GPU today.$"),
        ("that_crashes", "crashed (SIGSEGV) while starting.$"),
    ],
)
def test_a_device_that_does_not_start_is_told(children_on, device, said):
    assert is_said(said, tried(children_on(device), text()).problem)


def test_the_picture_is_shown_before_its_check_and_its_time(children):
    rung = own_kernel("mine.cu", text())
    steps = gpu_trial(rung, a_job(), children=children)
    known = [step for step in steps if isinstance(step, KernelTrial)]
    assert [each.answer is not None for each in known] == [False, True, True, True]
    assert [each.check is not None for each in known] == [False, False, True, True]
    assert [each.kernel is not None for each in known] == [False, False, False, True]


# -- children: started when first used, kept warm, replaced when they end


ONCE = Sampling(max_samples=0)


@pytest.fixture
def children():
    made = children_of("fake")
    yield made
    made.end(60)
    assert _children_of(os.getpid()) == []


def _children_of(process: int) -> list[int]:
    """The processes that it started to run kernels, the oldest first."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            facts = (path / "stat").read_text().rpartition(")")[2].split()
            is_child = MAIN.encode() in (path / "cmdline").read_bytes()
            if is_child and int(facts[1]) == process and facts[0] != "Z":
                found.append((int(facts[19]), int(path.name)))
        except OSError:  # it has ended meanwhile
            continue
    return [number for _, number in sorted(found)]


def test_none_is_started_before_the_first_run_and_one_stands_by_after_it(children):
    assert children.held() == Held(0, 0, 0)
    assert tried(children, text(), sampling=ONCE).ok
    first, spare = _children_of(os.getpid())
    held = children.held()
    assert held.children == 2
    assert held.host_bytes > 1 << 20
    assert held.device_bytes == 1 << 20  # the spare has not said anything yet
    assert tried(children, text(), sampling=ONCE).ok
    assert _children_of(os.getpid()) == [first, spare]


def test_the_spare_takes_over_and_another_one_stands_by(children):
    assert tried(children, text(), sampling=ONCE).ok
    first, spare = _children_of(os.getpid())
    assert tried(children, text(run="crash")).problem
    assert tried(children, text(), sampling=ONCE).ok
    now = _children_of(os.getpid())
    assert first not in now
    assert now[0] == spare
    assert len(now) == 2


def test_a_child_that_was_killed_while_it_waited_is_replaced(children):
    assert tried(children, text(), sampling=ONCE).ok
    for each in _children_of(os.getpid()):
        os.kill(each, 9)
        os.waitid(os.P_PID, each, os.WEXITED | os.WNOWAIT)
    assert tried(children, text(), sampling=ONCE).ok


def _left_at(children, doing: str, **named: str) -> None:
    """Begin a trial, and stop driving it while `doing` is under way."""
    steps = gpu_trial(own_kernel("mine.cu", text(**named)), a_job(), children=children)
    # The first of them comes before the child is asked.
    assert len(list(islice(_saying(steps, doing), 2))) == 2
    steps.close()


def _saying(steps, doing: str):
    return (each for each in steps if isinstance(each, Progress) and each.doing.startswith(doing))


def test_a_run_that_nobody_waits_for_is_brought_to_its_end_and_its_child_kept(children):
    assert tried(children, text(), sampling=ONCE).ok
    before = _children_of(os.getpid())
    _left_at(children, "compiling", compile="slow")
    _left_at(children, "running")
    assert tried(children, text(), sampling=ONCE).ok
    assert _children_of(os.getpid()) == before


def test_a_hang_that_nobody_waits_for_is_ended_though_nobody_asks_for_more(children, monkeypatch):
    assert tried(children, text(), sampling=ONCE).ok
    first, spare = _children_of(os.getpid())
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 0.3)
    monkeypatch.setattr("kernels.cuda_child.worker_pool.FAULT_S", 0.3)
    _left_at(children, "running", run="hang")
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert _children_of(os.getpid()) == [spare]


def test_what_is_no_reply_is_told_at_once_and_the_next_run_works(children):
    assert tried(children, text(), sampling=ONCE).ok
    with pytest.raises(RuntimeError, match="no reply"):
        tried(children, text(run="garble"), sampling=ONCE)
    assert tried(children, text(), sampling=ONCE).ok


def test_a_spare_that_is_ready_takes_over_from_a_hang_that_nobody_waits_for(children):
    assert tried(children, text(), sampling=ONCE).ok  # and the hang would have a minute
    first, spare = _children_of(os.getpid())
    _left_at(children, "running", run="hang")
    assert tried(children, text(), sampling=ONCE).ok
    now = _children_of(os.getpid())
    assert (first in now, now[0]) == (False, spare)


def test_children_that_somebody_else_ends_are_told_and_replaced(children):
    steps = gpu_trial(own_kernel("mine.cu", text()), a_job(), children=children)
    for step in steps:
        if isinstance(step, KernelTrial):  # it is built, and nothing is under way
            break
    children.end(60)
    *_, outcome = steps
    assert "was ended" in outcome.problem
    assert tried(children, text(), sampling=ONCE).ok


def test_a_computer_that_starts_no_process_is_told(children, monkeypatch):
    def no_room(*_, **__):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    assert tried(children, text(), sampling=ONCE).ok
    children.end(60)
    with monkeypatch.context() as patched:
        patched.setattr("kernels.core.child_process.subprocess.Popen", no_room)
        outcome = tried(children, text())
        children.keep_spare()
    assert "Resource temporarily unavailable" in outcome.problem
    assert tried(children, text(), sampling=ONCE).ok


def test_a_bug_of_ours_as_a_child_starts_is_not_swallowed(children_on):
    with pytest.raises(RuntimeError, match="ZeroDivisionError: ours"):
        tried(children_on("with_a_bug"), text())


def test_what_is_left_while_it_starts_is_kept(children):
    _left_at(children, "starting")
    (first,) = _children_of(os.getpid())
    assert tried(children, text(), sampling=ONCE).ok
    assert first in _children_of(os.getpid())


def test_a_child_ends_with_its_parent_even_in_a_kernel_that_hangs(tmp_path):
    program = """
import os
from tests.kernels.cuda_child.bad_texts import a_job, text
from tests.kernels.cuda_child.conftest import children_of
from tests.kernels.cuda_child.test_gpu_trial import _children_of
from kernels.cuda_child.gpu_trial import gpu_trial
from kernels.rungs.own_kernels import own_kernel
children = children_of("fake")
for step in gpu_trial(own_kernel("mine.cu", text(run="hang")), a_job(), children=children):
    if getattr(step, "doing", "").startswith("running"):
        break
print(*_children_of(os.getpid()), flush=True)
os._exit(0)  # flushes nothing
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    started = [Path(f"/proc/{number}") for number in done.stdout.split()]
    assert started
    until = time.monotonic() + 60
    while any(_is_running(each) for each in started):
        assert time.monotonic() < until, "a child outlives its parent"
        time.sleep(0.01)


def _is_running(process: Path) -> bool:
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
