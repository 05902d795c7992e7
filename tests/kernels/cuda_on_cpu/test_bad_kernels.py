"""Bad kernels on the CPU: none reaches the process that asks, and each is told of in a sentence."""

import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from kernels.core.device_turns import outcome_of
from kernels.core.job import Job, Progress
from kernels.cuda.nvrtc import compilers
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.children import end_children
from kernels.cuda_on_cpu.compile_errors import cuda_errors, diagnostics_of
from kernels.cuda_on_cpu.findings import Finding, KernelTrial
from kernels.cuda_on_cpu.regions import TRIED_SIZE
from kernels.cuda_on_cpu.trial import finding_bug, trial
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, REFUSED, RUNNING, START

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
DEADLINE_S = 0.4
IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
GOOD = START.format(before="", body=COPY)
# Their likes are tried each time.
NIGHTLY = (
    *("endless loop of one thread", "further down than the picture, read", "far outside, read"),
    *("behind the end of a row of the picture", "two barriers on one line", "trap"),
    *("a race before a later barrier", "two blocks write one sample", "row below the picture"),
    *("a member without a value", "an array with some values", "element before the first"),
    *("waiting for a thread that comes later", "shared element behind the last by a pointer"),
)
EACH = [
    pytest.param(name, marks=[pytest.mark.nightly] if name in NIGHTLY else []) for name in RUNNING
]


def a_job() -> Job:
    """61×37 samples: two blocks across, the last ones cut, and rows that end in a gap."""
    picture = np.random.default_rng(4).integers(1, 255, (37, 61, 1), np.uint8)
    return Job.of(picture, IDENTITY, block_xy=(32, 8))


def tried(text: str, **options) -> KernelTrial:
    *_, outcome = trial(own_kernel("mine.cu", text), a_job(), **options)
    assert isinstance(outcome, KernelTrial)
    return outcome


def found(text: str) -> Finding | None:
    rung = own_kernel("mine.cu", text)
    *_, outcome = finding_bug(rung, a_job(), deadline_s=DEADLINE_S)
    assert outcome is None or isinstance(outcome, Finding)
    return outcome


def test_a_good_kernel_is_good():
    outcome = tried(GOOD)
    assert outcome.ok
    assert outcome.check.is_full
    assert (outcome.answer == a_job().picture).all()
    assert found(GOOD) is None


@pytest.mark.parametrize(
    "declared",
    [
        "static __constant__ float WEIGHTS[KSIZE*KSIZE] ;",
        "  __constant__ float OTHERS[2] = {1, 2}, WEIGHTS [KSIZE * KSIZE];",
        "__constant__ float HALF = 0.5f; __constant__\tfloat WEIGHTS[KSIZE][KSIZE];",
        "/* __constant__ float WEIGHTS[9]; */ namespace own { __constant__ float NONE[3]; }"
        "__constant__ float WEIGHTS[KSIZE * KSIZE];",
    ],
)
def test_weights_come_however_they_are_declared(declared):
    centre = "WEIGHTS[1][1]" if "][" in declared else "WEIGHTS[4]"
    body = COPY.replace("= row_of(src", f"= {centre} * row_of(src")
    text = START.format(before="", body=body)
    outcome = tried(text.replace(text.splitlines()[0], declared))
    assert outcome.ok, outcome.problem


@pytest.mark.skipif(not compilers(), reason="NVRTC is not installed")
@pytest.mark.parametrize("name", [name for name, bad in RUNNING.items() if not bad.is_cuda])
def test_what_is_no_cuda_is_refused_by_its_compiler(name, build_cache):
    rung = own_kernel("mine.cu", RUNNING[name].text)
    assert outcome_of(cuda_errors(rung, [a_job()], build_cache))


@pytest.mark.parametrize("name", EACH)
def test_a_trial_of_a_bad_kernel_is_told_of_and_never_passes(name, without_cuda):
    bad = RUNNING[name]
    outcome = tried(bad.text, deadline_s=DEADLINE_S)
    assert re.search(bad.trial, outcome.problem), outcome.problem
    if said := re.match(r"Line (\d+)", outcome.problem):
        assert outcome.line == int(said[1])
    if outcome.answer is not None:
        assert outcome.check.ok == bad.is_right or not bad.is_right
    assert outcome.ok == (bad.is_right and not outcome.problem)


