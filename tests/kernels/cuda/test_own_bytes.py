"""A rung's own passes and its operations: the larger of the two is the roof it stands under."""

from __future__ import annotations

from dataclasses import replace

from kernels.cuda.transfers import MAX_BYTES, why_not_transferred
from kernels.engine.measurements import Candidate
from tests.kernels.sweeps.test_roofline import LARGE, roof


def test_where_operations_take_longer_than_the_passes_they_are_the_roof():
    under = roof(replace(LARGE, ksize=31), 2.0)
    assert under.compute_ms > under.passes_ms
    assert "passes" not in under.sentence


def test_a_picture_too_large_to_be_transferred_says_how_large():
    assert why_not_transferred(MAX_BYTES) is None
    said = why_not_transferred(9_500_000_000)
    assert f"up to {MAX_BYTES / 1e9:.1f} GB, and this one takes 9.5 GB" in said


def test_what_was_measured_is_named_by_rung_and_block():
    assert Candidate("shared", (8, 16), 1.0, 0.9, 1.1).way == ("shared", (8, 16))
