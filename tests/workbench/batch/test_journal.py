"""The journal of a batch outlives whatever ends the program, and says what is left to do."""

import errno
import json
import os
from io import FileIO
from pathlib import Path

import pytest

from kernels.core import safe_files
from workbench.base.paths import DATA_VARIABLE, data_folder
from workbench.batch.filtering import Outcome
from workbench.batch.journal import (
    NAME,
    Journal,
    JournalError,
    Shard,
    journals_among,
    last_run,
    merge,
    named_in,
    place_of,
    prune,
)
from workbench.batch.pairs import FilePair

ASKED = {"filter": "gaussian", "size": 5, "weights": None, "alpha": "premultiplied"}


def line(output, status="done"):
    return {"input": f"in/{output}", "output": output, "status": status, "error": None}


def lines(folder):
    return [json.loads(each) for each in (folder / NAME).read_text().splitlines()]


def begun(folder, *of):
    """A journal with these lines, whose process ended without a word."""
    with Journal(folder, ASKED) as journal:
        for each in of:
            journal.append(each)


def test_what_is_done_is_not_done_again_and_what_failed_is(tmp_path):
    begun(tmp_path / "out", line("a.png"), line("b.png", "failed"), line("c.png", "skipped"))
    with Journal(tmp_path / "out", ASKED, resuming=True) as journal:
        assert journal.last.known.keys() == {"a.png", "c.png"}
        journal.append(line("b.png"))
    assert last_run(tmp_path / "out" / NAME).known.keys() == {"a.png", "b.png", "c.png"}
    assert [each for each in lines(tmp_path / "out") if "asked" in each] == [
        {"batch": 1, "asked": ASKED, "replace": False}
    ]


