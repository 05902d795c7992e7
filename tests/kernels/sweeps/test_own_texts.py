"""Kernels of the user's own in sweeps: told apart by their text, timed only where they are right.

The GPU is made up, and what it does stands in a comment of the kernel; the processes are real.
"""

from dataclasses import replace

import pytest

from kernels import Engine
from kernels.core.errors import CannotRunError, SessionFileError
from kernels.core.job import Sampling
from kernels.rungs.own_kernels import own_kernel, text_hash
from kernels.sweeps.cell_jobs import read_same_texts, read_texts, with_texts
from kernels.sweeps.plan import OwnText, Plan
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Machine, Measurement, Record
from kernels.sweeps.roofline import roof_of
from kernels.sweeps.session_csv import row_of
from kernels.sweeps.session_files import SessionFile, read_session, resume
from tests.kernels.cuda_child.bad_texts import text
from tests.kernels.cuda_child.conftest import use_fake_gpu

PLAN = Plan(
    "mine",
    ("sequential", "mine.cu"),
    sizes=((40, 30),),
    pixel_types=("uint8",),
    sampling=Sampling(max_samples=6, max_seconds=0.05, min_samples=2),
)
MACHINE = Machine("Some CPU, 2 cores", "4 GiB", "Linux", gpu="NVIDIA H200")
OWN_BLOCK = """/*---
own_block = "A block is a tile."

[[passes]]
function = "convolve"
block = ["32", "8"]
---*/
"""


@pytest.fixture
def engine(children, monkeypatch):
    use_fake_gpu(monkeypatch, children)
    return Engine()


def planned(source, **changes):
    return with_texts(replace(PLAN, **changes), [own_kernel("mine.cu", source)])


def records_of(engine, source, **changes):
    """The last record of each cell, by its implementation."""
    plan, texts = planned(source, **changes)
    steps = sweeping(plan, engine, texts=texts)
    return {each.cell.implementation: each for each in steps if isinstance(each, Record)}


# -- measured


def test_one_that_is_right_is_measured_in_rounds_as_all_others(engine):
    found = records_of(engine, text())
    mine, other = found["mine.cu"], found["sequential"]
    assert mine.verified
    assert mine.is_complete
    assert mine.outcome.kernel.median_ms == pytest.approx(0.1)
    assert len(mine.outcome.kernel.rounds) == len(other.outcome.kernel.rounds) == 6
    assert mine.cell.text_sha256 == text_hash(text())
    assert mine.cell.cache == "cold"
    assert other.cell.text_sha256 == ""
    (launch,) = mine.outcome.ran
    assert launch.function == "mine.cu on NVIDIA H200"
    assert (launch.block, launch.registers) == (mine.cell.block_xy, 40)
    assert mine.outcome.occupancy.share == 0.25
    assert other.outcome.occupancy is None
    assert mine.outcome.compile_ms is not None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (text(run="wrong"), "Its output is WRONG in "),
        (text(run="nothing"), "mine.cu: 1,200 samples were never written"),
        (text(run="right_at_first"), "mine.cu: "),
        (text(run="crash"), "mine.cu: The process that runs kernels on the GPU crashed"),
        (text(compile="error"), 'mine.cu: Line 8: identifier "heigth" is undefined.'),
    ],
    ids=["wrong", "nothing", "cheat", "crash", "compile"],
)
def test_one_that_is_not_right_is_a_row_with_its_sentence_and_all_others_go_on(
    engine, source, words
):
    found = records_of(engine, source)
    assert found["mine.cu"].outcome.startswith(words)
    assert found["sequential"].verified


# -- told apart


def test_block_shapes_are_of_those_that_have_a_choice(engine):
    shapes = ((16, 16), (32, 8))
    plan, _ = planned(text(), blocks=shapes)
    assert [each.block_xy for each in plan.cells()] == [None, *shapes]
    plan, _ = planned(OWN_BLOCK + text(), blocks=shapes)
    assert [each.block_xy for each in plan.cells()] == [None, None]


def test_texts_are_read_where_they_lie(tmp_path):
    path = tmp_path / "mine.cu"
    path.write_text(text(), encoding="utf-8")
    plan, texts = read_texts(PLAN, {"mine.cu": path, "other.cu": tmp_path / "no.cu"})
    assert plan.own_texts == (OwnText("mine.cu", text_hash(text())),)
    assert texts == {text_hash(text()): text()}
    assert read_same_texts(plan, {"mine.cu": path}) == texts
    path.write_text(f"{text()}// again\n", encoding="utf-8")
    with pytest.raises(SessionFileError, match=r"mine\.cu has another text now"):
        read_same_texts(plan, {"mine.cu": path})
    with pytest.raises(CannotRunError, match="its file is not there"):
        read_texts(PLAN, {})
    path.write_text("", encoding="utf-8")
    with pytest.raises(CannotRunError, match="it is empty"):
        read_texts(PLAN, {"mine.cu": path})


def test_a_session_tells_which_text_it_measured_and_is_gone_on_with_that_alone(engine, tmp_path):
    plan, texts = planned(text())
    with SessionFile.create(tmp_path, plan, MACHINE) as file:
        for step in sweeping(plan, engine, texts=texts):
            if isinstance(step, Record):
                file.append(step)
    read = read_session(tmp_path)
    assert read.plan == plan
    assert [each.cell for each in read.records] == list(plan.cells())
    assert read.records[1].verified
    row = row_of(read, read.records[1])
    assert (row["text_sha256"], row["kind"]) == (text_hash(text()), "cuda")
    assert row["device"] == "NVIDIA H200"
    other, _ = planned(f"{text()}// again\n")
    with pytest.raises(SessionFileError, match="with another text of a kernel"):
        resume(tmp_path, MACHINE, other)


def test_one_that_is_called_as_a_rung_is_not_under_its_roof(engine):
    plan, texts = with_texts(
        replace(PLAN, implementations=("shared.cu",)), [own_kernel("shared.cu", text())]
    )
    records = [each for each in sweeping(plan, engine, texts=texts) if isinstance(each, Record)]
    assert isinstance(records[-1].outcome, Measurement)
    machine = replace(MACHINE, ceilings={"copy_gb_s": 1.0, "fma_tflop_s": 1.0})
    assert records[-1].verified
    assert roof_of(records[-1], machine) is None
