"""Ticks say round numbers, as many as there is room for."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.charts.drawing.plotting import apart, even_ticks, log_ticks, shortened


@pytest.mark.parametrize(
    ("low", "high", "gap", "values"),
    [
        (0, 1, 0.01, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (0, 1, 0.2, [1, 2, 5, 10]),
        (0, 2, 0.4, [1, 3, 10, 30, 100]),
        (-1, 3, 0.9, [0.1, 1, 10, 100, 1000]),
        (-2, 2, 1.5, [0.01, 1, 100]),
        (-3, 6, 2.5, [1e-3, 1, 1e3, 1e6]),
        (0.15, 0.93, 0.5, [2, 8]),  # 1, 2 and 5 would be one tick or two that touch
        (0.32, 0.5, 0.4, [3]),
    ],
)
def test_log_ticks_are_round_and_apart(low, high, gap, values):
    assert [10**tick for tick in log_ticks(low, high, gap)] == pytest.approx(values)


@pytest.mark.parametrize(
    ("low", "high", "gap", "values"),
    [
        (0, 10, 1.5, [0, 2, 4, 6, 8, 10]),
        (0.3, 2.1, 0.5, [0.5, 1.0, 1.5, 2.0]),
        (0, 1, 0.11, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (3, 3, 0.0, [3]),
        (0, 55, 60, [0, 50]),
        (0, 2.4, 2.1, [0, 2]),
        (0, 45, 60, [0, 40]),
        (0.5, 1.6, 1.2, [0.5, 1.5]),
    ],
)
def test_even_ticks_are_round_and_apart(low, high, gap, values):
    assert even_ticks(low, high, gap) == pytest.approx(values)


@given(low=st.floats(-1e3, 1e3), span=st.floats(1e-3, 1e6), share=st.floats(0.02, 0.4))
def test_even_ticks_are_never_nearer_than_asked(low, span, share):
    ticks = even_ticks(low, low + span, share * span)
    assert len(ticks) > 1
    if len(ticks) > 2:  # two there have to be
        assert all(b - a >= share * span * (1 - 1e-6) for a, b in pairwise(ticks))
    assert all(low - 1e-6 * span <= tick <= low + span + 1e-6 * span for tick in ticks)


def test_zeros_at_the_end_of_a_tick_say_nothing():
    long = ("1.00 ms", "2.50×", "10.0 s", "200 µs", "0.105 s")
    assert [shortened(text) for text in long] == ["1 ms", "2.5×", "10 s", "200 µs", "0.105 s"]


@pytest.mark.parametrize(
    ("middles", "wide", "kept"),
    [
        ((0, 10, 20, 30, 40), 9, [0, 1, 2, 3, 4]),
        ((0, 10, 20, 30, 40), 15, [0, 2, 4]),
        ((0, 30, 35, 40), 12, [0, 3]),
        ((0, 5), 9, [1]),
        ((0,), 9, [0]),
        ((), 9, []),
    ],
)
def test_the_first_and_the_last_tick_always_have_a_text(middles, wide, kept):
    assert apart([(each - wide / 2, each + wide / 2) for each in middles]) == kept
