"""Lists of steps on the command line: what comes out, what is told of it, and what is refused."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernels import Engine
from kernels.engine import engine
from kernels.pictures.generated import noise
from tests.workbench.cli.batches import journal, journal_path, results
from workbench.batch.filtering import Recipe
from workbench.cli import main
from workbench.cli.recipe_options import changes_of
from workbench.files import image_files
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.state import State

STEPS = ("--step", "gaussian:7,sigma=1.5", "--step", "edges:3,implementation=parallel")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with four pictures in in/."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for n, channels in enumerate((1, 3, 4, 2)):
        image_files.save(f"in/p{n}.png", noise(40 + n, 50, channels))
    return tmp_path


def run(*words):
    return main.main([*words, "--no-gpu"])


def state_of(*words, picture=None):
    arguments = main.parse(["apply", "in", "out", *words])
    return replace(State(picture=picture), **changes_of(arguments, State()))


def answer(name, *words):
    state = state_of(*words, picture=Picture("", image_files.load(name).samples))
    job = intents.job_for(state)
    return Engine(use_gpu=False).run(replace(job, picture=state.picture.samples)).picture


@pytest.mark.parametrize("more", [(), ("--round-between",), ("--border", "zero")])
def test_the_file_written_is_what_all_steps_make_and_the_line_names_them(folder, capsys, more):
    assert run("apply", "in/p2.png", "out.png", *STEPS, *more) == 0
    np.testing.assert_array_equal(
        image_files.load("out.png").samples, answer("in/p2.png", *STEPS, *more)
    )
    line = capsys.readouterr().out.replace("\u202f", " ")
    assert line.startswith("p2.png → out.png: gaussian 7×7 ▸ edges 3×3, auto: opencv ▸ parallel: ")
    assert " (a sum of 2 steps), steps " in line or "--round-between" in more
    assert "verified, " in line
    assert "checked all pixels" in line


def test_a_record_tells_each_step_with_what_ran_its_time_and_check(folder, capsys):
    assert run("apply", "in/p1.png", "out.png", *STEPS, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["steps"] == ["gaussian:7,sigma=1.5", "edges:3,implementation=parallel"]
    assert (record["filter"], record["round_between_steps"]) == (None, False)
    assert [each["step"] for each in record["runs"]] == record["steps"]
    assert [each["implementation"] for each in record["runs"]] == ["opencv", "parallel"]
    assert all(each["check"]["ok"] and each["n"] > 0 for each in record["runs"])
    total = sum(each["median_ms"] for each in record["runs"])
    assert record["median_ms"] == pytest.approx(total)
    assert run("apply", "in/p1.png", "other.png", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["filter"], record["steps"], record["runs"]) == ("gaussian", None, [])


def test_one_step_is_the_filter_and_keeps_its_implementation(folder, capsys):
    assert run("apply", "in/p1.png", "a.png", "--step", "box:7,implementation=parallel") == 0
    assert "box 7×7, parallel: time" in capsys.readouterr().out
    assert run("apply", "in/p1.png", "b.png", "--filter", "box", "--size", "7") == 0
    np.testing.assert_array_equal(
        image_files.load("a.png").samples, image_files.load("b.png").samples
    )


def test_options_are_of_all_steps_or_of_one(folder):
    state = state_of(*STEPS, "--implementation", "sequential", "--block", "8x8")
    assert {(each.implementation, each.block_xy) for each in state.steps} == {
        ("sequential", (8, 8))
    }
    assert state_of("--step", "bilateral:9,sigma-colour=0.2").sigma_colour == 0.2


def test_a_file_and_a_list_by_name_are_read(folder, capsys):
    Path("mine.toml").write_text('border = "wrap"\n[[step]]\nfilter = "box"\nsize = 7\n')
    assert [each.filter for each in state_of("--steps", "sketch").steps] == [
        *("gaussian", "gradient", "custom")
    ]
    state = state_of("--steps", "mine.toml", "--border", "zero")
    assert (state.filter, state.ksize, state.border) == ("box", 7, "zero")
    Path("mine.toml").write_text('[[step]]\nfilter = "bix"\n')
    for words, said in (
        (
            ("--steps", "mine.toml"),
            "mine.toml, line 2: There is no filter 'bix'; did you mean box?",
        ),
        (("--steps", "gone.toml"), "gone.toml cannot be read: No such file or directory."),
        (("--steps", "skatch"), "There is no list 'skatch'; did you mean sketch?"),
        (("--steps", "median:3"), "--steps names a list; a step is --step median:3."),
        (("--step", "box:4"), "box:4: size must be an odd number"),
        (("--step", "box", "--steps", "sketch"), "both name the steps"),
        (("--step", "box", "--size", "3"), "--size is a step's: write it there"),
        (("--step", "box,implementation=mine.cu"), "A user kernel is one filter"),
        ((*STEPS, "--implementation", "./mine.cu"), "A user kernel is one filter"),
        (("--round-between",), "--round-between is for several steps"),
        (("--step", "box") * 9, "A list has 1 to 8 steps, not 9."),
    ):
        assert run("apply", "in/p1.png", "out.png", *words) == 2
        assert said in capsys.readouterr().err


def test_every_bell_that_is_cut_off_and_sums_below_zero_are_told_of(folder, capsys):
    words = ("--step", "gaussian:3,sigma=4", "--step", "gaussian,sigma=2", "--step", "sobel_x")
    assert run("apply", "in/p1.png", "out.png", *words) == 0
    said = capsys.readouterr()
    assert said.err.count(" of the bell") == 1
    assert "gaussian 3×3 ▸ gaussian 13×13 ▸ sobel_x 3×3" in said.out
    assert "sums below 0 become 0" in said.out


def test_a_step_that_is_wrong_is_named_and_nothing_is_written(folder, capsys, monkeypatch):
    real = engine.checking

    def wrong(job, *more):
        for check in real(job, *more):
            yield replace(check, wrong=3) if job.title == "Edges" and job.is_one_launch else check

    monkeypatch.setattr(engine, "checking", wrong)
    assert run("apply", "in/p1.png", "out.png", *STEPS) == 1
    assert "p1.png: Edges: WRONG in 3 samples" in capsys.readouterr().err
    assert not Path("out.png").exists()


# -- a batch


def test_a_batch_names_its_files_by_all_steps_and_equals_apply(folder):
    assert run("batch", "in", "out", *STEPS, "--name", "{stem}_{filter}_{size}.png") == 0
    assert sorted(results("out")) == [f"p{n}_gaussian-edges_7-3.png" for n in range(4)]
    assert run("apply", "in", "one/", *STEPS) == 0
    assert {name[:2]: data for name, data in results("out").items()} == {
        name[:2]: data for name, data in results("one").items()
    }


def test_a_batch_is_resumed_with_the_same_steps_alone(folder, capsys):
    words = ("batch", "in", "out", *STEPS)
    assert run(*words) == 0
    assert len(journal()) == 4
    for n in (2, 3):
        Path(f"out/p{n}.png").unlink()
    others = (*STEPS[:3], "edges:5,implementation=parallel")
    for more in ([*words[:3], *others], [*words, "--round-between"], [*words[:3], "--size", "7"]):
        assert run(*more, "--resume") == 1
        assert "was begun with other options (" in capsys.readouterr().err
    assert run(*words, "--resume") == 0
    assert len(journal()) == 6
    asked = json.loads(journal_path().read_text().splitlines()[0])["asked"]
    assert asked["steps"] == ["gaussian:7,sigma=1.5", "edges:3,implementation=parallel"]
    assert run("apply", "in", "one/", *STEPS) == 0
    assert results("out") == results("one")


def test_the_recipe_of_a_list_reaches_the_workers_of_a_cluster():
    recipe = Recipe(state_of(*STEPS))
    assert pickle.loads(pickle.dumps(recipe)) == recipe


@pytest.mark.parametrize(
    "border", ["wrap", *(pytest.param(e, marks=pytest.mark.nightly) for e in ("clamp", "mirror"))]
)
def test_strips_of_a_large_picture_are_the_wholes_bytes(folder, capsys, border):
    image_files.save("in.tif", noise(900, 300, 3))
    steps = ("--step", "gaussian:9", "--step", "unsharp:5,mix=0.5", "--step", "gradient")
    how = ("--border", border, "--implementation", "parallel")
    assert run("apply", "in.tif", "whole.tif", *steps, *how) == 0
    assert run("apply", "in.tif", "out.tif", *steps, *how, "--memory", "2M", "--json") == 0
    record = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert record["strips"] > 2
    assert [each["implementation"] for each in record["runs"]] == ["parallel"] * 3
    assert record["check"]["ok"]
    np.testing.assert_array_equal(
        image_files.load("out.tif").samples, image_files.load("whole.tif").samples
    )


def test_ranks_of_a_transparent_picture_show_no_black_and_say_what_becomes_of_alpha(folder, capsys):
    picture = np.zeros((21, 21, 4), np.uint8)
    picture[5:16, 5:16] = 255  # white on clear
    image_files.save(folder / "in.png", picture)
    for step, said in (
        ("gaussian:5", "alpha is filtered as well"),
        ("median:5", "alpha stays"),
        ("minimum:3", "alpha stays"),
        ("black_hat:5", "alpha stays"),
    ):
        files = str(folder / "in.png"), str(folder / "out.png")
        assert run("apply", *files, "--step", step, "--replace") == 0
        assert said in (out := capsys.readouterr().out)
        assert "verified" in out
        found = image_files.load(folder / "out.png").samples
        is_seen = found[..., 3] > 0
        assert is_seen.any()
        assert (found[is_seen][:, :3] == 255).all() or step == "black_hat:5"
        assert np.array_equal(found[..., 3], picture[..., 3]) == (said == "alpha stays")
