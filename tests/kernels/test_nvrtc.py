"""NVIDIA's compiler without a GPU: which one is asked, and what it says of what it made."""

import pytest

from kernels import nvrtc
from kernels.errors import CompileFailedError
from kernels.nvrtc import Compiled, Resources
from kernels.rung import ladder
from tests.made_up import a_job

SHARED = next(rung for rung in ladder() if rung.key == "shared")
NEEDS_A_COMPILER = pytest.mark.skipif(not nvrtc.compilers(), reason="NVRTC is not installed")
LOG = """ptxas info    : 32 bytes gmem
ptxas info    : Compiling entry function 'rows' for 'sm_90'
    8 bytes stack frame, 12 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 22 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compiling entry function 'columns' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers
"""


@pytest.fixture
def without_compilers(monkeypatch):
    monkeypatch.setattr(nvrtc, "compilers", lambda: ())


def test_the_log_tells_what_each_function_takes():
    columns, rows = Compiled("", LOG).resources
    assert columns == Resources("columns", registers=40, spill_bytes=0, shared_bytes=0)
    assert rows == Resources("rows", registers=22, spill_bytes=16, shared_bytes=1024)


@NEEDS_A_COMPILER
def test_a_rung_is_compiled_to_ptx_and_resources_for_the_card_asked_for():
    compiled = nvrtc.compile_rung(SHARED, a_job("shared"), 90)
    assert ".target sm_90" in compiled.ptx
    (convolve,) = compiled.resources
    assert convolve.function == "convolve"
    assert convolve.registers > 0


@NEEDS_A_COMPILER
def test_text_that_does_not_compile_comes_with_the_compilers_words():
    with pytest.raises(CompileFailedError) as failed:
        nvrtc.compile_text("nonsense", ["--gpu-architecture=sm_90"], 90)
    assert "rung.cu(1)" in failed.value.log


@NEEDS_A_COMPILER
def test_a_card_that_no_compiler_knows_is_named():
    with pytest.raises(CompileFailedError, match="No compiler for sm_10 is installed here"):
        nvrtc.compile_text("", [], 10)


def test_without_a_compiler_it_says_what_would_help(without_compilers):
    with pytest.raises(CompileFailedError, match="pip install nvidia-cuda-nvrtc"):
        nvrtc.compile_rung(SHARED, a_job("shared"), 90)


def test_the_newest_compiler_that_knows_the_card_is_asked():
    compilers = nvrtc.compilers()
    assert list(compilers) == sorted(compilers, key=lambda each: each.version, reverse=True)
    for each in compilers:
        for architecture in each.architectures:
            newest = nvrtc.compiler_for(architecture)
            assert newest is not None
            assert newest.version >= each.version


@NEEDS_A_COMPILER
def test_a_broken_library_is_no_compiler(tmp_path):
    path = tmp_path / "libnvrtc.so.13"
    path.write_bytes(b"not a library")
    assert nvrtc._opened(path) is None
