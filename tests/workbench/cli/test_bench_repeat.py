"""`workbench bench repeat`: how often the same work is called different from itself."""

import json
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from kernels.core.job import Sampling
from kernels.core.timing import Timing
from workbench.cli import main
from workbench.cli.benches import repeat
from workbench.cli.benches.repeat import Tally, tally_of


def apart(medians_ms):
    """Sweeps of one cell, steady within each round, whose rounds lie apart."""
    samples = [float(m) for m in medians_ms for _ in range(10)]
    return Timing(tuple(samples), rounds=(10,) * len(medians_ms))


def test_sweeps_that_agree_are_never_called_different():
    drawn = np.random.default_rng(1)
    found = tally_of([apart(1 + 0.2 * drawn.random(10)) for _ in range(8)])
    assert found.compared == 28
    assert found.rate <= 0.1
    assert found.naive > found.different
    assert 0 < found.spread < 0.2


def test_sweeps_that_differ_are_called_different():
    found = tally_of([apart([1.0] * 10), apart([1.1] * 10), apart([1.2] * 10)])
    assert (found.compared, found.different) == (3, 3)
    assert found.spread == pytest.approx(0.2)


def test_the_rate_of_all_stands_below_the_table():
    said = "\n".join(
        repeat.lines({"opencv": Tally(30, 1, 9, 0.02), "parallel": Tally(30, 2, 9, 0.1)})
    )
    assert re.search(r"opencv +30 +1 +3.3% +2.0%", said)
    assert "in 3 of 60 comparisons, 5.0%; the aim is 5% at most." in said
    assert "it would have been 30.0%" in said


def test_the_bench_sweeps_and_compares(monkeypatch, tmp_path, capsys):
    quick = Sampling(max_samples=8, max_seconds=0.01, check_taps=1000)
    small = replace(repeat.PLAN, sizes=((16, 16),), ksizes=(3,), sampling=quick)
    monkeypatch.setattr(repeat, "PLAN", small)
    made = 0

    class Counted(ProcessPoolExecutor):
        """One process, counted: what it chose once must not serve the next sweep."""

        def __init__(self, *words, **options):
            nonlocal made
            made += 1
            super().__init__(*words, **options)

    monkeypatch.setattr(repeat, "ProcessPoolExecutor", Counted)
    path = tmp_path / "a.json"
    assert main.main(["bench", "repeat", "--runs", "3", "--no-gpu", "--json", str(path)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"A was called different from A in \d+ of \d+ comparisons, [\d.]+%", said)
    data = json.loads(path.read_text())
    assert {len(each["medians_ms"]) for each in data["cells"]} == {3}
    assert made == 3
    for cell in data["cells"]:
        for median_ms, rounds_ms in zip(cell["medians_ms"], cell["rounds_ms"], strict=True):
            assert min(rounds_ms) <= median_ms <= max(rounds_ms)
    assert data["tallies"]["opencv"]["compared"] == 3


def test_one_sweep_cannot_be_compared(capsys):
    assert main.main(["bench", "repeat", "--runs", "1", "--no-gpu"]) == 1
    assert "--runs 2" in capsys.readouterr().err
