"""Finding a kernel's bug under compute-sanitizer, which an executable of the tests stands for."""

from __future__ import annotations

import time

import numpy as np
import pytest

from kernels.cuda.compute_sanitizer import the_sanitizer
from kernels.cuda_child import sanitized_run
from kernels.cuda_child.gpu_bug import finding_bug_on_gpu
from kernels.cuda_child.sanitized_run import SanitizerError
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_child import sanitizer_output as printed
from tests.kernels.cuda_child.bad_texts import GOOD, a_job
from tests.kernels.cuda_child.sanitizers import MadeUpSanitizer, is_running
from tests.made_up import H200

ENDED = {"error": "DeviceLostError", "sentence": "The GPU failed.", "log": ""}


@pytest.fixture
def sanitizer(tmp_path, monkeypatch):
    made = MadeUpSanitizer(tmp_path, a_job())
    made.install(monkeypatch)
    yield made
    the_sanitizer.cache_clear()


def steps():
    return finding_bug_on_gpu(own_kernel("mine.cu", GOOD), a_job(), H200, the_sanitizer())


def found():
    *_, last = steps()
    return last


def test_a_kernel_without_a_bug_has_none_under_any_tool(sanitizer):
    assert found() is None
    assert [each.split()[1] for each in sanitizer.tools] == ["memcheck", "racecheck", "synccheck"]
    assert "--racecheck-report hazard" in sanitizer.tools[1]


@pytest.mark.parametrize(
    ("tool", "output", "sentence", "kind"),
    [
        (
            "memcheck",
            printed.ABOVE,
            "Line 8: thread (3, 7) of block (0, 1) reads row −1 of the picture.",
            "bounds",
        ),
        (
            "memcheck",
            printed.MISALIGNED,
            "Line 8: thread (3, 7) of block (0, 1) writes 4 bytes at once of the answer, 513 bytes "
            "from its begin: that must be a multiple of 4.",
            "misaligned",
        ),
        (
            "memcheck",
            printed.FAR,
            "Line 8: thread (3, 7) of block (0, 1) reads memory far outside of all arrays.",
            "bounds",
        ),
        (
            "memcheck",
            printed.NULL,
            "Line 8: thread (3, 7) of block (0, 1) reads through a null pointer.",
            "bounds",
        ),
        (
            "memcheck",
            printed.IN_A_FUNCTION,
            "Line 12: thread (0, 0) of block (0, 0) writes row −1 of the answer.",
            "bounds",
        ),
        (
            "memcheck",
            printed.OLD_FORM,
            "Line 9: thread (31, 0) of block (2, 0) writes byte 1,024 of shared memory, which has "
            "1,024.",
            "bounds",
        ),
        (
            "memcheck",
            printed.OF_ITS_OWN,
            "Line 7: thread (1, 2) of block (3, 4) reads 4 bytes outside of arrays of its own.",
            "bounds",
        ),
        (
            "memcheck",
            printed.SOMETHING,
            "Line 6: thread (4, 0) of block (0, 0) fails: Stack overflow.",
            "crash",
        ),
        (
            "racecheck",
            printed.RACE,
            "Line 9: thread (3, 1) of block (1, 0) reads byte 140 of shared memory, which thread "
            "(35, 0) writes in line 8, with no barrier between the two.",
            "race",
        ),
        (
            "synccheck",
            printed.BARRIER,
            "Line 8: thread (37, 0) of block (0, 0) comes to a barrier that other threads of its "
            "warp do not come to.",
            "barrier",
        ),
        (
            "synccheck",
            printed.IN_BLOCK,
            "Line 10: thread (32, 0) of block (0, 0) comes to a barrier that other threads of its "
            "block do not come to.",
            "barrier",
        ),
        (
            "synccheck",
            printed.BAD_MASK,
            "Line 48: thread (0, 0) of block (0, 0) comes to a barrier whose mask of threads is "
            "not right.",
            "barrier",
        ),
    ],
)
def test_a_report_is_one_sentence_with_line_thread_and_block(
    sanitizer, tool, output, sentence, kind
):
    sanitizer.does(**{tool: output})
    finding = found()
    assert (finding.sentence, finding.kind) == (sentence, kind)
    assert finding.line == int(sentence[5:].partition(":")[0])
    assert sanitizer.tools[-1].startswith(f"--tool {tool}")
    assert (finding.region.width, finding.region.height) == (77, 37)


def test_what_no_line_of_its_own_is_named_for_is_told_with_the_other_file(sanitizer):
    sanitizer.does(memcheck=printed.ABOVE.replace("mine.cu", "prelude.cuh"))
    assert found().sentence.startswith("prelude.cuh, line 8: thread (3, 7) of block (0, 1) reads")
    sanitizer.does(memcheck=printed.ABOVE.replace(" in mine.cu:8", ""))
    assert found().sentence.startswith("Thread (3, 7) of block (0, 1) reads")


