"""Finding bugs on this computer's GPU under the real compute-sanitizer."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernels.core.device import NoDevice
from kernels.core.job import Job
from kernels.cuda.compute_sanitizer import the_sanitizer, why_no_sanitizer
from kernels.cuda.probing import probe
from kernels.cuda_child.gpu_bug import finding_bug_on_gpu
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder
from tests.kernels.cases import fitting_weights
from tests.kernels.cuda_child.gpu_kernels import GOOD, kernel
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, RUNNING, TILE

IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
THREAD = r"thread \(\d+, \d+\) of block \(\d+, \d+\)"
# A text, the kind of its bug, and the sentence.  A barrier that only some threads come to is not
# among them: where the others have ended, synccheck of version 2025.3 has nothing to report.
BUGS = {
    "row above the picture": (
        RUNNING["row above the picture"].text,
        "bounds",
        rf"^Line 8: {THREAD} reads row −1 of the picture\.$",
    ),
    "row behind the answer": (
        RUNNING["row behind the answer"].text,
        "bounds",
        rf"^Line 8: {THREAD} writes row \d+ of the answer, which has \d+\.$",
    ),
    "far outside": (
        RUNNING["far outside, read"].text,
        "bounds",
        rf"^Line 8: {THREAD} reads memory far outside of all arrays\.$",
    ),
    "misaligned": (
        kernel(f"{COPY}\nif (x < 4) *(volatile int*)(dst + 1) = 7;"),
        "misaligned",
        rf"^Line 8: {THREAD} writes 4 bytes at once of the answer, 1 bytes from its begin",
    ),
    "race": (
        kernel(
            f"{TILE}\ntile[at] = x; if (x >= width || y >= end_row) return;\n"
            "row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x] + (tile[255 - at] < -1.0f);"
        ),
        "race",
        rf"^Line \d+: {THREAD} (reads|writes) byte [\d,]+ of shared memory, which thread "
        r"\(\d+, \d+\) (reads|writes) in line \d+, with no barrier between the two\.$",
    ),
    "writes to its input": (
        kernel(f"{COPY}\nif (x == 3 && y == 3) const_cast<sample*>(src)[0] ^= 1;"),
        "bounds",
        "^Something was written to the picture",
    ),
    "reads what was never written": (
        kernel("if (x < width && y < end_row)\n row_of(dst, y, pitch)[x] += 1;"),
        "uninitialised",
        rf"^Line 8: {THREAD} reads column \d+ of row \d+ of the answer, which no thread has",
    ),
    "wrong": (
        kernel("if (x < width && y < end_row) row_of(dst, y, pitch)[x] = 7;"),
        "wrong",
        "^On the GPU the kernel writes 7 to x 0, y 0, channel 0, where",
    ),
    "endless loop": (
        kernel(f"{COPY}\nwhile (height > 0) atomicAdd((unsigned*)dst, 0u);"),
        "deadline",
        "still running after",
    ),
    "syntax": (kernel(f"{COPY}\nnonsense"), "compile", "^Line "),
}


@pytest.fixture(scope="module")
def here():
    device = probe()
    if isinstance(device, NoDevice):
        pytest.skip(device.reason)
    if (reason := why_no_sanitizer()) is not None:
        pytest.skip(reason)
    return device, the_sanitizer()


def found(here, rung, job):
    *_, last = finding_bug_on_gpu(rung, job, *here)
    return last


def a_job() -> Job:
    picture = np.random.default_rng(4).integers(1, 255, (100, 120, 1)).astype(np.uint8)
    return Job(picture, IDENTITY, block_xy=(32, 8))


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_one_sentence(here, name):
    text, kind, sentence = BUGS[name]
    finding = found(here, own_kernel("mine.cu", text), a_job())
    assert finding is not None
    print(finding.sentence)  # noqa: T201 - to read with -rP
    assert finding.kind == kind, finding.sentence
    assert re.search(sentence, finding.sentence), finding.sentence
    assert finding.line is not None or not sentence.startswith("^Line")


def test_a_good_kernel_has_none(here):
    assert found(here, own_kernel("mine.cu", GOOD), a_job()) is None


@pytest.mark.parametrize("key", ["shared", "separable", "ring", "tensor"])
def test_no_rung_raises_an_alarm(here, key):
    rung = next(each for each in ladder() if each.key == key)
    random = np.random.default_rng(6)
    picture = random.integers(0, 256, (97, 113, 3)).astype(np.uint8)
    job = Job(picture, fitting_weights(random, 5, key), "mirror", gradient=rung.gradient)
    finding = found(here, rung, job)
    assert finding is None, finding.sentence
