"""`workbench apply` on folders, on standard streams, several at a time, and for programs."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile

from kernels.pictures import generated
from workbench.batch import batch_run
from workbench.cli import main
from workbench.files import image_files

needs_dev_full = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with two pictures and a folder of several."""
    monkeypatch.chdir(tmp_path)
    Path("in/sub").mkdir(parents=True)
    for name, channels in (("a", 3), ("b", 1), ("in/p10", 3), ("in/p2", 1), ("in/sub/c", 3)):
        image_files.save(f"{name}.png", generated.noise(20, 30, channels))
    image_files.save("in/.hidden.png", generated.noise(5, 5, 1))
    Path("in/notes.txt").write_text("no picture")
    return tmp_path


def apply(*words):
    return main.main(["apply", *words, "--no-gpu"])


@pytest.fixture
def piped(monkeypatch):
    """Runs the command with pipes; gives its exit code, and the bytes of its stdout and stderr."""

    def run(*words, stdin=b""):
        streams = {name: io.TextIOWrapper(io.BytesIO()) for name in ("stdout", "stderr")}
        streams["stdin"] = io.TextIOWrapper(io.BytesIO(stdin))
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        code = apply(*words)
        sys.stderr.flush()
        return code, *(streams[name].buffer.getvalue() for name in ("stdout", "stderr"))

    return run


def files(path):
    return sorted(str(each.relative_to(path)) for each in Path(path).rglob("*") if each.is_file())


def inodes(path):
    return {name: (Path(path) / name).stat().st_mtime_ns for name in files(path)}


# -- folders


def test_pictures_of_a_folder_are_filtered_as_a_person_sorts_them_or_with_its_folders(
    folder, capsys
):
    assert apply("in", "out") == 0
    assert files("out") == ["p10.png", "p2.png"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["p2.png", "p10.png"]
    assert apply("in", "in/out/", "--recursive") == 0
    wanted = ["p10.png", "p2.png", "sub/c.png"]
    assert files("in/out") == wanted
    assert apply("in", "in/out/", "--recursive") == 0
    assert files("in/out") == wanted


def test_a_folder_without_pictures_is_said_and_the_others_are_done(folder, capsys):
    Path("empty").mkdir()
    assert apply("empty", "a.png", "out/") == 1
    assert "empty; --recursive" in capsys.readouterr().err
    assert files("out") == ["a.png"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["in", "in"], "p2.png is an input"),
        (["in", "out.png"], "out.png must be a folder"),
        (["in", "in/sub/../", "--recursive"], "is an input"),
        (
            ["a.png", "sub2/a.png", "out"],
            "a.png and sub2/a.png would both become a.png; rename one, or leave",
        ),
        (["a.png", "out.png", "--format", "tiff"], "--format is for folders and -"),
        (
            ["a.png", "a.bmp", "out/", "--format", "png"],
            'a.png and a.bmp would both become a.png; rename one, or name them "{stem}_',
        ),
        (["a.png", "-", "-"], "takes one picture"),
        (["in", "-"], "takes one picture"),
        (["-", "-", "out/"], "name - once"),
        (["a.png", "-", "--json"], "--json writes to standard output"),
    ],
)
def test_what_would_lose_a_picture_is_refused_before_anything_is_written(
    folder, capsys, words, complaint
):
    there = inodes(".")
    assert apply(*words) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.out == ""
    assert inodes(".") == there


# -- what is there already


