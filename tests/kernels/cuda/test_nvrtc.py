"""NVRTC, which compiles for cards that are not here, and ahead of time."""

import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.cuda import nvrtc
from kernels.cuda.launch import compiling_ahead
from kernels.rungs.cuda_text import LADDER
from kernels.rungs.rung import ladder
from tests.made_up import H200, a_job

SHARED = next(rung for rung in ladder() if rung.key == "shared")
NEEDS_A_COMPILER = pytest.mark.skipif(not nvrtc.compilers(), reason="NVRTC is not installed")


@pytest.fixture
def without_compilers(monkeypatch):
    monkeypatch.setattr(nvrtc, "compilers", lambda: ())


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
    assert str(failed.value).startswith("The kernel did not compile: rung.cu, line 1: ")


def line_of(name, words):
    """The first line of a file of the ladder that has `words` in it."""
    lines = (LADDER / name).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


@NEEDS_A_COMPILER
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("prelude.cuh", "#define DYNAMIC_SHARED(", "#error before the defaults' end"),
        ("prelude.cuh", "constexpr int HALO_Y", "constexpr mint HALO_Y"),
        ("wide.cuh", "float byte_to_float(", "flaot byte_to_float("),
        ("async.cuh", "__device__ __forceinline__", "__device__ nothing __forceinline__"),
        ("10_ring.cu", "const int y0 = first_row", "const int y0 = frist_row"),
    ],
)
def test_an_error_names_the_file_that_it_is_in_and_its_line(name, right, wrong):
    ring = next(rung for rung in ladder() if rung.key == "ring")
    before, begin, after = ring.text.partition(f'"{name}"\n')
    if right not in after.partition("#line")[0]:  # behind the knobs' defaults
        more, again, after = after.partition(f'"{name}"\n')
        before, begin = before + begin + more, again
    text = before + begin + after.replace(right, wrong, 1)
    options = nvrtc.options_for(ring, a_job("ring"), 90)
    with pytest.raises(CompileFailedError) as failed:
        nvrtc.compile_text(text, options, 90)
    line = line_of(name, right)
    assert f"{name}({line}): " in failed.value.log.splitlines()[0]
    assert str(failed.value).startswith(f"The kernel did not compile: {name}, line {line}: ")


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


JOB = Job(np.zeros((8, 8, 1), np.uint8), np.ones((3, 3), np.float32))
RUNGS = {rung.key: rung for rung in ladder()}


@pytest.fixture
def compiled(monkeypatch):
    """What was compiled; `compiled.before` is called first with the rung."""
    found = SimpleNamespace(keys=[], before=lambda rung: None)

    class Programs:
        def __init__(self, cp):
            pass

        def get(self, rung, job):
            found.before(rung)
            found.keys.append((rung.key, job.ksize))

    fake = SimpleNamespace(cuda=SimpleNamespace(Device=lambda index: nullcontext()))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr("kernels.cuda.launch.Programs", Programs)
    return found


def test_kernels_that_differ_are_compiled_once_each(compiled):
    larger = replace(JOB, weights=np.ones((5, 5), np.float32))
    elsewhere = replace(JOB, picture=np.zeros((16, 16, 1), np.uint8))
    wanted = [(RUNGS["global"], job) for job in (JOB, larger, elsewhere)]
    said = [each.doing for each in compiling_ahead(H200, wanted)]
    assert sorted(compiled.keys) == [("global", 3), ("global", 5)]
    assert said[0] == "compiling, 2 of 2 kernels left"


def test_stopped_it_forgets_those_that_wait(compiled, monkeypatch):
    monkeypatch.setattr("kernels.cuda.launch.usable_cores", lambda: 1)
    may_go_on = threading.Event()
    compiled.before = lambda rung: may_go_on.wait(10)
    steps = compiling_ahead(H200, [(RUNGS[key], JOB) for key in ("global", "constant", "shared")])
    next(steps)
    threading.Timer(0.05, may_go_on.set).start()
    steps.close()
    assert len(compiled.keys) <= 1
