"""A rung compiled in a process of its own, which a text may crash or keep at work."""

import os
import signal
import sys
from dataclasses import replace

import pytest

from kernels.core.device_turns import outcome_of
from kernels.cuda import nvrtc
from kernels.cuda_child.worker_pool import RunEndedError
from kernels.rungs.own_kernels import own_kernel, starting_points
from tests.compilers import needs_nvrtc
from tests.made_up import a_job
from workbench.session.kernel_code import PtxRequest, compiling_apart, request_for

TEXT = starting_points()[0].text


def requested(text: str) -> PtxRequest:
    request = request_for(own_kernel("mine.cu", text), a_job("shared"), None)
    return replace(request, options=(*request.options, nvrtc.LINES))


def compiled(text: str) -> nvrtc.Compiled:
    return outcome_of(compiling_apart(requested(text)))


@needs_nvrtc
def test_it_is_the_same_as_here():
    here = nvrtc.compile_rung(own_kernel("mine.cu", TEXT), a_job("shared"), 90, with_lines=True)
    apart = compiled(TEXT)
    assert (apart.ptx, apart.cubin, apart.resources) == (here.ptx, here.cubin, here.resources)
    assert here.cubin.startswith(b"\x7fELF")


@needs_nvrtc
def test_what_does_not_compile_is_told_with_its_line():
    line = TEXT.count("\n") + 1
    with pytest.raises(RunEndedError, match=f"Line {line}: ") as caught:
        compiled(TEXT + "nonsense;")
    assert caught.value.line == line


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A function that replaces the program which calls the compiler."""

    def replace_with(text: str) -> None:
        path = tmp_path / "program.py"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(nvrtc, "SCRIPT", str(path))

    return replace_with


@needs_nvrtc
@pytest.mark.skipif(sys.platform == "win32", reason="signals are Unix's")
def test_a_compiler_that_crashes_costs_only_its_process(program):
    program(f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})")
    with pytest.raises(RunEndedError, match=r"The compiler crashed \(SIGSEGV\)"):
        compiled(TEXT)


@needs_nvrtc
def test_a_compiler_that_does_not_end_is_ended(program, monkeypatch):
    program("import time; time.sleep(60)")
    monkeypatch.setattr(nvrtc, "PATIENCE_S", 0.1)
    with pytest.raises(RunEndedError, match=r"still at work after 0\.1 s"):
        compiled(TEXT)


@needs_nvrtc
@pytest.mark.skipif(sys.platform == "win32", reason="a process is looked for by signal 0")
def test_who_waits_no_longer_ends_the_compiler(program, tmp_path):
    told = tmp_path / "told"
    program(f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    steps = compiling_apart(requested(TEXT))
    while not (told.is_file() and told.read_text()):
        next(steps)
    steps.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
