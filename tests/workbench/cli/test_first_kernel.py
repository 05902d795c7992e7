"""The ten steps of the page about the first kernel do what it says, under the command it names."""

import io
import json
from contextlib import redirect_stdout

import pytest

from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.cuda_on_cpu import compiler
from tests.first_kernel import PAGE, bugs, steps
from workbench.cli import main

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(compiler.why_not()), reason="needs a C++ compiler"),
]
# The verdict that the page tells of, and how many jobs are right.
TOLD = {
    **{1: ("wrong", 0), 2: ("wrong", 0), 3: ("wrong", 2), 4: ("wrong", 0), 5: ("wrong", 2)},
    **{6: ("verified", 20), 7: ("wrong", 1), 8: ("wrong", 3), 9: ("verified", 20)},
    10: ("verified", 20),
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory, build_cache):
    """The row of each step."""
    folder = tmp_path_factory.mktemp("steps")
    for number, text in steps().items():
        (folder / f"step_{number}.cu").write_text(text, encoding="utf-8")
    words = ["check", str(folder), "--json", "--find-bug", "--seed", "7", "--no-gpu", "--jobs", "2"]
    said = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        patch.setenv(FOLDER_VARIABLE, str(build_cache.parent))
        assert main.main(words) == 1
    document = json.loads(said.buffer.getvalue())
    return {int(row["file"][5:-3]): row for row in document["kernels"]}


@pytest.mark.parametrize("step", TOLD)
def test_a_step_does_what_the_page_says(step, checked):
    row = checked[step]
    assert (row["verdict"], row["verified"]) == TOLD[step], row


@pytest.mark.parametrize(("step", "sentence"), bugs().items())
def test_its_bug_is_told_in_these_words(step, sentence, checked):
    assert checked[step]["bug"] == sentence


def test_each_wrong_step_shows_its_bug_but_the_one_that_rounds():
    assert {step for step, (verdict, _) in TOLD.items() if verdict != "verified"} == {*bugs(), 5}


def test_the_tile_spares_loads(checked):
    plain, tile, whole = (checked[step]["counts"]["loads"] for step in (6, 9, 10))
    assert plain == 49
    assert tile == whole
    told = f"the {plain:.3g} loads per sample have become {tile:.3g}:"
    assert told in PAGE.read_text(encoding="utf-8")
