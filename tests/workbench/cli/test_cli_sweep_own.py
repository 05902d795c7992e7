"""`workbench sweep --implementation ./mine.cu`, with a GPU that is made up, and without one."""

import csv
import json
from hashlib import sha256
from pathlib import Path

import pytest

from tests.kernels.cuda_child.bad_texts import text
from tests.kernels.cuda_child.conftest import use_fake_gpu
from workbench.cli import main

PLAN = """
title = "Mine"
implementation = ["sequential", "mine.cu"]
size = [24, 40]
filter = "box"
pixel_type = "uint8"

[sampling]
max_samples = 4
min_samples = 2
max_seconds = 0.05
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    Path("mine.cu").write_text(text(), encoding="utf-8")
    return tmp_path


@pytest.fixture
def gpu(children, monkeypatch):
    use_fake_gpu(monkeypatch, children)


def sweep(*words):
    return main.main(["sweep", "plan.toml", "--out", "out", *words])


def rows():
    with Path("out/session.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_plan_measures_the_kernel_beside_it(gpu, capsys, tmp_path, monkeypatch):
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")
    assert main.main(["sweep", "../plan.toml", "--out", "../out"]) == 0
    monkeypatch.chdir(tmp_path)
    printed = capsys.readouterr().out
    assert "4 cells: 2 size × 2 implementation." in printed
    found = {(each["implementation"], each["width"]): each for each in rows()}
    assert len(found) == 4
    mine = found["mine.cu", "24"]
    assert (mine["check"], mine["median_ms"], mine["device"]) == ("passed", "0.1", "NVIDIA H200")
    assert mine["text_sha256"] == sha256(text().encode()).hexdigest()
    assert found["sequential", "24"]["text_sha256"] == ""


def test_files_of_any_folder_mix_with_what_comes_with_the_program(gpu, capsys):
    Path("theirs").mkdir()
    Path("theirs/wrong.cu").write_text(text(run="wrong"), encoding="utf-8")
    names = "opencv,./mine.cu,theirs/wrong.cu"
    assert sweep("--implementation", names, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    found = {each["cell"]["implementation"]: each for each in document["records"]}
    assert list(found) == ["opencv", "mine.cu", "wrong.cu"]
    assert found["mine.cu"]["verified"]
    assert found["mine.cu"]["cell"]["text_sha256"] == sha256(text().encode()).hexdigest()
    assert found["wrong.cu"]["why_not"].startswith("Its output is WRONG in ")
    assert "median_ms" not in found["wrong.cu"]


@pytest.mark.parametrize(
    ("names", "words", "code"),
    [
        ("opencv,./no.cu", "no.cu: it cannot be read: No such file or directory.", 1),
        ("mine.cu,./again/mine.cu", "Two kernels are called mine.cu", 2),
        ("broken.cu", "broken.cu: there is no kernel in it", 1),
        ("mine", "There is no implementation 'mine'", 2),
    ],
    ids=["missing", "twice", "broken", "unknown"],
)
def test_what_cannot_be_planned_is_said_at_once(names, words, code, capsys):
    Path("again").mkdir()
    Path("again/mine.cu").write_text(text(), encoding="utf-8")
    Path("broken.cu").write_text("int x;\n", encoding="utf-8")
    assert sweep("--implementations", names, "--no-gpu") == code
    assert words in capsys.readouterr().err
    assert not Path("out").exists()
