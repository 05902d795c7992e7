"""Lists of steps in plans: their words, their cells, their times as a whole and of each step."""

import csv
from dataclasses import replace

import pytest

from kernels import Engine
from kernels.core.errors import KernelError, PlanFileError
from kernels.core.job import Sampling
from kernels.engine import list_ways
from kernels.sweeps.cell_jobs import job_of, refusal
from kernels.sweeps.estimate import estimated_s
from kernels.sweeps.plan import Cell, Plan
from kernels.sweeps.plan_files import as_toml, plan_of, read_plan, with_lists
from kernels.sweeps.plan_run import sweeping
from kernels.sweeps.record import Record, Session
from kernels.sweeps.session_csv import row_of, sessions_csv
from kernels.sweeps.session_files import SessionFile, read_session
from kernels.sweeps.step_words import list_words, ready_made, steps_in
from tests.kernels.made_up_gpu import TimedEngine
from tests.made_sessions import LAPTOP, a_session

BLUR = "gaussian:5 + sobel_x"
QUICK = Sampling(max_samples=12, max_seconds=0.02, min_samples=1)
PLAN = Plan("Lists", ("sequential", "opencv"), ((24, 16),), lists=(BLUR, list_words("sketch")))
PLAN = replace(PLAN, pixel_types=("uint8",), sampling=QUICK)


def measured(plan, engine, **how):
    found = [each for each in sweeping(plan, engine, **how) if isinstance(each, Record)]
    return list({each.cell: each for each in found}.values())


def text(**keys):
    keys = {"title": "A title", "implementation": "opencv"} | keys
    return "".join(f"{name} = {value!r}\n" for name, value in keys.items())


@pytest.mark.parametrize("name", ready_made())
def test_the_words_of_a_list_bring_back_its_steps(name):
    words = list_words(name)
    assert steps_in(words) == ready_made()[name].steps
    assert list_words(words) == words


def test_a_plan_names_lists_by_steps_by_name_and_by_file(tmp_path):
    mine = '[[step]]\nfilter = "box"\nsize = 7\nimplementation = "shared"\n[[step]]\n'
    (tmp_path / "mine.toml").write_text(f'{mine}filter = "sharpen"\non = false\n')
    path = tmp_path / "plan.toml"
    path.write_text(text(list=["gaussian  +  sobel_x", "sketch", "mine.toml"]))
    plan = read_plan(path)
    assert plan.lists == (BLUR, list_words("sketch"), "box:7")
    assert plan_of(as_toml(plan)) == plan
    assert [cell.list for cell in plan.cells()] == list(plan.lists)
    assert {(cell.filter, cell.sigma, cell.matrix) for cell in plan.cells()} == {("", None, None)}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"list": BLUR, "kernel_size": 3}, "A list has kernel_size in its steps"),
        ({"list": BLUR, "filter": "gaussian", "sigma": 1.0}, "A list has filter and sigma in"),
        ({"list": "sketsh"}, "There is no list 'sketsh'; did you mean sketch?"),
        ({"list": "gaussian:4 + box"}, "gaussian:4: size must be an odd number"),
        ({"list": "box + "}, "There is no filter"),
        ({"list": " + ".join(["box"] * 9)}, "A list has 1 to 8 steps, not 9."),
        ({"list": "box,off"}, "No step of the list is on."),
        ({"list": "no.toml"}, "no.toml cannot be read: No such file"),
        ({"list": 3}, "list must be a text in quotes, not 3."),
    ],
)
def test_what_makes_no_list_is_one_sentence(keys, said):
    with pytest.raises(PlanFileError) as refused:
        plan_of(text(**keys))
    assert str(refused.value).startswith("The plan: ")
    assert said in str(refused.value)


def test_a_file_that_asks_for_what_no_sweep_does_is_refused(tmp_path):
    (tmp_path / "a.toml").write_text('round_between_steps = true\n[[step]]\nfilter = "box"\n')
    with pytest.raises(KernelError, match="has round_between_steps, which a sweep does not"):
        with_lists(PLAN, ["a.toml"], tmp_path)
    with pytest.raises(PlanFileError, match="A list has kernel_size in its steps"):
        with_lists(Plan("", ("opencv",), ksizes=(3, 5)), [BLUR])


