"""How many blocks one below another finish a picture soonest."""

from __future__ import annotations

import pytest

from kernels.rungs.job_facts import MAX_WAVES, blocks_down


def time_of(count, strips, resident, rows, more):
    return -(-strips * count // resident) * (-(-rows // count) + more)


@pytest.mark.parametrize(
    ("strips", "resident", "rows", "more", "count"),
    [
        (48, 396, 512, 5, 8),  # one wave, nearly full
        (48, 132, 512, 17, 5),  # of one wave a quarter would be empty: two
        (64, 132, 512, 17, 2),
        (9, 528, 64, 2, 58),  # of a small picture each block has two
        (1, 528, 32, 2, 32),  # no more blocks than rows
        (192, 132, 2048, 17, 2),  # more strips than blocks at a time
        (1, 1, 1, 1, 1),
    ],
)
def test_as_few_waves_as_waste_little(strips, resident, rows, more, count):
    assert blocks_down(strips, resident, rows, more) == count
    own = time_of(count, strips, resident, rows, more)
    for waves in range(1, MAX_WAVES + 1):
        other = max(1, min(rows, waves * resident // strips))
        assert own <= time_of(other, strips, resident, rows, more)
