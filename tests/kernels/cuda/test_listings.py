"""PTX and SASS as rows, and the lines of the source that they name."""

from pathlib import Path

import pytest

from kernels.core.errors import CompileFailedError
from kernels.cuda import nvrtc
from kernels.cuda.nvrtc import Compiled, Place, compile_rung, listing_of, ptx_listing, sass_listing
from kernels.rungs.rung import ladder
from tests.made_up import a_job

# small.cu, compiled for sm_90 by NVRTC 13.0, and written by nvdisasm 13.5; the folder is made up.
RECORDED = Path(__file__).with_name("recorded")
SHARED = next(rung for rung in ladder() if rung.key == "shared")
NEEDS_A_COMPILER = pytest.mark.skipif(not nvrtc.compilers(), reason="NVRTC is not installed")
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


def test_ptx_is_left_without_what_is_for_debuggers():
    texts = [row.text for row in PTX]
    assert texts[:3] == [".version 9.0", ".target sm_90", ".address_size 64"]
    assert texts[-1] == "}"
    assert "    ld.global.f32 %f1, [%rd6];" in texts
    assert not any(".loc" in text or ".file" in text or "//" in text for text in texts)
    assert [row.text for row in PTX if not row.opcode and row.places] == []


def test_sass_is_functions_labels_and_instructions():
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
