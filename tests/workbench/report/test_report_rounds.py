"""The report says how sweeps in rounds were measured, and what disturbed them."""

import math
from dataclasses import replace

from kernels.core.cpu_load import Load
from kernels.core.timing import Timing
from tests.made_sessions import a_session
from workbench.report import method
from workbench.report.document import composing


def in_rounds(cell, measured):
    timing = Timing(tuple(1.0 + n / 100 for n in range(20)), None, "time", 1, (2,) * 10)
    busy = Load(1.0, 8, 4.0, 0.0) if cell.implementation == "opencv" else None
    return replace(measured, kernel=timing, load=busy)


def said(*sessions):
    return " ".join(text for _, text in method.paragraphs(sessions))


def test_rounds_are_told_in_place_of_a_rule_that_did_not_hold():
    told = said(a_session("transfers", outcome=in_rounds))
    assert "Every cell was measured in rounds" in told
    assert "10 of them" in told
    assert "had settled below" not in told


def test_how_far_two_sessions_have_to_be_apart_is_told_where_there_are_two():
    session = a_session("transfers")
    rule = "by 3 % on the GPU, 5 % under 10 µs, and 15 % on the CPU"
    assert rule in said(session, replace(session, started=session.started + 60))
    assert rule not in said(session)


def lead(outcome):
    """The line at the top of a report of the sizes, with what becomes of each cell."""
    steps = list(composing([a_session("sizes", outcome=outcome)], {}, 0.0))
    return steps[-1].lead


def busy_up_to(ms):
    """Other programs kept the CPU busy while what took at most so long was measured."""
    load = Load(1.0, 2, 2.0, 0.0)
    return lambda cell, found: replace(found, load=load) if found.kernel.median_ms <= ms else found


def test_where_most_was_disturbed_the_top_of_the_report_says_so_and_by_what():
    said = lead(busy_up_to(math.inf))
    assert "Most of them were disturbed" in said
    assert "2.0 of 2 cores" in said
