"""`--page N|all` of apply, batch and shot: one page, or each into a file of its own."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from kernels.pictures import generated
from tests.workbench.cli.batches import journal, results
from workbench.cli import main
from workbench.files import image_files
from workbench.session.exporter import read_settings

PLANES = np.random.default_rng(4).integers(0, 256, (3, 20, 30), np.uint8)
KEPT = ("--weights", "0 0 0; 0 1 0; 0 0 0", "--no-gpu")  # which changes nothing


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a stack of three planes, an animation and a picture."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    tifffile.imwrite("in/stack.tif", PLANES, imagej=True, metadata={"axes": "ZYX"})
    first, *others = map(Image.fromarray, PLANES[:2])
    first.save("in/moving.webp", save_all=True, append_images=others, lossless=True)
    image_files.save("in/single.png", generated.noise(20, 30, 1))
    (tmp_path / "in/broken.tif").write_bytes(b"II*\0nothing")
    return tmp_path


def is_page(path, number):
    return np.array_equal(image_files.load(path).samples[..., 0], PLANES[number - 1])


def test_apply_keeps_the_page_that_was_named_and_says_so(folder, capsys):
    assert main.main(["apply", "in/stack.tif", "a.png", "--page", "2", *KEPT]) == 0
    assert "Only page 2 of 3 (z 2) is kept" in capsys.readouterr().out
    assert is_page("a.png", 2)
    assert main.main(["apply", "in/stack.tif", "b.png", *KEPT]) == 0
    assert is_page("b.png", 1)
    assert main.main(["apply", "in/stack.tif", "c.png", "--page", "4", *KEPT]) == 1
    assert "stack.tif has no page 4; its last is page 3." in capsys.readouterr().err
    assert not Path("c.png").exists()


def test_apply_writes_every_page_into_a_file_of_its_own(folder, capsys):
    words = ["apply", "in/stack.tif", "in/single.png", "out/", "--page=all", *KEPT]
    assert main.main([*words, "--json"]) == 0
    records = list(map(json.loads, capsys.readouterr().out.splitlines()))
    assert [each["input"] for each in records][::3] == ["in/stack.tif, page 1", "in/single.png"]
    assert sorted(each.name for each in Path("out").iterdir()) == [
        *("single.png", "stack-1.tif", "stack-2.tif", "stack-3.tif")
    ]
    assert all(is_page(f"out/stack-{number}.tif", number) for number in (1, 2, 3))
    assert main.main(["apply", "in/stack.tif", "-", "--page", "all", *KEPT]) == 2
    image_files.save("in/stack-2.tif", PLANES[0][..., None])  # would be called as the second page
    assert main.main(["apply", "in/stack.tif", "in/stack-2.tif", "new/", "--page=all", *KEPT]) == 2
    said = capsys.readouterr().err
    assert "stack.tif, page 2 and stack-2.tif would both become stack-2.tif; rename one, or" in said


def test_every_page_of_standard_input_is_written(folder, capsys, monkeypatch):
    for target in ("a.png", "out/"):
        stdin = io.TextIOWrapper(io.BytesIO(Path("in/stack.tif").read_bytes()))
        monkeypatch.setattr(sys, "stdin", stdin)
        code = main.main(["apply", "-", target, "--page=all", *KEPT])
        said = capsys.readouterr()
        assert "is kept" not in said.out
    assert all(is_page(f"a-{number}.png", number) for number in (1, 2, 3))
    assert code == 1
    assert said.err == (
        "workbench: stdin, pages 1, 2, 3: Cannot save stdin under its own extension; "
        "choose --format png.\n"
    )


@pytest.mark.parametrize("command", ["apply", "batch"])
def test_pages_that_fail_are_named_in_one_sentence_and_the_others_kept(folder, capsys, command):
    tifffile.imwrite("cut.tif", PLANES, photometric="minisblack", compression="zlib")
    with tifffile.TiffFile("cut.tif") as tiff:
        places = [page.dataoffsets[0] for page in tiff.pages]
    data = bytearray(Path("cut.tif").read_bytes())
    for place in (places[0], places[2]):
        data[place : place + 9] = bytes(9)
    Path("cut.tif").write_bytes(data)
    assert main.main([command, "cut.tif", "out/", "--page", "all", *KEPT]) == 1
    said = capsys.readouterr().err
    assert said.startswith("workbench: cut.tif, pages 1, 3 (the other 1 kept): cut.tif cannot be")
    assert said.count("cannot be read") == 1
    assert list(results("out")) == ["cut-2.tif"]
    assert is_page("out/cut-2.tif", 2)


def test_a_batch_over_all_pages_goes_on_behind_what_failed_and_resumes(folder, capsys):
    words = ["batch", "in", "out", "--page", "all", "--format", "png", *KEPT]
    assert main.main(words) == 1  # of the broken one
    names = ["moving-1.png", "moving-2.png", "single.png", *(f"stack-{n}.png" for n in (1, 2, 3))]
    assert sorted(results("out")) == names
    assert all(is_page(f"out/stack-{number}.png", number) for number in (1, 2, 3))
    assert sum(line["status"] == "done" for line in journal()) == 6
    assert "several pages" not in capsys.readouterr().out
    assert main.main(["batch", "in", "one", *KEPT]) == 1
    assert "Of 2 files with several pages only one is kept" in capsys.readouterr().out
    Path("in/broken.tif").unlink()
    assert main.main([*words, "--resume"]) == 0
    assert main.main([*words[:4], "1", *words[5:], "--resume"]) == 1
    assert "other options (page)" in capsys.readouterr().err


def test_a_shot_is_of_the_page(folder, qapp):
    words = ["shot", "a.png", "in/stack.tif", "--page", "3", "--no-gpu"]
    assert main.main(words) == 0
    assert read_settings("a.png")["filter"] == "gaussian"
    with pytest.raises(SystemExit):
        main.main([*words, "--page", "0"])
    assert main.main(["shot", "b.png", "in/stack.tif", "--page", "9", "--no-gpu"]) == 1
