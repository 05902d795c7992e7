"""What NVRTC says of texts that do not compile, in a sentence that names the user's own line."""

import re

import pytest

from kernels.core.errors import CompileFailedError
from kernels.cuda import nvrtc
from kernels.cuda_child.worker_pool import failed
from kernels.rungs.own_kernels import own_kernel
from tests.compilers import needs_nvrtc
from tests.kernels.cuda_child.bad_texts import a_job
from tests.kernels.cuda_child.gpu_kernels import ENDED, NOT_COMPILED
from tests.kernels.cuda_on_cpu.bad_kernels import REFUSED, RUNNING

ARCHITECTURE = 90


def refused(text: str):
    """What is said of a text that NVRTC does not take."""
    rung = own_kernel("mine.cu", text)
    with pytest.raises(CompileFailedError) as caught:
        nvrtc.compile_rung(rung, a_job(), ARCHITECTURE)
    error = {"error": "CompileFailedError", "sentence": str(caught.value), "log": caught.value.log}
    return failed(rung, error)


@needs_nvrtc
@pytest.mark.parametrize("name", NOT_COMPILED)
def test_what_does_not_compile_is_told_with_its_line(name):
    told = refused(NOT_COMPILED[name])
    assert re.match(rf"Line ({REFUSED[name][1]}|8), ?.*: .|Line \d+: .", str(told))
    assert str(told.line) in (*REFUSED[name][1].split("|"), "8")
    assert str(told).startswith(f"Line {told.line}")
    assert "error" in told.log


@needs_nvrtc
def test_what_the_assembler_refuses_is_told_in_its_words():
    told = refused(RUNNING["function that is nowhere"].text)
    assert "declared and called, but defined nowhere: helper" in str(told)
    told = refused(ENDED["too much static shared memory"][0])
    assert "shared" in str(told)


@needs_nvrtc
def test_a_kernel_launches_no_other():
    assert refused(ENDED["work launched by the kernel"][0]).line == 8
