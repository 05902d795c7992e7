"""Recorded sessions: every preset is measured anew, packed, marked, and held against the old."""

import pytest

from kernels.sweeps.session_files import SessionFile, read_session
from tests.made_sessions import a_session


@pytest.fixture(autouse=True)
def recorded(script, tmp_path, monkeypatch):
    """A folder of its own for what is recorded."""
    monkeypatch.setattr(script, "RECORDED", tmp_path / "recorded")


def kept(folder, session):
    with SessionFile.create(folder, session.plan, session.machine, session.started) as file:
        for record in session.records:
            file.append(record)
    return folder


def test_what_is_packed_is_marked_and_whole(script, tmp_path):
    session = a_session("transfers")
    script.record("a", kept(tmp_path / "a", session))
    read = read_session(tmp_path / "recorded" / "a.jsonl.gz")
    assert read.is_shipped
    assert read.started == session.started
    assert [each.cell for each in read.records] == [each.cell for each in session.records]
    assert script.packed(read) == (tmp_path / "recorded" / "a.jsonl.gz").read_bytes()


def test_every_preset_is_one_of_those_and_unknown_ones_are_refused(script, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(script, "measured", lambda key, folder, no_gpu: asked.append(key))
    assert script.main([]) == 1  # none came to its end
    assert asked == [preset.key for preset in script.presets()]
    with pytest.raises(SystemExit):
        script.main(["no_such"])
    assert "there is no preset 'no_such'" in capsys.readouterr().err


def test_one_that_was_stopped_is_gone_on_with(script, tmp_path, monkeypatch):
    ran = []

    def run(words, **_):
        ran.append(words)
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(script.subprocess, "run", run)
    assert script.measured("a", tmp_path / "new", no_gpu=False)
    assert script.measured("a", kept(tmp_path / "old", a_session("sizes")), no_gpu=True)
    assert ["--resume" in words for words in ran] == [False, True]
    assert ["--no-gpu" in words for words in ran] == [False, True]
