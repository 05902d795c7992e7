from kernels.core.device_turns import last_of, run_with_progress
from kernels.core.job import Progress


def counting(to):
    yield from range(to)
    return "counted"


def test_of_outcomes_that_are_yielded_the_last_one_is_returned_and_progress_passes():
    seen = []

    def whole():
        seen.append((yield from last_of([1, Progress("on"), None])))

    assert list(whole()) == [Progress("on")]
    assert seen == [None]


def test_whoever_stops_driving_ends_the_steps_at_once():
    steps = counting(3)
    whole = run_with_progress(steps, "here")
    next(whole)
    whole.close()
    assert list(steps) == []
