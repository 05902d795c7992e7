"""`workbench tune` and `launch`: on a GPU that is made up, and without one."""

import json
from operator import itemgetter

import pytest

from kernels.core.job import Ran
from kernels.engine import job_comparison
from tests.workbench.engines import MadeUpGpu
from workbench.cli import main, rung_commands

ONE_KIND = ("--filter", "random", "--size", "3", "--picture", "20x30", "--pixel-type", "uint8")


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Where measurements are kept; commands run on a made-up GPU."""
    monkeypatch.setenv("FILTER_WORKBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(rung_commands, "engine_maker", lambda arguments: MadeUpGpu)
    return tmp_path / "measurements.json"


def kinds_in(path):
    (device,) = json.loads(path.read_text())["devices"].values()
    return [each["kind"] for each in device["kinds"]]


def test_a_kind_s_line_names_the_quickest_way(path, capsys):
    assert main.main(["tune", "--quick", *ONE_KIND]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("1 kind of jobs on NVIDIA Made Up 1")
    assert "1 × uint8, general 3×3, border clamp, 2^9 pixels: " in said.out
    assert f"Kept in {path}." in said.out
    assert said.err == ""
    assert [kind["ksize"] for kind in kinds_in(path)] == [3]


def test_json_is_one_document_on_stdout_and_all_else_on_stderr(path, capsys):
    assert main.main(["tune", "--quick", *ONE_KIND, "--json"]) == 0
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert said.out.count("\n") == 1
    assert "1 kind of jobs on" in said.err
    (kind,) = data["kinds"]
    way = ("implementation", "block_xy", "median_ms")
    tried = [[each[name] for name in way] for each in kind["tried"] if each["why_not"] is None]
    assert len(tried) > 1
    assert [kind["best"][name] for name in way] in tried
    (device,) = json.loads(path.read_text())["devices"].values()
    quickest = min(device["kinds"][0]["measured"], key=itemgetter("median_ms"))
    assert kind["best"]["median_ms"] <= quickest["high_ms"]  # it is that, or ties with it
    assert (data["command"], data["file"]) == ("tune", str(path))


def test_ctrl_c_keeps_what_was_measured(path, monkeypatch, capsys):
    measure_checked, tried = job_comparison.measure_checked, []

    def interrupted(*arguments):
        tried.append(arguments)
        if len(tried) == 3:
            raise KeyboardInterrupt
        return measure_checked(*arguments)

    monkeypatch.setattr(job_comparison, "measure_checked", interrupted)
    assert main.main(["tune", "--quick", *ONE_KIND]) == 130
    assert "Stopped; " in capsys.readouterr().out
    (device,) = json.loads(path.read_text())["devices"].values()
    assert len(device["kinds"][0]["measured"]) == 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--filter", "gausian"], "There is no filter 'gausian'"),
        (["--border", "none"], "Unknown border 'none'"),
        (["--filter", "sobel_x", "--size", "5"], "Sobel X has no size 5"),
        (["--filter", "random", "--size", "4"], "odd"),
        (["--filter", "gausian", "--no-gpu"], "There is no filter 'gausian'"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_measured(words, complaint, path, capsys):
    assert main.main(["tune", *words]) == 2
    assert complaint in capsys.readouterr().err
    assert not path.exists()


def test_by_default_there_are_kinds_of_every_sort(path):
    def count(*words):
        jobs = rung_commands.jobs_for(main.parse(["tune", *words]))
        return len(jobs)

    assert count() == 2 * 3 * 3 * 6
    assert count("--quick") == 2 * 2 * 4
    assert count("--filter", "sobel_x,gaussian", "--picture", "20x30") == 3 * (1 + 6)


def test_a_launch_is_of_the_job_that_the_words_make(monkeypatch, capsys):
    asked = []

    class Launching(MadeUpGpu):
        def launch_once(self, job):
            asked.append(job)
            return (Ran("shared.convolve", None, (3, 2), (32, 8), 40, 1664),)

    monkeypatch.setattr("workbench.cli.rung_commands.engine_maker", lambda arguments: Launching)
    words = ["--implementation", "shared", "--size", "7", "--picture", "30x20", "--block", "16x4"]
    assert main.main(["launch", *words, "--pixel-type", "uint8", "--channels", "3"]) == 0
    (job,) = asked
    assert (job.implementation, job.ksize, job.block_xy) == ("shared", 7, (16, 4))
    assert (job.width, job.height, job.channels, job.pixel_type) == (30, 20, 3, "uint8")
    assert "shared.convolve, grid 3×2" in capsys.readouterr().out
