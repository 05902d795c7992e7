"""`workbench bench cpu`: what it compares, and what it makes of it."""

import json

import numpy as np
import pytest

from kernels.oracle.checking import checking
from workbench.cli import main
from workbench.cli.benches import cpu, cpu_ways
from workbench.cli.benches.cpu import job_of


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(cpu, "SECONDS", 0.0)
    monkeypatch.setattr(cpu, "PICTURES", ((60, 80, 3, "uint8"), (64, 64, 1, "float32")))


def test_every_cell_is_told_beside_plain_calls(quick, capsys, tmp_path):
    path = tmp_path / "cpu.json"
    assert main.main(["bench", "cpu", "--cells", "(gaussian|box) (3|7)", "--json", str(path)]) == 0
    said = capsys.readouterr().out
    found = json.loads(path.read_text(encoding="utf-8"))
    assert [row["cell"] for row in found["rows"]][:2] == [
        "gaussian 3 80×60×3 uint8",
        "gaussian 7 80×60×3 uint8",
    ]
    for row in found["rows"]:
        assert row["cell"] in said
        assert {each["library"] for each in row["others"]} >= {"cv2", "SciPy"}
        assert all(
            each["ms"] > 0 and each["runs"] >= cpu.MIN_ROUNDS for each in row["ours"].values()
        )
        assert any(each["ms"] for each in row["others"] if each["library"] == "cv2")
    assert "best plain cv2 call" in said
    assert found["closing"][0] in said


@pytest.mark.skipif(cpu_ways.c_loop() is None, reason="there is no C compiler with OpenMP")
@pytest.mark.parametrize("pixel_type", cpu_ways.C_TYPES)
@pytest.mark.parametrize("ksize", [3, 9])
def test_the_loop_in_c_is_right(pixel_type, ksize):
    job = job_of("random", ksize, 33, 47, 4 - (pixel_type == "uint8"), pixel_type)
    ways = [way for way in cpu_ways.ways("random", job) if way.library == "C"]
    *_, check = checking(job, ways[0].run(), cpu.tolerance(job))
    alpha = int(job.has_alpha)  # the loop knows no alpha
    assert check.ok or (alpha and check.worst[2] == 3)


def test_an_answer_that_is_another_one_has_no_time(quick, monkeypatch):
    wrong = cpu_ways.CpuWay("SciPy", "nothing", lambda: np.zeros((64, 64, 1), np.float32))
    monkeypatch.setattr(cpu, "ways", lambda *_: [wrong])
    row = cpu.measured("box", job_of("box", 3, 64, 64, 1, "float32"))
    assert row.others[0].ms is None
    assert row.ratio("opencv", "SciPy") is None


def test_a_wrong_answer_of_ours_is_told_and_fails(quick, monkeypatch, capsys):
    right = cpu.max_error
    monkeypatch.setattr(
        cpu,
        "max_error",
        lambda job, entry: 9.0 if entry.way.library == "ours" else right(job, entry),
    )
    assert main.main(["bench", "cpu", "--cells", "box 3.*uint8"]) == 1
    assert "box 3 80×60×3 uint8: opencv is off by 9, which is WRONG" in capsys.readouterr().out
