"""CuPy's exceptions in words; a bug stays one."""

import sys
from types import SimpleNamespace

import pytest

from kernels.core.errors import (
    CompileFailedError,
    DeviceLostError,
    LaunchRefusedError,
    OutOfMemoryError,
    cuda_errors_in_words,
)


class StatusError(RuntimeError):
    def __init__(self, status):
        super().__init__(f"name {status}: in words")
        self.status = status


class CUDARuntimeError(StatusError):
    pass


class CuFFTError(StatusError):
    pass


@pytest.fixture(autouse=True)
def made_up_cupy(monkeypatch):
    """As much of CuPy as `cuda_errors_in_words` looks at."""
    memory = SimpleNamespace(OutOfMemoryError=type("OutOfMemoryError", (MemoryError,), {}))
    compiler = SimpleNamespace(CompileException=type("CompileException", (Exception,), {}))
    runtime = SimpleNamespace(CUDARuntimeError=CUDARuntimeError)
    driver = SimpleNamespace(CUDADriverError=type("CUDADriverError", (StatusError,), {}))
    cuda = SimpleNamespace(memory=memory, compiler=compiler, runtime=runtime, driver=driver)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))


@pytest.mark.parametrize(
    ("raised", "becomes", "words"),
    [
        (CUDARuntimeError(2), OutOfMemoryError, "ran out of memory while filtering"),
        (CuFFTError(2), OutOfMemoryError, "memory"),
        (CuFFTError(5), LaunchRefusedError, "refused while filtering"),
        (CUDARuntimeError(700), DeviceLostError, "name 700.* restarted"),
        (CUDARuntimeError(719), DeviceLostError, "restarted"),
        (CUDARuntimeError(720), LaunchRefusedError, "block shape"),
        (CUDARuntimeError(46), DeviceLostError, "lost"),
        (CUDARuntimeError(100), DeviceLostError, "was lost while filtering"),
        (OSError("disk full"), CompileFailedError, "disk full; check the disk"),
    ],
)
def test_what_the_gpu_says_becomes_a_sentence(raised, becomes, words):
    with pytest.raises(becomes, match=words) as failure, cuda_errors_in_words("filtering"):
        raise raised
    assert failure.value.__cause__ is raised


@pytest.mark.parametrize(
    ("log", "first"),
    [
        ("C:\\wide.cuh(3): catastrophic error: #error stop", "wide.cuh, line 3: #error stop."),
        ("kern.cu(2): error #20: nothing", "kern.cu, line 2: nothing."),
        ("nvrtc: error: invalid value", "see the compiler's log."),
    ],
)
def test_the_first_error_of_a_log_is_told(log, first):
    assert str(CompileFailedError.from_log("It failed", log)) == f"It failed: {first}"


@pytest.mark.parametrize("bug", [RuntimeError("a bug"), ValueError("a bug"), KeyError("a bug")])
def test_a_bug_stays_one(bug):
    with pytest.raises(type(bug)) as failure, cuda_errors_in_words("filtering"):
        raise bug
    assert failure.value is bug
