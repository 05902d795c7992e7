"""`workbench source`: a kernel's text, PTX and SASS."""

import json

import pytest

from kernels.cuda import nvrtc
from kernels.rungs.rung import ladder
from tests.compilers import needs_nvrtc
from workbench.cli import main

SHARED = next(rung for rung in ladder() if rung.key == "shared")


@pytest.fixture
def source(capsys):
    """Runs the command; gives its exit code, and both streams as one text."""

    def run(*words):
        code = main.main(["source", *words])
        streams = capsys.readouterr()
        return code, streams.out + streams.err

    return run


@needs_nvrtc
def test_each_instruction_stands_behind_its_line(source):
    code, said = source("shared", "--ptx", "--size", "3", "--architecture", "80")
    assert code == 0
    assert ".target sm_80" in said
    numbers = {row[:5].strip() for row in said.splitlines() if " fma." in row}
    (line,) = map(int, numbers)
    assert "WEIGHTS[" in "".join(SHARED.source.splitlines()[line - 1 : line + 1])


@needs_nvrtc
def test_json_has_each_instruction_with_its_line(source):
    code, said = source("shared", "--ptx", "--json")
    assert code == 0
    found = json.loads(said)
    (line,) = {row["line"] for row in found["rows"] if row["opcode"] == "bar.sync"}
    assert "__syncthreads" in SHARED.source.splitlines()[line - 1]
    assert found["resources"][0]["function"] == "convolve"


def test_a_program_is_of_a_rung_or_of_a_whole_list(source):
    code, said = source("shared", "--program", "--picture", "70x50", "--size", "3")
    assert code == 0
    assert "WIDTH = 70, HEIGHT = 50" in said
    listed = "gaussian:5 + gradient"
    code, said = source("list_ring", "--program", "--picture", "70x50", "--filter", listed)
    assert code == 0
    assert "Gaussian blur, 5x5 weights; then Gradient" in said
    code, said = source("list_ring", "--program", "--filter", "gaussian:5 + bilateral")
    assert code == 1
    assert "A whole list in one launch takes" in said


def test_without_the_disassembler_a_sentence_says_how_to_get_it(source, monkeypatch):
    monkeypatch.setattr(nvrtc, "the_program", lambda: None)
    monkeypatch.setattr(
        "workbench.cli.rung_commands.compile_rung", lambda *_, **__: nvrtc.Compiled("", "", b"code")
    )
    code, said = source("shared", "--sass")
    assert code == 1
    assert "nvidia-cuda-nvdisasm" in said


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["nothing"], 2, "'nothing'"),
        (["shared", "--json"], 2, "--ptx"),
        (["shared", "--program", "--sass"], 2, "three texts"),
        (["missing.cu", "--ptx"], 1, "missing.cu"),
        (["gradient", "--ptx"], 1, "gradient"),
        (["shared", "--ptx", "--size", "4"], 2, "odd"),
    ],
)
def test_what_makes_no_sense_is_said(words, code, sentence, source):
    found, said = source(*words)
    assert said.startswith("workbench: ")
    assert sentence in said
    assert found == code
