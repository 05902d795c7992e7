"""`workbench check` with a GPU, which is made up: real processes, real files, and times."""

import csv
import json
from pathlib import Path

import pytest

from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.cuda_on_cpu.regions import Region
from tests.kernels.cuda_child.bad_texts import text
from tests.made_up import H200
from workbench.batch.check_jobs import check_jobs
from workbench.batch.kernel_checks import NOT_FOUND
from workbench.cli import main

SMALL = check_jobs(0)[1]


@pytest.fixture(autouse=True)
def gpu(children, tmp_path, monkeypatch):
    """A GPU, without a compiler for the CPU, in an empty folder; pictures are small."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kernels.cuda_child.gpu_trial.MIN_DEADLINE_S", 60.0)
    monkeypatch.setattr("kernels.engine.engine.probe", lambda _: H200)
    monkeypatch.setattr("workbench.batch.kernel_checks.cuda_children", lambda _: children)
    monkeypatch.setattr("workbench.batch.kernel_checks.why_not_on_cpu", lambda: "No compiler.")
    monkeypatch.setattr("kernels.cuda_on_cpu.trial.why_not", lambda: "No compiler.")
    few = lambda seed: check_jobs(seed)[:5]  # noqa: E731
    monkeypatch.setattr("workbench.batch.kernel_checks.check_jobs", few)
    monkeypatch.setattr("workbench.batch.kernel_checks.timed_job", lambda: SMALL)


def write(**texts):
    for name, source in texts.items():
        Path(f"{name}.cu").write_text(source, encoding="utf-8")


def check(*words):
    return main.main(["check", *words])


def rows_of(said):
    return {line.split()[0]: line for line in said.splitlines() if line.startswith("  ")}


def test_what_is_right_has_a_time_and_nothing_else_has(capsys):
    write(
        right=text(),
        wrong=text(run="wrong"),
        cheat=text(run="right_at_first"),
        crash=text(run="illegal"),
        syntax=text(compile="error"),
    )
    assert check(".", "--csv", "marks.csv", "--html", "marks.html", "--find-bug") == 1
    said = capsys.readouterr().out
    rows = rows_of(said)
    assert "right on all jobs, not verified" in rows["right.cu"]
    assert "not checked for races" in rows["right.cu"]
    assert "100\u202fµs" in rows["right.cu"]
    assert [name for name, row in rows.items() if "µs" in row] == ["right.cu"]
    assert "WRONG" in rows["wrong.cu"]
    assert "accessed memory outside of all arrays" in rows["crash.cu"]
    assert "Line 8: identifier" in rows["syntax.cu"]
    assert f"On NVIDIA H200; times, of what is right, are of {SMALL.name}." in said
    with Path("marks.csv").open(encoding="utf-8", newline="") as file:
        table = {row["file"]: row for row in csv.DictReader(file)}
    assert table["right.cu"]["device"] == "NVIDIA H200"
    assert float(table["right.cu"]["median_ms"]) == pytest.approx(0.1)
    assert {row["median_ms"] for name, row in table.items() if name != "right.cu"} == {""}
    page = Path("marks.html").read_text(encoding="utf-8")
    assert ">Time<" in page
    assert "no time" not in page


def test_what_is_right_on_the_gpu_by_chance_is_not_verified(capsys, monkeypatch):
    def trial(_rung, job, **_options):
        problem = "Line 7: sum has no value."
        whole = Region(0, 0, job.width, job.height, True)
        yield KernelTrial(job, whole, answer=job.picture, problem=problem, line=7)

    monkeypatch.setattr("workbench.batch.kernel_checks.why_not_on_cpu", lambda: None)
    monkeypatch.setattr("kernels.cuda_on_cpu.trial.trial", trial)
    write(right=text())
    assert check("right.cu") == 1
    said = capsys.readouterr().out
    assert "failed" in rows_of(said)["right.cu"]
    assert "Line 7: sum has no value. So it is on the CPU" in said
    assert "Failed: a kernel did not end" in said
    assert "µs" not in rows_of(said)["right.cu"]


def test_a_bug_that_was_looked_for_in_vain_is_told_as_that(capsys, monkeypatch):
    monkeypatch.setattr("workbench.batch.kernel_checks.why_not_on_cpu", lambda: None)
    monkeypatch.setattr("kernels.cuda_on_cpu.trial.finding_bug", lambda *_, **__: iter([None]))
    write(wrong=text(run="wrong"))
    assert check("wrong.cu", "--find-bug") == 1
    row = rows_of(capsys.readouterr().out)["wrong.cu"]
    assert "samples are wrong" in row
    assert row.rstrip().endswith(NOT_FOUND)
    assert check("wrong.cu") == 1
    assert NOT_FOUND not in capsys.readouterr().out


def test_where_no_bug_can_be_looked_for_it_says_why(capsys, monkeypatch):
    monkeypatch.setattr("workbench.cli.check_kernels.why_not", lambda: "No compiler.")
    write(right=text(), wrong=text(run="wrong"))
    why = "No compiler."
    assert check("right.cu", "--find-bug") == 0
    assert f"No bug is looked for: {why}" in capsys.readouterr().err
    assert check("right.cu") == 0
    assert "No bug" not in capsys.readouterr().err
    assert check("wrong.cu", "--find-bug", "--csv", "marks.csv") == 1
    sentence = f"Its bug could not be looked for: {why}"
    assert sentence in rows_of(capsys.readouterr().out)["wrong.cu"]
    assert sentence in Path("marks.csv").read_text(encoding="utf-8")


def test_without_a_compiler_for_the_search_nothing_is_verified(capsys):
    write(right=text())
    assert check("right.cu", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)["kernels"]
    assert row["verdict"] == "unsearched"
    assert "No compiler." in row["search"]
    assert row["kernel"] is not None
    assert check("right.cu", "--strict") == 1
