"""PTX and SASS as rows, and the lines of the source that they name."""

from pathlib import Path

import pytest

from kernels.core.errors import CompileFailedError
from kernels.cuda import nvdisasm, nvrtc
from kernels.cuda.listings import Place, listing_of, numbered, ptx_listing, sass_listing
from kernels.cuda.nvrtc import Compiled, compile_rung
from kernels.cuda.sass_diff import KindChange, changes_of, kind_of
from kernels.rungs.rung import ladder
from tests.made_up import a_job

# small.cu, compiled for sm_90 by NVRTC 13.0, and written by nvdisasm 13.5; the folder is made up.
RECORDED = Path(__file__).with_name("recorded")
SHARED = next(rung for rung in ladder() if rung.key == "shared")
NEEDS_A_COMPILER = pytest.mark.skipif(not nvrtc.compilers(), reason="NVRTC is not installed")
NEEDS_BOTH = pytest.mark.skipif(
    not nvrtc.compilers() or nvdisasm.the_program() is None,
    reason="NVRTC or nvidia-cuda-nvdisasm is not installed",
)


def recorded(name):
    return (RECORDED / name).read_text(encoding="utf-8")


PTX, SASS = ptx_listing(recorded("small.ptx")), sass_listing(recorded("small.sass"))


@pytest.fixture
def without_nvdisasm(monkeypatch):
    monkeypatch.setattr(nvdisasm, "the_program", lambda: None)


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


def test_a_function_begins_without_the_lines_of_the_one_before():
    place = '\t//## File "C:\\kernels\\small.cu", line 6\n'
    first, second = f"one:\n{place}        /*0000*/  EXIT ;", "two:\n        /*0000*/  EXIT ;"
    rows = sass_listing(f"{first}\n{second}\n")
    assert [row.line_in("small.cu") for row in rows] == [0, 6, 0, 0]


def test_two_lines_of_one_address_are_not_a_call():
    text = "".join(f'\t//## File "/a/small.cu", line {line}\n' for line in (3, 4))
    (row,) = sass_listing(f"{text}        /*0000*/  EXIT ;")
    assert row.places == (Place("small.cu", 4),)


def test_the_line_stands_before_its_instruction():
    assert numbered(PTX[0], "small.cu") == "       .version 9.0"
    store = next(row for row in SASS if row.opcode == "STG.E")
    assert numbered(store, "small.cu") == "   14      STG.E desc[UR4][R4.64], R11"


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        *(("LDG.E.U8.CONSTANT", "LDG"), ("FFMA", "FFMA"), ("IMAD.MOV.U32", "IMAD")),
        *(("ld.global.nc.u8", "ld.global"), ("fma.rn.ftz.f32", "fma"), ("ret", "ret")),
        ("cvta.to.global.u64", "cvta"),
    ],
)
def test_instructions_are_counted_by_kind(opcode, kind):
    assert kind_of(opcode) == kind


def test_what_two_listings_differ_in_is_told_by_kind_and_by_row():
    text = recorded("small.sass")
    gone = next(line for line in text.splitlines(keepends=True) if "LDG.E R11" in line)
    changes = changes_of(SASS, sass_listing(text.replace(gone, "").replace("FADD R11", "FFMA R9")))
    assert changes.kinds[:3] == (
        *(KindChange("FFMA", 2, 3), KindChange("LDG", 3, 2), KindChange("FADD", 1, 0)),
    )
    assert changes.count == KindChange("", 22, 21)
    assert (changes.marked("+"), changes.marked("−")) == (1, 2)
    assert [row.opcode for mark, row in changes.rows if mark == "−"] == ["LDG.E", "FADD"]


@pytest.mark.parametrize("name", ["small.ptx", "small.sass"])
def test_other_registers_and_labels_are_no_difference(name):
    text = recorded(name)
    other = text.replace("R11", "R21").replace("%f5", "%f7").replace("P0", "P3")
    other = other.replace("L_x_1", "L_x_9").replace("BB0_2", "BB0_4")
    assert other != text
    read = ptx_listing if name.endswith("ptx") else sass_listing
    changes = changes_of(read(text), read(other))
    assert {mark for mark, _ in changes.rows} == {" "}


def test_of_long_listings_the_counts_alone_are_compared():
    changes = changes_of(PTX, SASS * 500)
    assert changes.count.now == 22 * 500
    assert not changes.is_by_row
    assert (changes.marked("+"), changes.marked("−")) == (0, 0)


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


def test_without_the_disassembler_it_says_what_would_help(without_nvdisasm):
    with pytest.raises(CompileFailedError, match="pip install nvidia-cuda-nvdisasm"):
        listing_of(Compiled("", "", b"code"), "sass")


def test_a_program_that_does_not_run_is_told(tmp_path, monkeypatch):
    broken = tmp_path / "nvdisasm"
    broken.write_bytes(b"not a program")
    monkeypatch.setattr(nvdisasm, "the_program", lambda: broken)
    with pytest.raises(CompileFailedError, match=r"nvdisasm does not run: .*"):
        nvdisasm.disassembled(b"code")


@pytest.mark.parametrize("place", ["cu13/bin/nvdisasm", "cu13/bin/nvdisasm.exe"])
def test_the_package_s_program_is_found(place, tmp_path, monkeypatch):
    program = tmp_path / place
    program.parent.mkdir(parents=True)
    program.touch()

    class Found:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr("importlib.util.find_spec", lambda name: Found)
    assert nvdisasm.the_program.__wrapped__() == program
