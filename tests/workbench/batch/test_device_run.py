"""A folder over two made-up GPUs, by real processes: whatever ends one, no picture is lost."""

import multiprocessing

import pytest

from kernels.pictures.generated import noise
from tests.workbench.batch import made_up_gpus as gpus
from workbench.batch.batch_run import Pausing, running
from workbench.batch.device_run import DeviceRun
from workbench.batch.filtering import UNTIMED, Recipe
from workbench.batch.pairs import FilePair, pairs_of
from workbench.files import image_files
from workbench.model.state import State

RECIPE = Recipe(
    State(filter="identity", ksize=3, implementation="shared"),
    "shared",
    sampling=UNTIMED,
    check_every=4,
    keeps_files=True,
)


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Filter pictures of these heights; returns the rows, what was warned of, and the run."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    monkeypatch.setenv("MADE_UP_GPUS", str(tmp_path))
    warned, rows = [], []

    def run(heights, make_engine=gpus.gpu, rest=lambda rows: None, jobs=2, pausing=None):
        pairs = pictures(tmp_path, heights)
        processes = DeviceRun((0, 1), RECIPE, jobs, warned.append, make_engine)
        pausing = pausing or Pausing(rest=lambda: rest(rows))
        try:
            for row in processes.outcomes(pairs, pausing):
                rows.append(row)
        finally:
            assert multiprocessing.active_children() == []
        return rows, warned, processes

    run.rows = rows
    return run


def pictures(folder, heights):
    """Pictures of these heights in in/, and the pairs of a batch into out/."""
    for n, height in enumerate(heights):
        image_files.save(folder / "in" / f"p{n:02}.png", noise(height, 30, 3))
    return pairs_of([folder / "in"], f"{folder}/out/")


def statuses(rows):
    """What became of each picture; each has one row."""
    found = {row.pair.target.name: row.status for row in rows}
    assert len(found) == len(rows)
    return found


def names(count):
    return {f"p{n:02}.png" for n in range(count)}


def test_files_are_shared_out_and_every_nth_of_all_is_verified(ran, tmp_path):
    rows, warned, processes = ran([gpus.SLOW] * 16)
    assert statuses(rows) == dict.fromkeys(names(16), "done")
    assert {row.device for row in rows} == {0, 1}
    assert all(row.line("")["device"] == row.device for row in rows)
    verified = {row.pair.target.name for row in rows if "verify" in row.seconds}
    assert verified == {f"p{n:02}.png" for n in range(0, 16, 4)}
    assert {each.name for each in (tmp_path / "out").iterdir()} == names(16)
    assert warned == []
    assert processes.cpu_s() > 0


def test_a_process_that_is_killed_loses_nothing_and_leaves_no_part(ran, tmp_path):
    rows, warned, _ = ran([gpus.GOOD] * 7 + [gpus.KILLED_ONCE] + [gpus.GOOD] * 12)
    found = statuses(rows)
    assert found.keys() == names(20)
    assert {each.name for each in (tmp_path / "out").iterdir()} == names(20)
    assert set(found.values()) <= {"done", "skipped"}  # written before the end, and not told of
    (sentence,) = warned
    assert " was killed (perhaps for want of memory). " in sentence
    assert "to be done again" in sentence


def test_a_picture_that_kills_every_process_is_found_and_fails_alone(ran):
    rows, warned, _ = ran([gpus.GOOD] * 5 + [gpus.KILLED] + [gpus.GOOD] * 4)
    found = statuses(rows)
    assert found.keys() == names(10)
    assert {name for name, status in found.items() if status == "failed"} == {"p05.png"}
    (error,) = [row.error for row in rows if row.error]
    assert error.startswith("p05.png: two processes were lost with it, ")
    assert len(warned) == 1


def test_a_gpu_that_is_lost_is_said_and_nothing_goes_to_the_cpu_instead(ran):
    seen, heights = [], [gpus.GOOD] * 8 + [gpus.LOST_ONCE] + [gpus.GOOD] * 12
    rows, warned, _ = ran(heights, rest=lambda _: seen.append(multiprocessing.active_children()))
    assert max(map(len, seen)) == 2  # it has ended before another one takes its place
    assert statuses(rows).keys() == names(21)
    assert {row.status for row in rows} <= {"done", "skipped"}
    (sentence,) = warned
    assert f": {gpus.LOST_SAID} " in sentence


def test_whatever_a_picture_fails_of_is_said_alike_here_and_in_processes(ran, tmp_path):
    heights = [gpus.GOOD, gpus.BUG, gpus.GOOD, gpus.NO_MEMORY, gpus.NO_MEMORY_IN_CPP, gpus.GOOD]

    def said(rows):
        return sorted((row.pair.target.name, row.status, row.error) for row in rows)

    devices, _, _ = ran(heights)
    pairs = [FilePair(tmp_path / "in" / name, tmp_path / name) for name in sorted(names(6))]
    here = list(running(gpus.gpu(0), pairs, RECIPE, 2))
    assert said(here) == said(devices)
    failed = {row.pair.target.name: row for row in here if row.status == "failed"}
    assert failed.keys() == {"p01.png", "p03.png", "p04.png"}
    assert "ZeroDivisionError: ours" in failed["p01.png"].error
    assert "out of memory" in failed["p03.png"].error
    assert "out of memory" in failed["p04.png"].error
    for rows in (here, devices):
        logs = {row.pair.target.name: row.log for row in rows if row.log}
        assert logs.keys() == {"p01.png"}
        assert logs["p01.png"].startswith("Traceback ")


@pytest.mark.parametrize("is_here", [pytest.param(True, marks=pytest.mark.nightly), False])
def test_what_is_under_way_in_a_pause_is_told_in_it_and_the_rest_after_it(ran, tmp_path, is_here):
    paused, counts, pausing = [], [], Pausing(lambda: paused[-1:] == [True], lambda: rest())

    def rest():
        """Pause after the first row, for as long as rows come that are written already."""
        counts.append(len(ran.rows))
        if ran.rows and not paused:
            paused.append(True)
        quiet = counts.count(counts[-1])
        is_all_told = len(list((tmp_path / "out").glob("*.png"))) == counts[-1]
        if paused == [True] and (quiet > 20 or (quiet > 4 and is_all_told)):
            paused.append(False)
            assert is_all_told

    if is_here:
        pairs = pictures(tmp_path, [gpus.SLOW] * 12)
        for row in running(gpus.gpu(0), pairs, RECIPE, 1, pausing=pausing):
            ran.rows.append(row)
    else:
        ran([gpus.SLOW] * 12, pausing=pausing)
    assert paused == [True, False]
    assert statuses(ran.rows) == dict.fromkeys(names(12), "done")


def test_a_stop_tells_of_all_that_is_written_and_leaves_no_process(ran, tmp_path):
    pending = [KeyboardInterrupt()]

    def stop(rows):
        if len(rows) >= 3 and pending:
            raise pending.pop()

    with pytest.raises(KeyboardInterrupt):
        ran([gpus.SLOW] * 20, rest=stop)
    assert {each.name for each in (tmp_path / "out").iterdir()} == statuses(ran.rows).keys()
    assert 3 <= len(ran.rows) < 20
    assert len(ran.rows) == len([*tmp_path.glob("begun-*")])  # what was being filtered is finished