@pytest.mark.parametrize("option", [[], ["--no-replace"], ["--no-clobber"]])
def test_what_is_there_is_left_alone_unless_it_is_to_be_replaced(folder, capsys, option):
    assert apply("a.png", "out/") == 0
    before = inodes("out")
    assert apply("a.png", "b.png", "out/", *option, "--filter", "box") == 0
    assert "a.png: out/a.png is there already; --replace " in capsys.readouterr().out
    assert apply("b.png", "out/a.png", *option, "--quiet") == 1  # it was named
    assert "out/a.png is there already; --replace " in capsys.readouterr().err
    assert files("out") == ["a.png", "b.png"]
    assert inodes("out")["a.png"] == before["a.png"]
    assert apply("a.png", "out/a.png", *option, "--replace") == 0
    assert inodes("out")["a.png"] != before["a.png"]
    named = Path("out/a.png").read_bytes()
    assert apply("a.png", "out/", *option, "--replace", "--filter", "box") == 0
    assert Path("out/a.png").read_bytes() != named


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["apply", "a.png", "new.png"], "new.png"),
        (["apply", "a.png", "b.png", "out/"], "out/a.png"),
        (["batch", "a.png", "b.png", "out/"], "out/a.png"),
        (["apply", "pages.tif", "out/", "--page", "all"], "out/pages-1.tif"),
        (["apply", "large.tif", "new.tif", "--memory", "1.2M"], "new.tif"),
    ],
)
def test_a_file_that_comes_while_filtering_is_left_alone(
    folder, monkeypatch, capsys, words, target
):
    tifffile.imwrite("pages.tif", generated.noise(20, 30, 2).transpose(2, 0, 1))
    image_files.save("large.tif", generated.noise(900, 300, 3))
    real, path = batch_run.read, Path(target)

    def read(outcome, *how):
        real(outcome, *how)
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text("precious")

    monkeypatch.setattr(batch_run, "read", read)
    assert main.main([*words, "--no-gpu"]) == 1
    said = capsys.readouterr().err
    assert f"Cannot save {path.name}: a file has that name by now; move it" in said
    assert path.read_text() == "precious"
    assert not [each for each in files(".") if each.startswith(".filter")]
    assert main.main([*words, "--no-gpu", "--replace"]) == 0
    image_files.load(path)


@pytest.mark.parametrize(("how", "checks"), [("all", 3), ("2", 2), ("none", 0), (None, 3)])
def test_as_many_results_are_verified_as_asked_for(folder, capsys, how, checks):
    image_files.save("c.png", generated.noise(31, 17, 3))
    words = ("--verify", how) if how else ()
    assert apply("a.png", "b.png", "c.png", "out/", "--json", *words) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(bool(each["check"]) for each in lines) == checks


def test_jobs_give_the_same_files_and_words_in_the_same_order(folder, capsys):
    for n in range(7):
        image_files.save(f"in/m{n}.png", generated.noise(31, 17 + n, 3))
    Path("in/m3.png").write_bytes(b"broken")
    assert apply("in", "one/") == 1
    alone = capsys.readouterr()
    assert apply("in", "three/", "--jobs", "3") == 1
    together = capsys.readouterr()
    assert [x.split()[0] for x in together.out.splitlines()] == [
        x.split()[0] for x in alone.out.splitlines()
    ]
    assert together.err == alone.err
    assert files("one") == files("three")
    for name in files("one"):
        assert (Path("one") / name).read_bytes() == (Path("three") / name).read_bytes()


# -- standard streams


def test_a_picture_comes_in_by_a_pipe_and_goes_out_by_another(folder, piped):
    picture = Path("a.png").read_bytes()
    code, stdout, stderr = piped("-", "-", "--filter", "identity", stdin=picture)
    assert code == 0
    Path("got.png").write_bytes(stdout)
    np.testing.assert_array_equal(
        image_files.load("got.png").samples, image_files.load("a.png").samples
    )
    assert stderr.startswith("stdin → stdout: identity".encode())
    assert b"verified" in stderr


def test_what_comes_in_by_a_pipe_and_is_no_picture_is_said(folder, piped):
    code, _, stderr = piped("-", "out.png", stdin=b"no picture")
    assert code == 1
    assert stderr.startswith(b"workbench: stdin is not a picture")
    assert stderr.count(b"\n") == 1
    assert not Path("out.png").exists()


# -- failures of the surroundings


