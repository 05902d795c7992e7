"""Where the time of a batch goes, by a clock that is set by hand."""

import pytest

from workbench.batch.stage_times import StageTimes, verdict


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def test_each_stage_has_its_share_of_its_threads_time(clock):
    cpu_clock = Clock()
    times = StageTimes(4, 2, clock, cpu_clock)
    for _ in range(2):
        times.add("done", {"decode": 1.0, "filter": 0.5, "encode": 3.0})
    clock.now_s += 4.0
    stages = {each.stage: each for each in times.progress().stages}
    assert [*stages] == ["decode", "filter", "encode"]
    assert (stages["decode"].share, stages["encode"].share) == (0.25, 0.75)  # of two threads
    assert (stages["filter"].share, stages["filter"].threads) == (0.25, 1)
    cpu_clock.now_s += 6.0
    assert times.progress().cores_busy == 1.5
    times.end()
    clock.now_s += 4.0
    cpu_clock.now_s += 4.0
    end = times.progress()
    assert (end.seconds, end.cores_busy, end.per_s, end.left_s) == (4.0, 1.5, 0.5, 4.0)
    assert end.limit == "encode"


def test_only_of_results_that_are_there_it_says_that_they_are_right(clock):
    times = StageTimes(3, 1, clock)
    said = ("", "checked 1 of 1: right", "checked 2 of 2: 1 wrong")
    for status, words in zip(("failed", "done", "wrong"), said, strict=True):
        times.add(status, {"verify": 1.0})
        assert verdict(times.progress().verified, times.progress().counts) == words


@pytest.mark.parametrize(
    ("seconds", "limit"),
    [
        ({"decode": 3.0, "filter": 1.0, "encode": 1.0}, "decode"),
        ({"decode": 3.0, "filter": 2.5, "encode": 1.0}, "filter"),  # two threads share the files
        ({"decode": 1.0, "filter": 1.0, "verify": 2.0, "encode": 1.0}, "verify"),
        ({"upload": 1.5, "filter": 1.0, "download": 0.5, "encode": 1.0}, "upload"),
        ({"decode": 1.0, "filter": 1.0, "encode": 2.5, "sync": 4.0}, "sync"),  # on two threads
    ],
)
def test_the_limit_is_the_longest_stage_of_the_busiest_threads(clock, seconds, limit):
    times = StageTimes(1, 2, clock)
    assert times.progress().limit is None
    times.add("done", seconds)
    assert times.progress().limit == limit
