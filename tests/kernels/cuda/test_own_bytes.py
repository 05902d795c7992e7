"""A rung's own passes and its operations: the larger of the two is the roof it stands under."""

from __future__ import annotations

from dataclasses import replace

from tests.kernels.sweeps.test_roofline import LARGE, roof


def test_where_operations_take_longer_than_the_passes_they_are_the_roof():
    under = roof(replace(LARGE, ksize=31), 2.0)
    assert under.compute_ms > under.passes_ms
    assert "passes" not in under.sentence
