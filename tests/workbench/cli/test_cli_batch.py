"""`workbench batch`: folders in, folders out, whatever breaks or stops it."""

import json
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from time import sleep

import numpy as np
import pytest
import tifffile
from PIL import Image

from kernels.pictures.generated import noise
from kernels.rungs.rung import ladder
from tests.picture_files import all_kinds
from tests.workbench.cli.batches import journal, journal_path, listening, results
from workbench.batch import batch_run
from workbench.batch.journal import NAME
from workbench.cli import filter_folders, main
from workbench.files import image_files
from workbench.imaging.pictures import Metadata


def batch(*words):
    return main.main(["batch", *words, "--filter", "sharpen", "--no-gpu"])


def apply(*words):
    return main.main(["apply", *words, "--filter", "sharpen", "--no-gpu"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with seven pictures in in/ and one below it."""
    monkeypatch.chdir(tmp_path)
    Path("in/sub").mkdir(parents=True)
    for n in range(7):
        image_files.save(f"in/p{n}.png", noise(20 + n, 31, 1 + n % 4))
    image_files.save("in/sub/q.tif", noise(9, 8, 3, "uint16"))
    return tmp_path


# -- what comes out


def test_every_kind_of_file_comes_out_as_apply_has_it_to_the_byte(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for name, content in all_kinds().items():
        Path("in", name).write_bytes(content)
    code = apply("in", "one/", "--reduce")
    alone = capsys.readouterr().err
    assert batch("in", "all", "--reduce", "--jobs", "3") == code
    together = capsys.readouterr().err
    assert len(results("one")) > 30
    assert results("all") == results("one")
    said = [each for each in sorted(together.splitlines()) if " failed; " not in each]
    assert said == sorted(alone.splitlines())
    remarks = {each["input"]: each["remarks"] for each in journal("all")}
    assert "Rotated upright (EXIF)." in remarks[str(Path("in/rgb8.png"))]


def test_what_results_lack_is_counted_and_in_the_journal(folder, capsys):
    titled = Metadata(texts=(("Title", "A day"),))
    image_files.save("in/p2.png", noise(20, 31, 3), metadata=titled)
    for extension, is_lossy in (("png", False), ("webp", True)):
        assert batch("in/p2.png", extension, "--format", extension) == 0
        told = "Of 1 result something is lost: see the journal."
        assert (told in capsys.readouterr().out) == is_lossy
        assert ("text (title, author, comment) is dropped" in str(journal(extension))) == is_lossy


def test_channels_that_are_not_read_are_lost_as_well(folder, capsys):
    how = {"photometric": "minisblack", "planarconfig": "contig"}
    tifffile.imwrite("in/p.tif", np.zeros((8, 9, 10), np.uint8), **how)
    assert batch("in/p.tif", "out", "--format", "png") == 0
    assert "result something is lost" in capsys.readouterr().out
    assert "Only the first of 10 channels is read." in str(journal("out"))


def test_what_no_saved_file_says_is_lost_as_well(folder, capsys):
    frames = [Image.new("RGB", (20, 31), color) for color in ("red", "blue")]
    frames[0].save("in/p.gif", save_all=True, append_images=frames[1:], duration=40)
    assert batch("in/p.gif", "out", "--format", "png") == 0
    assert "result something is lost" in capsys.readouterr().out
    assert "Left out when saving: durations of frames and loops" in str(journal("out"))


def test_folders_below_and_another_format_and_names_of_ones_own(folder, capsys):
    pattern = "{stem}_{filter}_{size}"
    assert batch("in", "out", "--recursive", "--name", pattern, "--format", "tiff") == 0
    names = [f"p{n}_sharpen_3.tif" for n in range(7)]
    assert sorted(results("out")) == [*names, str(Path("sub/q_sharpen_3.tif"))]
    assert {each["output"] for each in journal()} == {*names, "sub/q_sharpen_3.tif"}


def test_outside_a_part_a_picture_stays_as_it_is(folder, capsys):
    words = ("--step", "gaussian:5", "--step", "sharpen", "--no-gpu")
    where = ("--region", "4,3,20,15,2")
    assert main.main(["batch", "in", "out", *words, *where, "--verify", "all"]) == 0
    assert main.main(["batch", "in", "whole", *words]) == 0
    assert main.main(["apply", "in", "alone/", *words, *where]) == 0
    assert results("alone") == results("out")
    for n in range(7):
        before, after, whole = (
            image_files.load(f"{each}/p{n}.png").samples for each in ("in", "out", "whole")
        )
        inner = (slice(5, 16), slice(6, 22))  # where nothing of it fades
        assert np.array_equal(after[inner], whole[inner])
        assert not np.array_equal(after[3:18, 4:24], before[3:18, 4:24])
        after = after.copy()
        after[3:18, 4:24] = before[3:18, 4:24]
        assert np.array_equal(after, before)
    capsys.readouterr()
    first = journal_path().read_text().splitlines()[0]
    assert json.loads(first)["asked"]["region"] == [4, 3, 20, 15, 2]
    assert main.main(["batch", "in", "far", *words, "--region", "0,24,5,5"]) == 1
    said = capsys.readouterr().err
    assert "p0.png: The part of the picture begins at 0,24, outside 31×20." in said
    assert len(results("far")) == 2  # those that are higher


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere not every name can be had")
def test_odd_names_come_through_and_are_known_again(folder):
    data = Path("in/p0.png").read_bytes()
    odd = [b"-dash.png", b"a b.png", b"100%.png", b"{x}.png", b"l\n2.png", b"\xff\xfe.png", b"~"]
    for name in odd:
        Path(os.fsdecode(b"in/" + name)).write_bytes(data)
    words = ("in", os.fsdecode(b"in/~"), "out", "--format", "png")
    assert batch(*words) == 0
    assert len(results("out")) == 7 + len(odd)
    assert batch(*words, "--resume") == 0
    assert len(journal()) == 7 + len(odd)  # each once


# -- what is refused before anything is written


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["in", "out", "--name", "{filter}.png"],
            "would both become sharpen.png; rename one, or name them",
        ),
        (
            ["in/p1.png", "in/sub/../p1.png", "out"],
            "in/p1.png and in/sub/../p1.png would both become p1.png",
        ),
        (["in", "out", "--name", f"{{stem}}{'s' * 250}.png"], "is longer than file systems allow"),
        (["in", "out", "--name", f"{'é' * 124}{{stem}}{{ext}}.png", "--dry-run"], "is longer than"),
        (["in", "in"], "in is a folder of inputs; write to another one."),
        (["im", "out"], "There is no file or folder im"),
        (["in/p1.png", "in/sub/..", "--name", "p2"], "p2.png is an input; write to another"),
        (["in", "out", "--name", "{sigma}.png"], "can stand in braces"),
        (["in", "out", "--name", "{stem}.png", "--format", "tiff"], "choose none beside it"),
    ],
)
def test_what_would_lose_a_picture_or_makes_no_sense_is_refused(folder, capsys, words, complaint):
    Path("in/p2.png").unlink()
    os.link("in/p1.png", "in/p2.png")  # another name of it
    before = results(".")
    assert batch(*words) == 2
    assert complaint in capsys.readouterr().err
    assert results(".") == before
    assert not Path("out").exists()


def test_a_folder_that_cannot_be_made_is_named_and_not_its_journal(folder, capsys):
    Path("file").touch()
    for target in ("file", "file/deeper"):
        assert batch("in", target) == 1
        assert f"Cannot make the folder {target}: " in (said := capsys.readouterr().err)
        assert ".jsonl" not in said


def test_a_picture_whose_format_is_not_written_is_refused_with_what_to_choose(folder, capsys):
    Image.new("L", (9, 9)).save("in/moving.gif")
    for words in (["--dry-run"], ["--name", "{stem}.gif", "--dry-run"], []):
        assert batch("in", "out", *words) == 1
        said = capsys.readouterr()
        assert "moving.gif under its own extension; choose --format png." in said.err
        assert "moving" not in said.out
    assert "moving.gif" not in results("out")
    assert batch("in/moving.gif", "other", "--format", "png") == 0


def test_a_dry_run_says_what_would_be_written_and_touches_nothing(folder, capsys):
    assert batch("in", "out", "--dry-run") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"{Path('in/p0.png')} → {Path('out/p0.png')}"
    assert said[-1] == "7 pictures; nothing was written."
    assert not Path("out").exists()
    assert batch("in", "out") == 0
    for n in (0, 1, 2, 4, 5, 6):
        Path(f"out/p{n}.png").unlink()
    capsys.readouterr()
    assert batch("in", "out", "--dry-run") == 0
    there = [each for each in capsys.readouterr().out.splitlines() if "is there already" in each]
    assert there == [f"{Path('in/p3.png')} → {Path('out/p3.png')} (is there already)"]
    assert batch("in", "out", "--dry-run", "--resume", "--json") == 0
    plans = [json.loads(each) for each in capsys.readouterr().out.splitlines()]
    assert [Path(each["output"]).name for each in plans] == [
        f"p{n}.png" for n in (0, 1, 2, 4, 5, 6)
    ]
    assert not any(each["is_there"] for each in plans)


# -- what is there already, and what fails


def test_what_is_there_is_left_alone_unless_it_is_to_be_replaced(folder, capsys):
    Path("out").mkdir()
    Path("out/p2.png").write_text("mine")
    assert batch("in", "out") == 0
    assert Path("out/p2.png").read_text() == "mine"
    assert "7 pictures in" in (said := capsys.readouterr().out)
    assert "1 skipped" in said
    assert "--replace" in said
    assert batch("in", "out", "--no-replace") == 0
    assert Path("out/p2.png").read_text() == "mine"
    assert batch("in", "out", "--resume") == 0
    assert (
        "Nothing is left: 7 done already; --replace without --resume does"
        in capsys.readouterr().out
    )
    assert batch("in", "out", "--resume", "--dry-run") == 0
    assert "0 pictures, 7 done already; " in capsys.readouterr().out
    assert batch("in", "out", "--replace") == 0
    assert image_files.load("out/p2.png").samples.shape == (22, 31, 3)


def test_a_link_among_the_results_does_not_lead_the_batch_elsewhere(folder, capsys):
    Path("out").mkdir()
    Path("elsewhere.png").write_text("mine")
    for name, there in (("p2.png", "../elsewhere.png"), ("p3.png", "../new.png")):
        Path("out", name).symlink_to(there)
    for command in (batch, apply):
        assert command("in", "out/", "--replace") == 1
        said = capsys.readouterr().err
        assert said.count("a link, a device or a pipe has that name; remove it.") == 2
        assert Path("elsewhere.png").read_text() == "mine"
        assert not Path("new.png").exists()


def test_a_broken_file_is_a_line_with_its_sentence_and_the_rest_goes_on(folder, capsys):
    Path("in/p3.png").write_bytes(b"no picture")
    Path("in/p5.png").write_bytes(Path("in/p5.png").read_bytes()[:60])
    assert batch("in", "in/missing.png", "out") == 1
    said = capsys.readouterr()
    lines = {each["output"]: each for each in journal()}
    failed = {name for name, each in lines.items() if each["status"] == "failed"}
    assert failed == {"p3.png", "p5.png", "missing.png"}
    for name in failed:
        assert name in lines[name]["error"]
        assert f"workbench: {lines[name]['error']}\n" in said.err
    assert "3 failed; " in said.err
    assert "3 failed" in said.out.splitlines()[0]
    assert sorted(results("out")) == [f"p{n}.png" for n in (0, 1, 2, 4, 6)]
    image_files.save("in/p3.png", noise(9, 9, 3))
    image_files.save("in/p5.png", noise(9, 9, 3))
    before = results("out")
    assert batch("in", "out", "--resume") == 0
    assert len(results("out")) == 7
    assert before.items() <= results("out").items()
    assert len(journal()) == 10  # none of what was done was done again


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.parametrize("what", ["pipe", "zero", "link", "link to a file", "folder"])
@pytest.mark.parametrize("words", [(), ("--resume", "--dry-run")])
def test_a_journal_that_is_no_file_is_a_sentence(folder, capsys, what, words):
    Path("out").mkdir()
    path, elsewhere = Path("out") / NAME, Path("elsewhere")
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if what == "zero" else elsewhere.absolute())
    if what == "link to a file":
        elsewhere.write_text("mine")
    assert batch("in", "out", *words) == 1
    said = capsys.readouterr()
    assert said.err.startswith("workbench: Cannot ")
    assert said.err.count("\n") == 1
    assert [each.name for each in Path("out").iterdir()] == [NAME]
    assert elsewhere.read_text() == "mine" if what == "link to a file" else not elsewhere.exists()


@pytest.fixture
def stopped(monkeypatch):
    """Runs a batch that this signal ends when two pictures at least are done, and not all."""

    def run(*words, number=signal.SIGINT):
        real, calls = batch_run.filter_, []

        def interrupted(*arguments):
            calls.append(arguments)
            if len(calls) == 6:  # at most four are under way
                signal.raise_signal(number)
            real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(batch_run, "filter_", interrupted)
            return batch("in", "out", "--jobs", "1", *words)

    return run


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_was_done_before_it_was_told_to_end_is_in_the_journal(
    folder, capsys, stopped, number, code
):
    assert stopped(number=number) == code
    said = capsys.readouterr()
    assert "the same command with --resume does the rest" in said.err
    assert said.out.splitlines()[0].endswith(f": {len(journal())} done.")
    assert {each["output"] for each in journal()} == set(results("out"))
    assert len(journal()) == 6  # what was being filtered is finished
    assert batch("in", "out", "--resume") == 0
    assert len(results("out")) == len(journal()) == 7


@pytest.mark.parametrize("words", [["--replace"], ["--resume", "--replace"]])
def test_what_a_run_replaces_is_replaced_after_a_stop_as_well(folder, stopped, words):
    assert main.main(["batch", "in", "out", "--filter", "box", "--no-gpu"]) == 0
    boxes = results("out")
    assert "--resume" not in words or batch("in", "out") == 0  # which skips them all
    assert stopped(*words) == 130
    assert boxes.items() & results("out").items()
    assert batch("in", "out", "--resume") == 0
    assert apply("in", "one/") == 0
    assert results("out") == results("one")


def test_what_is_another_since_it_was_done_is_done_again(folder, capsys):
    assert batch("in", "out") == 0
    Path("out/p1.png").unlink()
    image_files.save("in/p2.png", noise(9, 9, 3))
    Path("out/p3.png").write_text("mine")
    os.utime("in/p4.png", ns=(0, 0))
    capsys.readouterr()
    assert batch("in", "out", "--resume", "--dry-run") == 0
    *plan, end = capsys.readouterr().out.splitlines()
    assert [each.split()[0] for each in plan] == [f"in{os.sep}p{n}.png" for n in (1, 2, 3, 4)]
    assert [each for each in plan if "is there already" in each] == plan[2:3]
    assert end == "4 pictures, 3 done already; nothing was written."
    assert batch("in", "out", "--resume") == 0
    assert ": 1 skipped, 3 done." in (said := capsys.readouterr().out)
    assert "3 done already; --replace without --resume does all again." in said
    assert Path("out/p3.png").read_text() == "mine"
    assert batch("in", "out", "--resume", "--replace") == 0
    assert apply("in", "one/") == 0
    assert results("out") == results("one")
    image_files.save("in/p5.png", noise(9, 9, 3))
    Path("in/p6.png").write_bytes(b"broken")  # whose old result stays, and is not taken for done
    for _ in range(2):
        assert batch("in", "out", "--resume") == 1
    image_files.save("in/p6.png", noise(9, 9, 3))
    assert batch("in", "out", "--resume") == 0
    assert apply("in", "one/", "--replace") == 0
    assert results("out") == results("one")


def test_a_kernel_that_was_edited_does_not_do_the_rest(folder, capsys):
    Path("in/p0.png").write_bytes(b"broken")
    Path("own.cu").write_text(text := ladder()[0].source)
    words = ("batch", "in/p0.png", "out", "--filter", "box", "--implementation", "./own.cu")
    assert main.main([*words, "--no-gpu"]) == 1
    Path("own.cu").write_text(f"{text}\n// edited\n")
    assert main.main([*words, "--no-gpu", "--resume"]) == 1
    assert "was begun with other options (user_kernel)" in capsys.readouterr().err


def test_a_terminal_is_told_how_far_it_is_and_the_end_is_a_table(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("workbench.cli.filter_folders.NEWS_S", 0.0)
    assert batch("in", "out") == 0
    said = capsys.readouterr()
    assert "\r\x1b[K7 of 7" in said.err
    assert "is the limit" in said.err
    assert said.err.endswith("\r\x1b[K")
    assert said.out.splitlines()[0].endswith(": 7 done.")
    assert "stage" in said.out
    first, *_, limit, where = said.out.splitlines()
    assert first.startswith("Sharpen 3×3 · border clamp · auto: 7 pictures in ")
    assert "checked 1 of 7: right" in first
    assert "checked 1 of 7: right · " in said.err
    assert limit.startswith("The limit was ")
    assert where == f"Journal: {journal_path()}"
    assert not journal_path().is_relative_to(folder / "out")


# -- for programs


@pytest.fixture
def controlled(folder, monkeypatch, capsys):
    """Runs a batch that listens; `act` is called with the pipe to it, in a thread."""

    def run(*words, act=lambda pipe: None):
        with listening(monkeypatch, act):
            code = batch("in", "out", "--jobs", "1", "--control", *words)
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def test_a_program_is_told_how_far_it_is_and_of_what_is_under_way_until_it_is_finished(
    controlled, monkeypatch
):
    monkeypatch.setattr(filter_folders, "monotonic", lambda: 99.0)  # no news for the time alone
    code, lines = controlled()
    assert code == 0
    first = lines[0]["progress"]
    assert (first["total"], first["finished"], first["stages"]) == (7, 0, [])
    assert {"failed", "per_s", "left_s", "limit"} < set(first)
    assert lines[-1]["ended"]["counts"] == {"done": 7}
    assert sum("status" in each for each in lines) == 7
    told = [""]
    for line, following in pairwise(lines):
        told.append(line["progress"]["under_way"] if "progress" in line else told[-1])
        if line.get("output") == told[-1]:
            assert following["progress"]["under_way"] != told[-1]
    assert any(told)


def test_what_is_left_counts_no_results_of_pictures_that_are_gone(controlled):
    controlled()
    for n in range(4):
        Path(f"in/p{n}.png").unlink()
    image_files.save("in/new.png", noise(9, 8, 3))
    code, lines = controlled("--resume")
    assert (code, lines[0]["progress"]["total"]) == (0, 1)
    assert lines[-1]["ended"]["counts"] == {"done": 1}


@pytest.mark.parametrize("word", ["pause\nstop\n", ""])
def test_a_program_stops_it_and_it_goes_on_later(folder, controlled, word):
    for n in range(24):
        image_files.save(f"in/m{n}.png", noise(300, 300, 3))

    def stop(pipe):
        while not list(Path("out").glob("*.png")):
            sleep(0.005)
        pipe.write(word)
        pipe.close()

    code, lines = controlled(act=stop)
    assert code == 143
    done = lines[-1]["stopped"]["counts"].get("done", 0)
    assert 0 < done < 31
    assert len(results("out")) == done
    code, lines = controlled("--resume")
    assert (code, lines[-1]["ended"]["counts"]) == (0, {"done": 31 - done})
    assert len(results("out")) == 31


def test_the_end_of_its_input_stops_it_before_it_begins(folder, monkeypatch, capsys):
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert batch("in", "out", "--control") == 143
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["stopped"]["counts"].get("done", 0) < 7


def test_shards_together_are_the_whole_and_merge(folder, capsys):
    assert batch("in", "whole", "--recursive") == 0
    for number in (3, 1, 4, 2):
        assert batch("in", "out", "--recursive", "--shard", f"{number}/4") == 0
    assert results("whole") == {
        name: data for name, data in results("out").items() if not name.endswith(".jsonl")
    }
    capsys.readouterr()
    assert batch("--merge", "out", "out", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"merged": {"counts": {"done": 8}}}
    outputs = [each["output"] for each in journal()]
    assert len(outputs) == len(set(outputs)) == 8
    assert batch("in", "out", "--recursive", "--resume", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ended"]["counts"] == {}
