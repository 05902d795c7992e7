"""NVRTC, which compiles for cards that are not here, and ahead of time."""

import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.cuda import nvrtc
from kernels.cuda.launch import compiling_ahead
from kernels.cuda.nvrtc import Compiled, Place, compile_rung, listing_of, ptx_listing, sass_listing
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
        nvrtc.compiler_here(90).compile("nonsense", ["--gpu-architecture=sm_90"])
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
        nvrtc.compiler_here(90).compile(text, options)
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


JOB = Job.of(np.zeros((8, 8, 1), np.uint8), np.ones((3, 3), np.float32))
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
    larger = JOB.but(weights=np.ones((5, 5), np.float32))
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


# -- rows, and the lines of the source that they name

# small.cu, compiled for sm_90 by NVRTC 13.0, and written by nvdisasm 13.5; the folder is made up.
RECORDED = Path(__file__).with_name("recorded")
NEEDS_BOTH = pytest.mark.skipif(
    not nvrtc.compilers() or nvrtc.the_program() is None,
    reason="NVRTC or nvidia-cuda-nvdisasm is not installed",
)


def recorded(name):
    return (RECORDED / name).read_text(encoding="utf-8")


PTX, SASS = ptx_listing(recorded("small.ptx")), sass_listing(recorded("small.sass"))


def opcodes(listing, line):
    return [row.opcode for row in listing if row.line_in("small.cu") == line]


@pytest.mark.parametrize(
    ("listing", "load", "store"),
    [(PTX, "ld.global.f32", "st.global.f32"), (SASS, "LDG.E", "STG.E")],
)
def test_an_instruction_names_its_line_and_where_that_is_called(listing, load, store):
    assert opcodes(listing, 3).count(load) == 3
    assert store in opcodes(listing, 14)
    (*loads,) = (row for row in listing if row.opcode == load)
    assert {row.places for row in loads} == {(Place("small.cu", 3), Place("small.cu", 13))}
    assert all(row.lines_in("small.cu") == {3, 13} for row in loads)
    assert not any(row.line_in("prelude.cuh") for row in loads)


def test_ptx_is_without_what_is_for_debuggers_and_sass_without_what_fills_up():
    texts = [row.text for row in PTX]
    assert texts[:3] == [".version 9.0", ".target sm_90", ".address_size 64"]
    assert texts[-1] == "}"
    assert "    ld.global.f32 %f1, [%rd6];" in texts
    assert not any(".loc" in text or ".file" in text or "//" in text for text in texts)
    assert [row.text for row in PTX if not row.opcode and row.places] == []
    texts = [row.text for row in SASS]
    assert texts[0] == "convolve:"
    assert ".L_x_2:" in texts
    assert "    @P0 EXIT" in texts
    assert "    LDG.E R9, desc[UR4][R2.64+0x4]" in texts
    assert texts[-1] == "    BRA `(.L_x_0)"  # behind it NOPs fill up the function
    assert sum(bool(row.opcode) for row in SASS) == 22


@NEEDS_A_COMPILER
def test_a_rung_s_instructions_name_its_lines():
    compiled = compile_rung(SHARED, a_job("shared"), 90, with_lines=True)
    source = SHARED.source.splitlines()
    (fma,) = {
        row.line_in(SHARED.file)
        for row in listing_of(compiled, "ptx")
        if row.opcode.startswith("fma")
    }
    assert "WEIGHTS[" in "".join(source[fma - 1 : fma + 1])


@NEEDS_BOTH
def test_sass_of_a_rung_names_the_same_lines():
    compiled = compile_rung(SHARED, a_job("shared"), 90, with_lines=True)
    ptx, sass = (listing_of(compiled, kind) for kind in ("ptx", "sass"))
    lines = [
        {row.line_in(SHARED.file) for row in listing if row.opcode.startswith(opcode)}
        for listing, opcode in ((ptx, "fma"), (sass, "FFMA"))
    ]
    assert lines[0] == lines[1] != {0}


@NEEDS_BOTH
def test_naming_lines_changes_no_instruction():
    job = a_job("shared")
    with_lines, without = (
        listing_of(compile_rung(SHARED, job, 90, with_lines=each), "sass") for each in (True, False)
    )
    assert [row.text for row in with_lines] == [row.text for row in without]
    assert not any(row.places for row in without)


@NEEDS_BOTH
def test_what_is_no_machine_code_is_refused_in_its_words():
    with pytest.raises(CompileFailedError, match="The disassembler refuses the machine code: nv"):
        listing_of(Compiled("", "", b"nonsense"), "sass")
