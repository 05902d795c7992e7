"""Shards together are the whole, nothing twice, whatever the files are called."""

import json
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.batch.journal import NAME, Journal, JournalError, last_run
from workbench.batch.shards import Shard, journals_among, merge

NAMES = st.sets(st.text(min_size=1, max_size=20), max_size=40)
ASKED = {"filter": "sharpen"}


@given(NAMES, st.integers(1, 20))
def test_each_result_is_in_one_shard(names, count):
    shards = [Shard(number, count) for number in range(1, count + 1)]
    parts = [[name for name in names if shard.has(name)] for shard in shards]
    assert sorted(chain.from_iterable(parts)) == sorted(names)


def line(name, status="done"):
    return {"input": f"in/{name}", "output": name, "status": status, "error": None}


def written(folder, shard, *lines, asked=ASKED, is_over=True):
    with Journal(folder, asked, name=shard.journal_name) as journal:
        for each in lines:
            journal.append(each)
        if is_over:
            journal.append({"ended": {}})


def test_merged_journals_are_one_that_can_be_gone_on_with(tmp_path):
    written(tmp_path, Shard(1, 2), line("a", "failed"), line("b"))
    written(tmp_path, Shard(2, 2), line("c"))
    with Journal(tmp_path, ASKED, resuming=True, name=Shard(1, 2).journal_name) as journal:
        assert journal.known == {"b"}
        journal.append(line("a"))
        journal.append({"ended": {}})
    assert merge(journals_among([tmp_path]), tmp_path) == {"done": 3}
    assert last_run(tmp_path).known == {"a", "b", "c"}
    lines = [json.loads(each) for each in (tmp_path / NAME).read_text().splitlines()]
    outputs = [each["output"] for each in lines if "status" in each]
    assert sorted(outputs) == ["a", "b", "c"]
    with Journal(tmp_path, ASKED, resuming=True) as journal:
        assert journal.known == {"a", "b", "c"}


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
