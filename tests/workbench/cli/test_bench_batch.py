"""`workbench bench batch`: a batch of files beside each of its stages alone."""

import json

import pytest

from workbench.cli import main
from workbench.cli.benches import batch
from workbench.cli.benches.batch import Rates


def test_a_batch_is_held_against_its_slowest_stage_and_all_in_turn():
    rates = Rates(decode=100.0, filter=200.0, encode=50.0, batch=45.0)
    assert rates.of_slowest == pytest.approx(0.9)
    assert rates.of_all_in_turn == pytest.approx(45 * (0.01 + 0.005 + 0.02))
    assert rates.cells(".png")[-2:] == ("90%", "1.58×")


def test_it_prints_a_row_for_each_format_and_leaves_nothing_behind(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(batch, "SIZE", (20, 30))
    monkeypatch.setattr(batch, "ROUNDS", 1)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    words = ["bench", "batch", "--runs", "3", "--no-gpu", "--json", str(tmp_path / "b.json")]
    assert main.main(words) == 0
    said = capsys.readouterr().out
    assert "3 of each format, 30×20 RGB" in said
    assert all(f"\n  {extension} " in said for extension in (".png", ".jpg", ".tif"))
    found = json.loads((tmp_path / "b.json").read_text())
    assert set(found["per_s"][".tif"]) == {"decode", "filter", "encode", "batch"}
    assert all(rate > 0 for rates in found["per_s"].values() for rate in rates.values())
    assert [each.name for each in tmp_path.iterdir()] == ["b.json"]


@pytest.mark.parametrize("step", ["read", "write"])
def test_a_file_that_fails_is_a_sentence_rather_than_a_rate(step, capsys, monkeypatch):
    def full(outcome, _recipe):
        outcome.error = "Cannot save 0.png: the disk is full."

    monkeypatch.setattr(batch, "SIZE", (20, 30))
    monkeypatch.setattr(f"workbench.cli.benches.batch.{step}", full)
    assert main.main(["bench", "batch", "--runs", "1", "--no-gpu"]) == 1
    assert "Cannot save 0.png: the disk is full." in capsys.readouterr().err
