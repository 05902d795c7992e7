"""`workbench bench timing` with clocks and a device that are made up."""

import json
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from kernels.core.errors import OutOfMemoryError
from kernels.cuda.event_timer import Queue
from tests.workbench.engines import MadeUpGpu
from workbench.cli import main
from workbench.cli.benches import other_clocks, timing
from workbench.cli.benches.other_clocks import Clocked, OtherClock
from workbench.cli.benches.timing import NOTHING, chosen_jobs, closing_lines, verdict

NOTHING_MS = 0.002
LAUNCH_MS = {"global": 1.7, "shared": 0.65, "register_tile": 0.05, "tile_separable": 0.14}


class TimedGpu(MadeUpGpu):
    """Whose launches take what LAUNCH_MS says."""

    fails = ()

    def ceilings(self):
        return {"copy_gb_s": 4000.0}

    @contextmanager
    def queue(self, job):
        if job.implementation in self.fails:
            raise OutOfMemoryError("There is no room.")
        timer = SimpleNamespace(
            launch_nothing=lambda: NOTHING_MS,
            sample_ms=lambda launch, cache: launch(),
        )
        yield Queue(0, lambda: LAUNCH_MS[job.implementation], timer)


def other(name="their clock", same=True, factor=1.0, gap_ms=0.0, missing=None):
    """A clock that sees so much more than ours."""

    def time(queue, launch):
        ms = factor * launch() + gap_ms
        return Clocked(0.99 * ms, ms, 1.01 * ms)

    return OtherClock(name, "a memset", same, time, lambda: missing)


@pytest.fixture
def bench(monkeypatch, capsys):
    """Runs the command with the clocks it is given; returns what it printed."""

    def run(*clocks, words=(), engine=TimedGpu):
        monkeypatch.setattr(timing, "other_clocks", lambda: clocks)
        monkeypatch.setattr(timing.this_machine, "engine_maker", lambda arguments: engine)
        assert main.main(["bench", "timing", "--cells", "256×256|8192", *words]) == 0
        return capsys.readouterr().out

    return run


def test_every_launch_is_timed_by_every_clock(bench, tmp_path):
    path = tmp_path / "found.json"
    said = bench(other(factor=1.02), words=["--json", str(path)])
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 2 * (1 + 4 * 2)  # both clocks: the empty launch, and rungs in two sizes
    ours = next(row for row in rows if row["launch"] == "global 8192×8192")
    assert ours["found"]["median_ms"] == LAUNCH_MS["global"]
    assert "From 100 µs on, under the same eviction: 6 of 6 within 3 %." in said
    assert "Below: 2 of 2 within 3 %" in said
    assert "NOT EXPLAINED" not in said


def test_what_disagrees_is_said(bench):
    said = bench(other(factor=1.05))
    assert "0 of 6 within 3 %" in said
    assert "NOT EXPLAINED" in said


def test_a_gap_that_an_empty_launch_has_too_explains_a_short_one(bench):
    said = bench(other(gap_ms=0.003))
    assert "the empty launch differs, too: +3.00 µs" in said
    assert "Below: 0 of 2 within 3 %; 2 more differ by what the empty launch differs by" in said
    assert "6 of 6 within 3 %" in said


def test_another_eviction_may_differ_and_does_not_count(bench):
    said = bench(other("memset", same=False, factor=1.1))
    assert "it evicts by a memset, whose dirty lines are then written back" in said
    assert "There is no other clock here to compare with." in said


def test_what_is_not_installed_is_said_and_left_out(bench):
    said = bench(other("torch.cuda.Event", missing="PyTorch is not installed."), other("there"))
    assert "Without torch.cuda.Event: PyTorch is not installed." in said
    assert "6 of 6 within 3 %" in said


def test_a_launch_that_fails_keeps_nothing_else_from_being_timed(bench, monkeypatch):
    monkeypatch.setattr(TimedGpu, "fails", ("global",))
    said = bench(other())
    assert "global 256×256: There is no room." in said
    assert NOTHING in said
    assert "shared 8192×8192" in said


@pytest.mark.parametrize(
    ("ours_ms", "theirs_ms", "gap_ms", "same", "words"),
    [
        (1.0, 1.029, 0.0, True, "within 3 %"),
        (1.0, 0.96, 0.0, True, "NOT EXPLAINED"),
        (1.0, 1.05, 0.05, True, "NOT EXPLAINED"),  # a gap is no excuse for a long launch
        (0.01, 0.0115, 0.001, True, "the empty launch differs, too: +1.00 µs"),
        (0.01, 0.0135, 0.001, True, "NOT EXPLAINED"),
        (0.01, 0.0135, 0.001, False, "it evicts by a memset, whose dirty lines"),
        (0.01, 0.005, 0.0, False, "NOT EXPLAINED"),
    ],
)
def test_a_verdict_on_each_difference(ours_ms, theirs_ms, gap_ms, same, words):
    assert verdict(ours_ms, theirs_ms, gap_ms, other(same=same)).startswith(words)


def test_nothing_timed_leaves_nothing_to_say():
    assert closing_lines([]) == ["There is no other clock here to compare with."]


def test_without_the_libraries_there_is_a_sentence_for_each(monkeypatch):
    for name in ("torch", "triton", "triton.testing"):
        monkeypatch.setitem(sys.modules, name, None)
    for clock in other_clocks.other_clocks():
        assert "PyTorch is not installed" in clock.missing()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--cells", "("], "takes a regular expression"),
        (["--cells", "no such launch"], "No launch fits"),
        (["--peers"], "bench timing does not take --peers"),
        (["--runs", "3"], "bench timing does not take --runs"),
    ],
)
def test_what_makes_no_sense_is_refused(words, sentence, monkeypatch, capsys):
    monkeypatch.setattr(timing.this_machine, "engine_maker", lambda arguments: TimedGpu)
    assert main.main(["bench", "timing", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_without_a_gpu_there_is_the_reason(capsys):
    assert main.main(["bench", "timing", "--no-gpu"]) == 1
    assert "--no-gpu" in capsys.readouterr().err


def test_all_launches_there_are_fit_an_empty_pattern():
    jobs = chosen_jobs(SimpleNamespace(cells="256×256"))
    assert list(jobs) == [f"{key} 256×256" for key in timing.KEYS]
    assert all(job.ksize == timing.KSIZE for job in jobs.values())
