"""What stands between the events, and what before them: by a CuPy that writes down all calls."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kernels.cuda.event_timer import EventTimer

L2_BYTES = 32 << 20


class FakeCuda:
    """Writes down what is queued, in its order."""

    def __init__(self):
        self.queued, self.words, events = [], [], iter(["start", "stop"])

        def event():
            name = next(events)
            return SimpleNamespace(
                record=lambda: self.queued.append(name),
                synchronize=lambda: self.queued.append("waited"),
            )

        self.cuda = SimpleNamespace(Event=event, get_elapsed_time=lambda start, stop: 0.25)

    def RawModule(self, code):  # noqa: N802
        assert "evict" in code
        return SimpleNamespace(
            get_function=lambda name: lambda grid, block, values: self.queued.append(name)
        )

    def zeros(self, count, dtype):
        self.words.append(count)
        return SimpleNamespace(size=count)


@pytest.mark.parametrize(("cache", "before"), [("cold", ["evict", "hold"]), ("warm", ["hold"])])
def test_nothing_but_the_launch_stands_between_the_events(cache, before):
    cp = FakeCuda()
    timer = EventTimer(cp, L2_BYTES)
    assert timer.sample_ms(lambda: cp.queued.append("launch"), cache) == 0.25
    assert cp.queued == [*before, "start", "launch", "stop", "waited"]


def test_twice_the_l2_is_read_to_empty_it():
    cp = FakeCuda()
    EventTimer(cp, L2_BYTES)
    assert 4 * max(cp.words) == 2 * L2_BYTES
