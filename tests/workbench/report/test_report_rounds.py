"""The report says how sweeps in rounds were measured, and what disturbed them."""

from dataclasses import replace

from kernels.core.cpu_load import Load
from kernels.core.timing import Timing
from tests.made_sessions import a_session
from workbench.report import method


def in_rounds(cell, measured):
    timing = Timing(tuple(1.0 + n / 100 for n in range(20)), None, "time", 1, (2,) * 10)
    busy = Load(1.0, 8, 4.0, 0.0) if cell.implementation == "opencv" else None
    return replace(measured, kernel=timing, load=busy)


def said(*sessions):
    return " ".join(text for _, text in method.paragraphs(sessions))


def test_rounds_are_told_in_place_of_a_rule_that_did_not_hold():
    told = said(a_session("transfers", outcome=in_rounds))
    assert "Every cell was measured in rounds" in told
    assert "how far the rounds lie apart: 10 of them." in told
    assert "had settled below" not in told


def test_sessions_of_before_there_were_rounds_keep_their_rule():
    told = said(a_session("transfers"))
    assert "in rounds, a part at a time" not in told
    assert "had settled below" in told


def test_what_disturbed_is_told():
    told = said(a_session("transfers", outcome=in_rounds))
    assert "of 1 times on the CPU was disturbed: other programs kept 4.0 of 8 cores busy." in told
    assert "disturbed" not in said(a_session("transfers"))