@pytest.mark.parametrize("name", [each for each in EACH if RUNNING[each.values[0]].kind])
def test_the_bug_of_a_bad_kernel_is_found(name, without_cuda):
    bad = RUNNING[name]
    finding = found(bad.text)
    assert finding is not None
    assert re.search(bad.finding or bad.trial, finding.sentence), finding.sentence
    assert finding.kind in bad.kind.split("|")
    if "barrier" in name or bad.kind in ("bounds", "race", "deadline"):
        assert f"block {finding.block}" in finding.sentence
        assert f"thread {finding.thread}" in finding.sentence
    if said := re.match(r"Line (\d+)", finding.sentence):
        assert finding.line == int(said[1])


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_compile_is_told_with_its_line(name):
    body, lines = REFUSED[name]
    outcome = tried(START.format(before="", body=body))
    assert outcome.answer is None
    assert not outcome.ok
    assert re.match(rf"Line ({lines}): .", outcome.problem), outcome.problem
    first = next(each for each in outcome.diagnostics if each.is_error)
    assert (first.file, first.line) == ("mine.cu", outcome.line)
    assert not re.search("rung_|convolve_", outcome.problem)


def test_of_names_in_errors_only_what_was_added_is_cut():
    ours = "rung_0123456789ab::{anonymous}::convolve_0123456789ab"
    log = f"mine.cu:3:1: error: 'tile_0' was not declared in 'void {ours}()'"
    (each,) = diagnostics_of(log, own_kernel("mine.cu", GOOD))
    assert each.text == "'tile_0' was not declared in 'void convolve()'"


def test_a_storm_of_printf_is_cut():
    outcome = tried(RUNNING["storm of printf"].text)
    assert outcome.printed.startswith("0 0 0\n0 0 1\n")
    assert 1 << 10 < len(outcome.printed) <= 64 << 10


@pytest.mark.parametrize("reason", [GeneratorExit, KeyboardInterrupt])
def test_whoever_stops_ends_a_run_and_the_next_one_works(reason):
    endless = own_kernel("mine.cu", RUNNING["endless loop"].text)
    steps = trial(endless, a_job(), deadline_s=600)
    for step in steps:
        if isinstance(step, Progress) and step.doing.startswith("running"):
            break
    children = _children_of(os.getpid())
    runs = [run for child in children for run in _children_of(child)]
    with pytest.raises(reason):
        steps.throw(reason)
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{run}").exists() for run in runs):
        assert time.monotonic() < deadline, "a run outlives its end"
        time.sleep(0.01)
    assert _children_of(os.getpid()) == children  # kept warm
    assert tried(GOOD).ok


def test_closing_ends_the_compiler_and_the_next_one_works():
    text = GOOD + "// never compiled before\n"
    steps = trial(own_kernel("mine.cu", text), a_job())
    assert next(steps).doing.startswith("compiling")
    steps.close()
    assert tried(text).ok


def test_a_child_that_dies_is_replaced():
    assert tried(GOOD).ok
    for child in _children_of(os.getpid()):
        os.kill(child, signal.SIGKILL)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # it dies when it is next scheduled
    assert tried(GOOD).ok
    end_children()
    assert _children_of(os.getpid()) == []


def _children_of(process: int) -> list[int]:
    """The processes that it started to run kernels."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and b"cuda_on_cpu.child" in (path / "cmdline").read_bytes():
                found.append(int(path.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def test_a_large_picture_is_tried_in_part():
    width, height = TRIED_SIZE
    picture = np.random.default_rng(5).integers(0, 255, (300, 500, 1), np.uint8)
    job = Job.of(picture, IDENTITY, block_xy=(32, 8))
    rung = own_kernel("mine.cu", GOOD)
    *_, outcome = trial(rung, job, at=(490, 10))
    assert (outcome.region.left, outcome.region.top) == (500 - width, 0)
    assert (outcome.region.width, outcome.region.height) == TRIED_SIZE
    assert not outcome.region.is_whole
    assert (outcome.answer == picture[:height, -width:]).all()
    *_, whole = trial(rung, job, whole=True)
    assert whole.region.is_whole
    assert (whole.answer == picture).all()


def test_what_is_copied_from_beyond_the_picture_to_beyond_the_answer_is_noticed():
    picture = np.random.default_rng(5).integers(0, 255, (45, 64, 1), np.uint8)
    body = "row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];"
    rung = own_kernel("mine.cu", START.format(before="", body=body))
    *_, outcome = trial(rung, Job.of(picture, IDENTITY, block_xy=(32, 8)))
    assert "reads row 45 of the picture" in outcome.problem


def test_memory_that_a_kernel_asks_for_is_its_own_up_to_its_end():
    # One column of threads: with the checks each malloc takes as long as a hundred samples.
    body = f"{COPY} if (x) return;\nint* const own = (int*)malloc(64);\nown[LAST] = x;\n"
    body += "if (own[LAST] != x) dst[0] = 1;"
    right = START.format(before="", body=body.replace("LAST", "15"))
    assert tried(right).ok
    assert found(right) is None
    finding = found(START.format(before="", body=body.replace("LAST", "999999")))
    assert (finding.kind, finding.line) == ("bounds", 9)
