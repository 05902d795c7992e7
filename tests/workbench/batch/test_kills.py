"""A batch that is killed again and again loses nothing; `KILLS_FILES=10000` for a whole night's."""

import os

import pytest

from tests.kills import killed_and_resumed

FILES = int(os.environ.get("KILLS_FILES", "120"))
KILLS = max(FILES // 250, 3)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_batch_killed_at_random_loses_nothing_and_does_nothing_twice(tmp_path):
    found = killed_and_resumed(tmp_path, FILES, KILLS, seed=FILES)
    counts = (found.lost, found.twice, found.half_written, found.abandoned)
    assert counts == (0, 0, 0, 0), (tmp_path / "log").read_text()
    assert found.kills == KILLS
    assert found.peak_bytes > 0