def test_a_wrong_answer_is_told_with_what_was_never_written(sanitizer):
    sanitizer.answers(np.zeros_like(sanitizer.job.picture))
    wrong = found()
    assert (wrong.kind, wrong.line) == ("wrong", None)
    assert wrong.sentence.startswith("On the GPU the kernel writes 0 to x 0, y 0, channel 0, where")
    assert "--initcheck-address-space all" in sanitizer.tools[-1]
    sanitizer.does(initcheck=printed.UNINITIALISED, version="2024.3.1.0")
    the_sanitizer.cache_clear()
    assert found().sentence == (
        "Line 8: thread (31, 0) of block (1, 0) reads column 3 of row 0 of the answer, which no "
        "thread has written before."
    )
    assert "--initcheck-address-space" not in sanitizer.tools[-1]


def test_a_picture_that_was_written_to_is_told(sanitizer):
    sanitizer.does(facts={**sanitizer.facts, "changed": True})
    assert found().sentence.startswith("Something was written to the picture")


def test_what_does_not_compile_is_told_with_its_line(sanitizer):
    log = 'mine.cu(8): error: identifier "heigth" is undefined\n'
    error = {"error": "CompileFailedError", "sentence": "It did not compile", "log": log}
    sanitizer.does(facts=error)
    finding = found()
    assert (finding.kind, finding.line) == ("compile", 8)
    assert finding.sentence == 'Line 8: identifier "heigth" is undefined.'


def test_a_failure_of_the_gpu_without_a_report_is_told(sanitizer):
    sanitizer.does(facts={**ENDED, "status": "cudaErrorHardwareStackError"})
    finding = found()
    assert finding.kind == "crash"
    assert "has used up its stack" in finding.sentence


def test_a_report_is_more_than_the_failure_that_it_led_to(sanitizer):
    sanitizer.does(
        facts={**sanitizer.facts, **ENDED, "status": "cudaErrorLaunchFailure"},
        memcheck=printed.ABOVE,
    )
    assert "row −1" in found().sentence


def test_a_job_that_the_kernel_refuses_is_told(sanitizer):
    text = '/*---\n[[passes]]\nshared_bytes = "1000000"\n---*/\n' + GOOD
    rung = own_kernel("mine.cu", text)
    *_, finding = finding_bug_on_gpu(rung, a_job(), H200, the_sanitizer())
    assert finding.kind == "refused"
    assert sanitizer.tools == []


@pytest.mark.parametrize("runs", ["piped", "not piped"])
def test_what_it_watches_says_why_it_cannot_run(sanitizer, monkeypatch, runs):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # no computer has a GPU then
    sanitizer.does(runs=runs)
    with pytest.raises(SanitizerError, match="NVIDIA driver"):
        found()


# ---- Where compute-sanitizer itself fails. ------------------------------------------------------


@pytest.mark.parametrize(
    ("doing", "words"),
    [
        ({"memcheck": printed.NOT_FOR_THIS_GPU}, "Device not supported"),
        ({"memcheck": "", "crashes": "memcheck"}, "it ended without a word"),
        ({"memcheck": printed.BANNER, "crashes": "memcheck"}, "came to no end"),
    ],
    ids=["too old", "crash", "crash later"],
)
def test_that_it_does_not_do_its_work_says_nothing_of_the_kernel(sanitizer, doing, words):
    sanitizer.does(**doing)
    with pytest.raises(SanitizerError, match=r"memcheck of compute-sanitizer 2025\.4") as error:
        found()
    assert words in str(error.value)


def test_one_that_cannot_be_started_is_told(sanitizer):
    known = the_sanitizer()
    sanitizer.program.unlink()
    with pytest.raises(SanitizerError, match="could not be started: No such file"):
        list(finding_bug_on_gpu(own_kernel("mine.cu", GOOD), a_job(), H200, known))


def test_a_bug_of_ours_is_not_swallowed(sanitizer):
    sanitizer.does(facts={"bug": "Traceback: ours"})
    with pytest.raises(RuntimeError, match="ours"):
        found()


def test_a_kernel_that_does_not_end_is_ended(sanitizer, monkeypatch):
    monkeypatch.setattr(sanitized_run, "RUN_S", 0.2)
    sanitizer.does(hangs="memcheck")
    finding = found()
    assert finding.kind == "deadline"
    assert "still running after 0.2 s: a loop that does not end" in finding.sentence
    assert all_have_ended(sanitizer)


def test_one_that_never_begins_is_ended(sanitizer, monkeypatch):
    monkeypatch.setattr(sanitized_run, "BEGIN_S", 0.3)
    sanitizer.does(hangs="memcheck", facts=None)
    with pytest.raises(SanitizerError, match=r"had not begun to run the kernel after 0\.3 s"):
        found()


@pytest.mark.parametrize("how", ["close", "interrupt"])
def test_whoever_stops_it_ends_all_of_it(sanitizer, how):
    sanitizer.does(hangs="memcheck")
    under_way = steps()
    while not (sanitizer.folder / "pids").exists():
        next(under_way)
    if how == "close":
        under_way.close()
    else:
        with pytest.raises(KeyboardInterrupt):
            under_way.throw(KeyboardInterrupt)
    assert all_have_ended(sanitizer)


def all_have_ended(sanitizer) -> bool:
    """Whether neither it nor what it watches runs, or does so not for long."""
    pids = (sanitizer.folder / "pids").read_text().split()
    for _ in range(500):
        if not any(is_running(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False