def test_a_cell_is_the_job_of_its_list():
    job = job_of(PLAN.cells()[-1])
    assert job.title == "Gaussian blur ▸ Gradient ▸ Custom weights"
    assert job.steps[-1].filter.offset == 255
    assert {each.implementation for each in job.steps if not each.is_length} == {"opencv"}


def test_a_list_is_timed_as_a_whole_and_step_by_step_and_checked():
    records = measured(PLAN, Engine(use_gpu=False))
    assert [len(each.verified.steps) for each in records] == [2, 2, 3, 3]
    for found in (each.verified for each in records):
        assert found.check.is_full
        assert len(found.kernel.rounds) == 10
        assert 10 <= len(found.kernel.samples_ms) <= min(len(e.samples_ms) for e in found.steps)
        first = sum(each.samples_ms[0] for each in found.steps)
        assert found.kernel.samples_ms[0] == pytest.approx(first)
    assert estimated_s(PLAN.cells()) > estimated_s([replace(PLAN.cells()[0], list="box:3")])


def test_several_pictures_add_up_by_step_and_each_list_is_timed_from_its_first():
    plan = replace(PLAN, implementations=("opencv",), lists=(BLUR,), counts=(3,))
    (record,) = measured(plan, Engine(use_gpu=False))
    medians = [each.median_ms for each in record.verified.steps]
    assert sum(medians) == pytest.approx(record.verified.kernel.median_ms, rel=0.5)
    plan = replace(PLAN, implementations=("opencv",), lists=(BLUR, "gaussian:5 + box:3"))
    records = measured(plan, Engine(use_gpu=False))
    one, other = (each.verified.steps[0].samples_ms for each in records)
    assert len({*one} & {*other}) < len(one) / 2  # some may be equal by chance


def test_auto_takes_a_rung_for_each_step_and_is_refused_without_a_gpu(tmp_path, monkeypatch):
    cell = replace(PLAN.cells()[-1], implementation="auto", cache="cold")
    assert "GPU" in refusal(Engine(use_gpu=False), cell)
    engine = TimedEngine(tmp_path / "measurements.json")
    assert refusal(engine, cell) is None
    assert "Step 2, Gradient" in refusal(engine, replace(cell, implementation="shared"))
    monkeypatch.setattr(list_ways, "way_of", lambda *_: ("", ""))  # which needs a real one
    plan = replace(PLAN, implementations=("auto",))
    assert [len(each.verified.steps) for each in measured(plan, engine)] == [2, 3]


def test_a_session_keeps_lists_and_is_resumed(tmp_path):
    whole = measured(PLAN, Engine(use_gpu=False))
    with SessionFile.create(tmp_path, PLAN, LAPTOP) as file:
        for each in whole[:3]:
            file.append(each)
    read = read_session(tmp_path)
    assert read.plan == PLAN
    assert [each.cell for each in read.records] == [each.cell for each in whole[:3]]
    assert len(read.records[-1].outcome.steps) == 3
    rest = measured(PLAN, Engine(use_gpu=False), before=read.records)
    assert [each.cell for each in rest] == [PLAN.cells()[-1]]


def test_the_table_has_the_words_and_the_steps_times():
    session = a_session("lists")
    row = row_of(session, session.records[0])
    assert (row["list"], row["filter"]) == ("gaussian:7 + sobel_x", "")
    assert row["kernel_size"] is row["amount"] is None
    assert len(row["steps_ms"].split("; ")) == 2
    assert row["value"] == "gaussian:7 + sobel_x, opencv"
    table = csv.DictReader(sessions_csv([session]).splitlines())
    assert {each["list"] for each in table} == set(session.plan.lists)


def test_a_list_of_another_version_is_shown_and_not_measured():
    cell = Cell("opencv", filter="", ksize=1, list="wiener:5 + box:3")
    assert "There is no filter" in refusal(Engine(use_gpu=False), cell)
    assert estimated_s([cell]) > 0
    without = Cell("opencv", filter="custom", ksize=3)
    assert refusal(Engine(use_gpu=False), without) == "Custom weights have to be given."
    session = Session(PLAN, LAPTOP, 0.0, (Record(cell, "no such filter", 1.0),))
    assert row_of(session, session.records[0])["list"] == "wiener:5 + box:3"
