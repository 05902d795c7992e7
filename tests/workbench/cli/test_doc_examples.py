"""What the papers promise: their commands are understood, their examples work."""

import re
import shlex
import sys

import numpy as np
import pytest

from kernels import Job, filters
from kernels.oracle.checking import checking
from kernels.rungs.headers import Facts
from kernels.rungs.rung import not_described, pass_work, read_rung
from kernels.sweeps import step_words
from kernels.sweeps.plan_files import plan_of
from tests.compilers import needs_compiler
from tests.conftest import ROOT
from tests.kernels.on_cpu import CountingShim, Shim
from workbench.cli import main
from workbench.model import step_files
from workbench.model.state import State

DOCS = ROOT / "docs"
LESSON = ROOT / "assets" / "help" / "first-kernel.md"
PAPERS = [ROOT / "README.md", LESSON, *sorted(DOCS.glob("*.md"))]


def blocks(language, page):
    """The code blocks of `language` on a page, without the indentation of a list's."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


def commands():
    """Every line of the papers that calls the program with words of its own."""
    for page in PAPERS:
        for line in "".join(blocks("sh", page)).splitlines():
            if line.startswith("workbench "):
                yield line


@pytest.mark.parametrize("line", list(commands()))
def test_its_commands_are_understood(line):
    arguments = main.parse(shlex.split(line, comments=True)[1:])
    assert arguments.command in ("window", *main.COMMANDS)


@pytest.mark.parametrize("page", [DOCS / "command-line.md", DOCS / "steps.md"])
def test_its_python_runs(page, capsys):
    (source,) = blocks("python", page)
    exec(compile(source, page.name, "exec"), {})
    assert "verified" in capsys.readouterr().out


def test_its_list_of_steps_is_read_and_written_as_it_says():
    (source,) = blocks("toml", DOCS / "steps.md")
    state = State(**step_files.changes_of(step_words.parse(source)))
    words = list(map(step_words.as_word, state.steps))
    assert words[1:] == [
        "sobel_x,mix=0.5,implementation=shared,block=32x16",
        "custom,weights=0.0 -1.0 0.0; -1.0 5.0 -1.0; 0.0 -1.0 0.0,off",
    ]
    told = (DOCS / "steps.md").read_text(encoding="utf-8")
    keys = (*step_words.FIELDS, *step_words.OF_LIST)
    assert all(f"`{word}`" in told for word in keys)


def test_its_plan_can_be_swept():
    (source,) = blocks("toml", DOCS / "sweeps.md")
    assert len(plan_of(source).cells()) == 3 * 3 + 3 * 3 * 2 * 2


def test_the_places_that_are_free_are_told():
    (told,) = re.findall(r"lists: (.*) are free", (DOCS / "adding-a-filter.md").read_text("utf-8"))
    ends = [re.findall(r"\d+", each) for each in re.split(", | and ", told)]
    free = {at for each in ends for at in range(int(each[0]), int(each[-1]) + 1)}
    assert free == set(range(1, 90)) - {each.order for each in filters.all_filters()}


def test_its_filter_works_as_soon_as_the_file_is_there(tmp_path, monkeypatch, capsys):
    (source,) = blocks("python", DOCS / "adding-a-filter.md")
    (tmp_path / "motion_blur.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(filters, "__path__", [*filters.__path__, str(tmp_path)])
    filters.all_filters.cache_clear()
    try:
        np.testing.assert_array_equal(
            filters.get("motion_blur").weights(3), np.eye(3, dtype=np.float32) / np.float32(3)
        )
        assert main.main(["list", "--no-gpu"]) == 0
        assert "Motion blur" in capsys.readouterr().out
    finally:
        filters.all_filters.cache_clear()
        sys.modules.pop("kernels.filters.motion_blur", None)
        vars(filters).pop("motion_blur", None)


def read_example(folder, further=""):
    """The rung of the papers, with `further` in its header."""
    path = folder / "27_two_sums.cu"
    (source,) = blocks("cuda", DOCS / "adding-a-rung.md")
    path.write_text(source.replace("---*/", f"{further}---*/"), encoding="utf-8")
    return read_rung(path)


@needs_compiler
def test_its_rung_agrees_with_the_oracle(tmp_path, build_cache):
    rung = read_example(tmp_path)
    rng = np.random.default_rng()
    picture = rng.integers(0, 256, (31, 33, 4), np.uint8)
    jobs = [
        Job.of(picture, weights, border, "two_sums", (16, 4), offset=offset)
        for ksize, border, offset in ((1, "clamp", 0.5), (5, "mirror", 0.0), (7, "zero", 0.5))
        for weights in [rng.standard_normal((ksize, ksize), np.float32)]
    ]
    shim = Shim(rung, jobs, build_cache)
    for job in jobs:
        *_, check = checking(job, shim.run(job), rung.tolerance(job), max_taps=None)
        assert check.ok, check


@needs_compiler
def test_what_it_says_of_its_rung_is_what_that_does(tmp_path, build_cache):
    (described,) = blocks("toml", DOCS / "adding-a-rung.md")
    rung = read_example(tmp_path, described)
    assert not_described(rung) == ""
    picture = np.random.default_rng(1).uniform(0.5, 1.5, (29, 40, 4)).astype(np.float32)
    job = Job.of(picture, np.ones((5, 5), np.float32), "mirror", "two_sums", (16, 4))
    (counted,) = CountingShim(rung, [job], build_cache).count(job)
    facts = Facts(job)
    said = pass_work(rung.passes[0], facts)
    assert counted.flops == said.flops
    assert counted.loaded["picture"].sum() == facts.bytes_of(said.loads)
    assert counted.stored["picture"].sum() == facts.bytes_of(said.stores)