@pytest.mark.skipif(sys.platform == "win32", reason="no file has such a name there")
def test_no_name_of_a_file_commands_the_terminal(folder, capsys):
    Path("\x1b[31mred.png").write_bytes(Path("a.png").read_bytes())
    Path("\x1b[2Jgone.png").write_bytes(b"broken")
    Path("two\nlines.png").write_bytes(Path("a.png").read_bytes())
    inputs = ["\x1b[31mred.png", "\x1b[2Jgone.png", "two\nlines.png"]
    assert main.main(["apply", "--no-gpu", "--progress", *inputs, "out/"]) == 1
    streams = capsys.readouterr()
    assert "[31mred.png → out/[31mred.png: " in streams.out
    assert "two lines.png → out/two lines.png: " in streams.out
    assert "workbench: [2Jgone.png is not a picture" in streams.err
    assert main.main(["apply", "--no-gpu", "\x1b[2Jmissing.png", "out/"]) == 1
    assert "\x1b" not in streams.out + streams.err + capsys.readouterr().err


@needs_dev_full
@pytest.mark.parametrize(
    "words", [["apply", "a.png", "-"], ["apply", "a.png", "o.png"], ["list"], ["doctor"]]
)
def test_a_full_disk_behind_standard_output_is_a_sentence(folder, words, monkeypatch, capsys):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main.main([*words, "--no-gpu"]) == 1
    assert "No space left" in capsys.readouterr().err.splitlines()[-1]


def test_a_picture_for_a_closed_standard_output_is_refused(folder, monkeypatch, capsys):
    for name in ("stdout", "__stdout__"):
        monkeypatch.setattr(sys, name, None)
    assert apply("a.png", "-") == 1
    sys.stdout.close()  # opened in its place
    said = capsys.readouterr().err
    assert "standard output, which is closed" in said
    assert said.count("\n") == 1


# -- for programs


def told(capsys):
    """The lines of JSON that were printed."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_json_tells_each_picture_in_a_line(folder, capsys):
    words = ["--filter", "unsharp", "--amount", "2", "--border", "wrap"]
    assert apply("a.png", "b.png", "out/", "--json", "--implementation", "parallel", *words) == 0
    first, second = told(capsys)
    assert (first["status"], first["error"]) == ("done", None)
    assert (first["input"], first["output"]) == ("a.png", str(Path("out/a.png")))
    assert (first["filter"], first["size"], first["amount"]) == ("unsharp", 5, 2.0)
    assert (first["border"], first["sigma"], first["weights"]) == ("wrap", None, None)
    assert (first["implementation"], first["device"]) == ("parallel", None)
    assert (first["width"], first["height"], first["channels"]) == (30, 20, 3)
    assert second["channels"] == 1
    assert first["threads"] >= 1
    low, high = first["quartiles_ms"]
    assert 0 < low <= first["median_ms"] <= high
    assert first["n"] >= 1
    causes = ("busy", "host", "quota", "quartiles")
    assert all(any(cause in each for cause in causes) for each in first["disturbances"])
    assert first["check"]["ok"]
    assert first["check"]["checked_pixels"] == first["check"]["pixels"] == 600
    assert first["machine"]["cpu"]
    assert first["machine"]["software"]["NumPy"] == np.__version__
    assert first["version"]


def test_json_tells_what_failed_and_what_was_skipped(folder, capsys):
    Path("broken.png").write_bytes(b"no picture")
    assert apply("a.png", "out/") == 0
    capsys.readouterr()
    assert apply("a.png", "broken.png", "missing.png", "out/", "--json", "--no-clobber") == 1
    said = capsys.readouterr()
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [each["status"] for each in found] == ["skipped", "failed", "failed"]
    assert [each["median_ms"] for each in found] == [None] * 3
    assert "broken.png is not a picture" in found[1]["error"]
    assert said.err == "".join(f"workbench: {each['error']}\n" for each in found[1:])
    assert len({tuple(each) for each in found}) == 1  # the same keys, whatever came of it
