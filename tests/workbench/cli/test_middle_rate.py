"""The rate of a batch is that of its middle."""

import pytest

from workbench.cli.benches.middle_rate import middle_per_s


def test_neither_the_start_nor_the_end_counts():
    started_s, each_s = 3.0, 0.02
    times = [started_s + each_s * at for at in range(91)]
    ending = [times[-1] + 1.0 * at for at in range(1, 11)]
    assert middle_per_s([*times, *ending]) == pytest.approx(50.0)
    assert middle_per_s([0.0, *times, *ending]) == pytest.approx(50.0)