def test_of_journals_that_can_not_be_resumed_the_newest_stay(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    monkeypatch.setattr("workbench.batch.journal.KEPT", 3)
    made = []
    for n in range(7):
        path = place_of([tmp_path / "in"], tmp_path / f"out{n}")
        with Journal(tmp_path / f"out{n}", ASKED, path=path) as journal:
            journal.append(line("a.png") if n == 1 else {"ended": {}})
        os.utime(path, (n, n))
        made.append(path)
    other = made[0].with_name("other.jsonl")
    other.write_text("of another version\n")
    os.utime(other, (0, 0))
    prune()
    assert [n for n, path in enumerate(made) if path.exists()] == [1, 4, 5, 6]
    assert other.exists()
    assert not made[2].parent.exists()

    def removed(*_):
        yield other
        raise FileNotFoundError(other.parent)  # by another batch

    monkeypatch.setattr(Path, "glob", removed)
    prune()


def test_its_place_is_of_input_and_output_and_beside_the_results_where_one_is(tmp_path):
    for name in ("in", "other", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "in/a.png").touch()
    place = place_of([tmp_path / "in"], tmp_path / "out")
    assert place.is_relative_to(data_folder())
    assert place_of([tmp_path / "in/a.png", tmp_path / "in"], tmp_path / "out") == place
    alone = place_of([tmp_path / "in/a.png"], tmp_path / "out")
    assert alone != place  # so that neither ends the other
    assert alone.parent == place.parent
    assert place_of([tmp_path / "other"], tmp_path / "out") != place
    assert place_of([tmp_path / "in"], tmp_path / "other") != place
    (tmp_path / "out" / NAME).touch()
    assert place_of([tmp_path / "in"], tmp_path / "out") == tmp_path / "out" / NAME


def test_a_run_that_was_stopped_is_not_forgotten_by_mistake(tmp_path):
    begun(tmp_path, line("a.png"))
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(JournalError, match="did not come to its end; add --resume"):
        Journal(tmp_path, ASKED)
    assert (tmp_path / NAME).read_bytes() == before
    Journal(tmp_path, {**ASKED, "size": 7}, replacing=True).close()
    assert not last_run(tmp_path / NAME).known


def test_a_run_is_gone_on_with_only_as_it_was_begun(tmp_path):
    begun(tmp_path, line("a.png"))
    with pytest.raises(JournalError, match=r"other options \(size, weights\); resume it"):
        Journal(tmp_path, {**ASKED, "size": 7, "weights": [[1.0]]}, resuming=True)


def test_a_file_that_is_no_journal_is_left_alone(tmp_path):
    (tmp_path / NAME).write_text("my notes\n")
    for resuming in (False, True):
        with pytest.raises(JournalError, match="is no journal of this version"):
            Journal(tmp_path, ASKED, resuming=resuming)
    assert (tmp_path / NAME).read_text() == "my notes\n"


def test_one_process_at_a_time_writes_it(tmp_path):
    with Journal(tmp_path, ASKED), pytest.raises(JournalError, match="Another process"):
        Journal(tmp_path, ASKED, resuming=True)


def test_one_process_at_a_time_writes_into_a_folder_wherever_its_pictures_are(
    tmp_path, monkeypatch
):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    for name in ("in", "other", "out"):
        (tmp_path / name).mkdir()
    first, other = (place_of([tmp_path / name], tmp_path / "out") for name in ("in", "other"))
    with Journal(tmp_path / "out", ASKED, path=first):
        with pytest.raises(JournalError, match="Another process"):
            Journal(tmp_path / "out", ASKED, path=other)
        elsewhere = place_of([tmp_path / "in"], tmp_path / "out2")
        Journal(tmp_path / "out2", ASKED, path=elsewhere).close()
    Journal(tmp_path / "out", ASKED, path=other).close()
    assert not list((tmp_path / "out").iterdir())


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    class Full(FileIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(safe_files, "FileIO", Full)
    with pytest.raises(JournalError, match="the disk is full; free some space"):
        Journal(tmp_path, ASKED)


def test_a_line_tells_what_became_of_a_picture(tmp_path):
    pair = FilePair(tmp_path / "a.png", tmp_path / "out" / "sub" / "a.png")
    failed = Outcome(pair, error="It is broken.", remarks=("Turned.",), seconds={"decode": 0.5})
    assert named_in(tmp_path / "out", pair.target) == "sub/a.png"
    assert failed.line("sub/a.png") == {
        "input": str(tmp_path / "a.png"),
        "output": "sub/a.png",
        "status": "failed",
        "error": "It is broken.",
        "remarks": ["Turned."],
        "seconds": {"decode": 0.5},
    }


def written(folder, shard, *lines, asked=ASKED, is_over=True, **how):
    with Journal(folder, asked, path=folder / shard.journal_name, **how) as journal:
        for each in lines:
            journal.append(each)
        if is_over:
            journal.append({"ended": {}})


def test_merged_journals_are_one_that_can_be_gone_on_with(tmp_path):
    written(tmp_path, Shard(1, 2), line("a", "failed"), line("b"))
    written(tmp_path, Shard(2, 2), line("c"), replacing=True)
    with Journal(
        tmp_path, ASKED, resuming=True, path=tmp_path / Shard(1, 2).journal_name
    ) as journal:
        assert journal.last.known.keys() == {"b"}
        journal.append(line("a"))
        journal.append({"ended": {}})
    assert merge(journals_among([tmp_path]), tmp_path) == {"done": 3}
    assert last_run(tmp_path / NAME).known.keys() == {"a", "b", "c"}
    assert last_run(tmp_path / NAME).replaces
    lines = [json.loads(each) for each in (tmp_path / NAME).read_text().splitlines()]
    outputs = [each["output"] for each in lines if "status" in each]
    assert sorted(outputs) == ["a", "b", "c"]
    with Journal(tmp_path, ASKED, resuming=True) as journal:
        assert journal.last.known.keys() == {"a", "b", "c"}


def test_what_is_not_whole_is_not_merged(tmp_path):
    def refused(words, *inputs):
        with pytest.raises(JournalError, match=words):
            merge(journals_among(inputs or [tmp_path]), tmp_path)
        assert not (tmp_path / NAME).exists()

    refused("no journals of shards in")
    written(tmp_path, Shard(1, 3), line("a"))
    refused("no journal of shard 2, 3 of 3")
    written(tmp_path, Shard(2, 3), line("b"), asked={"filter": "box"})
    refused("is of a batch with other options")
    (tmp_path / Shard(2, 3).journal_name).unlink()
    written(tmp_path, Shard(2, 3), line("b"), is_over=False)
    refused("did not come to its end")
    (tmp_path / Shard(2, 3).journal_name).unlink()
    written(tmp_path, Shard(2, 4))
    refused("different numbers of shards")
    refused("is no journal of a shard", tmp_path / "x.jsonl")
    refused("Cannot read", tmp_path / Shard(3, 3).journal_name)
