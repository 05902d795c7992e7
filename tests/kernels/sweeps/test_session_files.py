"""Sessions on disk: nothing that was measured is lost, and nothing that was not is believed."""

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

from kernels.core import safe_files
from kernels.core.errors import SessionFileError
from kernels.core.timing import Timing
from kernels.sweeps.record import Record, compare_sessions, summary_of
from kernels.sweeps.session_csv import sessions_csv
from kernels.sweeps.session_files import SessionFile, header_line, read_session, record_line, resume
from tests.conftest import ROOT
from tests.kernels.sweeps.measuring_process import PLAN
from tests.made_sessions import H200, LAPTOP, PLANS, a_session, measured

SESSION = a_session("transfers")
CELLS = [record.cell for record in SESSION.records]


def written(path, session=SESSION):
    """The file of a whole session."""
    path = path / "session.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(header_line(session) + b"".join(map(record_line, session.records)))
    return path


def lines_of(path):
    return path.read_bytes().splitlines(keepends=True)


def refusal(call, *arguments):
    """The one sentence with which it refuses."""
    with pytest.raises(SessionFileError) as refused:
        call(*arguments)
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.fixture
def version_1(tmp_path):
    """The file of a session as the program's first version wrote it."""
    machine = replace(H200, ceilings={"copy_gb_s": 4200.0, "l2_gb_s": 7600.0})
    header, *records = lines_of(written(tmp_path, replace(SESSION, machine=machine)))
    data = json.loads(header)
    data["version"] = 1
    del data["shipped"]
    path = tmp_path / "version-1.jsonl"
    path.write_bytes(b"".join([json.dumps(data).encode() + b"\n", *records]))
    return path


# -- what is written is read -----------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_every_kind_of_session_is_read_as_it_was_written(name, tmp_path):
    session = a_session(name, first=40)
    read = read_session(written(tmp_path, session))
    assert (read.plan, read.machine, read.started) == (
        session.plan,
        session.machine,
        session.started,
    )
    assert read.is_recorded
    assert read.remarks == ()
    assert [record.cell for record in read.records] == [record.cell for record in session.records]
    for ours, theirs in zip(session.records, read.records, strict=True):
        assert ours.objection == theirs.objection
        assert ours.at == theirs.at
        if ours.verified:
            assert theirs.verified.ran == ours.verified.ran
            assert theirs.verified.health == ours.verified.health


@pytest.mark.parametrize(
    "path", sorted((ROOT / "assets" / "recorded").iterdir()), ids=lambda path: path.name
)
def test_every_session_that_comes_with_the_program_says_so(path):
    session = read_session(path)
    assert session.is_shipped
    assert session.remarks == ()


def test_a_session_of_the_first_version_still_opens(version_1):
    read = read_session(version_1)
    assert [record.cell for record in read.records] == CELLS
    assert read.remarks == ()
    assert not read.is_shipped


def test_a_compressed_file_is_read_and_not_gone_on_with(tmp_path):
    path = written(tmp_path)
    packed = tmp_path / "session.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    expected = read_session(path)
    assert read_session(packed) == expected
    path.unlink()
    assert read_session(tmp_path) == expected
    assert "compressed" in refusal(resume, tmp_path, H200)


def test_of_a_cell_measured_twice_the_last_counts(tmp_path):
    again = Record(CELLS[0], "Later it was refused.")
    read = read_session(written(tmp_path, replace(SESSION, records=(*SESSION.records, again))))
    assert len(read.records) == len(CELLS)
    assert read.records[0].objection == "Later it was refused."  # in the plan's order, still


# -- what is no session ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (bytes(range(256)) * 10, "is not a session of measurements"),
        (b'{"format": "Filter Work', "is not a session of measurements"),
        (b'{"version": 1}\n', "is not a session of measurements"),
        (b"[" * 100_000, "is not a session of measurements"),
        (b"9" * 10_000, "is not a session of measurements"),
        (b"\x1f\x8b\x08garbage", "cannot be read"),
    ],
)
def test_a_foreign_file_is_refused_in_one_sentence(content, complaint, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    sentence = refusal(read_session, path)
    assert complaint in sentence
    assert str(path) in sentence
    assert path.read_bytes() == content
    refusal(resume, path, H200)
    assert path.read_bytes() == content


def test_a_newer_version_is_refused_in_words(tmp_path):
    path = written(tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"version":4,', b'"version":5,', 1))
    sentence = refusal(read_session, path)
    for told in (str(path), "newer", "version 5", "versions 1 to 4"):
        assert told in sentence


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b'"version":4,', b"", "no version"),
        (b'"title":', b'"titel":', "plan.titel is not known"),
        (b'"started":1763700000.0', b'"started":1e300', "started is not a time"),
        (b'"ksizes":[3]', b'"ksizes":["3"]', "plan.ksizes[0] is not a whole number"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused_with_its_place(old, new, complaint, tmp_path):
    path = written(tmp_path)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    assert complaint in refusal(read_session, path)


# -- what became of a file since -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b'"ksize":3', b'"ksize":"3"', "cell.ksize is not a whole number"),
        (b'"ksize":3', b'"ksize":-3', "no size"),
        (b'"samples_ms":[', b'"samples_ms":[-1.0,', "not durations"),
        (b'"samples_ms":[', b'"samples_ms":["inf",', "not durations"),
        (b'"count":1', b'"count":1,"colour":3', "cell.colour is not known"),
        (b'"at":1763700001.0', b'"at":"inf"', "at is not a time"),
        (b'"width":2048', b'"width":' + b"9" * 400, "cell.width is not a whole number"),
        (b"}", b"", "not JSON"),
        (b'"picture"', b'"pict\xff\xfe"', "not JSON"),
        pytest.param(b"{", b"x" * (9 << 20), "not JSON", id="longer than any record"),
    ],
)
def test_a_broken_line_costs_itself_and_no_other(old, new, complaint, tmp_path):
    path = written(tmp_path)
    lines = lines_of(path)
    assert old in lines[2]
    lines[2] = lines[2].replace(old, new, 1)
    path.write_bytes(b"".join(lines))
    read = read_session(path)
    assert [record.cell for record in read.records] == [CELLS[0], *CELLS[2:]]
    (remark,) = read.remarks
    assert remark.startswith("Its line 3 is left out: ")
    assert complaint in remark


def test_wherever_the_last_line_was_cut_off_the_others_are_kept(tmp_path):
    whole = written(tmp_path / "whole").read_bytes()
    last = len(whole) - len(whole.splitlines(keepends=True)[-1])
    path = tmp_path / "a.jsonl"
    for end in range(last + 1, len(whole) - 1, 41):  # the newline alone may go: see below
        path.write_bytes(whole[:end])
        read = read_session(path)
        assert [record.cell for record in read.records] == CELLS[:-1]
        (remark,) = read.remarks
        assert "last line" in remark
        assert path.read_bytes() == whole[:end]
        session, file = resume(path, H200, SESSION.plan)
        with file:
            assert len(session.records) == len(file.cells) == len(CELLS) - 1
            file.append(SESSION.records[-1])
        assert path.read_bytes() == whole


@pytest.mark.skipif(sys.platform == "win32", reason="there an open file cannot be deleted")
@pytest.mark.parametrize("what", ["file", "folder", "another in its place"])
def test_a_file_that_is_gone_while_it_is_written_is_said(tmp_path, what):
    path = tmp_path / "sessions" / "a.jsonl"
    with SessionFile.create(path, SESSION.plan, SESSION.machine) as file:
        file.append(SESSION.records[0])
        if what == "folder":
            shutil.rmtree(path.parent)
        else:
            path.unlink()
        if what == "another in its place":
            path.touch()
        with pytest.raises(SessionFileError, match="was deleted or moved while it was being"):
            file.append(SESSION.records[1])
        assert len(file.cells) == 1


def test_whatever_is_wrong_with_a_file_is_said_and_what_is_read_can_be_worked_with(tmp_path):
    whole, path = written(tmp_path).read_bytes(), tmp_path / "changed.jsonl"
    drawn = random.Random(1)
    outcomes = Counter()
    for _ in range(120):
        path.write_bytes(changed(whole, drawn))
        try:
            read = read_session(path)
        except SessionFileError:
            outcomes["refused"] += 1
            continue
        outcomes["read with remarks" if read.remarks else "read"] += 1
        sessions_csv([read])
        summary_of(compare_sessions(SESSION, read))
    assert min(outcomes.values()) > 3
    assert len(outcomes) == 3


def changed(whole, drawn):
    """`whole` with a few bytes of it changed, left out or repeated."""
    content = bytearray(whole)
    for _ in range(drawn.choice((1, 1, 2, 5))):
        at, other = drawn.randrange(len(content)), drawn.randrange(len(content))
        match drawn.randrange(4):
            case 0:
                content[at] = drawn.randrange(256)
            case 1:
                content[at] = drawn.choice(b'0123456789-eE.[]{}",:\n ')
            case 2:
                del content[at : at + drawn.randrange(1, 30)]
            case _:
                content[at:at] = content[other : other + drawn.randrange(1, 40)]
    return bytes(content)


# -- going on --------------------------------------------------------------------------------------


def test_what_is_resumed_is_the_same_session_longer(tmp_path):
    path = written(tmp_path, replace(SESSION, records=SESSION.records[:2]))
    session, file = resume(tmp_path, H200, SESSION.plan)
    assert not session.is_recorded
    assert [record.cell for record in session.records] == CELLS[:2]
    with file:
        for record in SESSION.records[2:]:
            file.append(record)
        assert len(file.cells) == len(CELLS)
    assert [record.cell for record in read_session(path).records] == CELLS


def test_another_machine_or_plan_is_another_session(tmp_path):
    path = written(tmp_path)
    content = path.read_bytes()
    assert "NVIDIA H200" in refusal(resume, path, LAPTOP)
    other = replace(H200, gpu="NVIDIA Made Up 1")
    assert "this computer has NVIDIA Made Up 1" in refusal(resume, path, other)
    assert "another CPU" in refusal(resume, path, replace(H200, cpu="another CPU"))
    plan = replace(SESSION.plan, ksizes=(3, 5), blocks=((8, 8),))
    assert "with another kernel_size, block;" in refusal(resume, path, H200, plan)
    assert path.read_bytes() == content


@pytest.mark.skipif(os.name == "nt", reason="there are no pipes in folders there")
def test_a_pipe_in_the_place_of_a_session_is_said_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "session.jsonl")
    session = a_session("transfers")
    with pytest.raises(SessionFileError):
        resume(tmp_path, session.machine)
    with pytest.raises(SessionFileError):
        read_session(tmp_path)


# -- a real process --------------------------------------------------------------------------------


def start(folder, *options):
    program = [
        sys.executable,
        "-m",
        "tests.kernels.sweeps.measuring_process",
        str(folder),
        *options,
    ]
    return subprocess.Popen(program, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def test_a_process_killed_half_way_loses_nothing_and_repeats_nothing(tmp_path):
    path, cells = tmp_path / "session.jsonl", PLAN.cells()
    known = []
    for count in (5, 14):
        process = start(tmp_path, *(["--resume"] if known else []))
        deadline = time.monotonic() + 30
        while not path.exists() or path.read_bytes().count(b"\n") <= count:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        sentence = refusal(resume, tmp_path, H200)
        assert "Another process is writing" in sentence
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        records = list(read_session(path).records)
        assert records[: len(known)] == known  # nothing that was kept is lost or changed
        assert count <= len(records) < len(cells)
        known = records
    process = start(tmp_path, "--resume", "--milliseconds", "0")
    assert process.communicate()[1] == ""
    assert process.returncode == 0
    _, *lines = lines_of(path)
    measured_cells = Counter(json.dumps(json.loads(each)["cell"]) for each in lines)
    assert len(lines) == len(cells)
    assert set(measured_cells.values()) == {1}
    read = read_session(path)
    assert [record.cell for record in read.records] == list(cells)
    assert list(read.records[: len(known)]) == known
    assert read.remarks == ()


def test_a_full_disk_keeps_what_was_measured_and_says_so(tmp_path):
    pytest.importorskip("resource")
    path = tmp_path / "session.jsonl"
    process = start(tmp_path, "--milliseconds", "0", "--most-bytes", "9000")
    said = process.communicate()[1]
    assert process.returncode == 1
    read = read_session(path)
    kept = len(read.records)
    assert 0 < kept < len(PLAN.cells())
    assert read.remarks == ()
    assert said == (
        f"A measurement could not be written (File too large); the {kept} before it are kept in "
        f"{path}.\n"
    )
    assert start(tmp_path, "--resume", "--milliseconds", "0").communicate()[1] == ""
    assert len(read_session(path).records) == len(PLAN.cells())


# -- rounds ----------------------------------------------------------------------------------------


def part(cell, rounds, ended=""):
    timing = Timing(tuple(float(n + 1) for n in range(2 * rounds)), None, ended, 1, (2,) * rounds)
    return Record(cell, replace(measured(cell), kernel=timing))


def test_the_parts_of_a_cell_are_one_record_and_the_last_of_them_counts(tmp_path):
    records = [part(cell, number) for number in (1, 2, 3) for cell in CELLS[:2]]
    path = written(tmp_path, replace(SESSION, records=records))
    read = read_session(path).records
    assert [each.cell for each in read] == CELLS[:2]
    assert [len(each.outcome.kernel.rounds) for each in read] == [3, 3]
    assert not any(each.is_complete for each in read)
    file = resume(path, H200)[1]
    with file:
        assert len(file.cells) == 2
        file.append(part(CELLS[0], 4, "time"))
        assert len(file.cells) == 2
    assert [each.is_complete for each in read_session(path).records] == [True, False]


@pytest.mark.parametrize("rounds", [(1,), (2, 2), (2, 0), (3, -1), ("2",)])
def test_rounds_that_do_not_hold_the_samples_are_not_believed(tmp_path, rounds):
    path = written(tmp_path, replace(SESSION, records=(part(CELLS[0], 1, "time"),)))
    text = path.read_text().replace('"rounds":[2]', f'"rounds":{json.dumps(list(rounds))}')
    path.write_text(text)
    read = read_session(path)
    assert read.records == ()
    assert len(read.remarks) == 1


def test_parts_do_not_wait_for_the_disk_each_but_never_for_longer_than_a_second(
    tmp_path, monkeypatch
):
    synced, clock = [], [0.0]
    monkeypatch.setattr(safe_files.os, "fsync", synced.append)
    monkeypatch.setattr(safe_files, "monotonic", lambda: clock[0])
    with SessionFile.create(tmp_path, SESSION.plan, H200) as file:
        assert len(synced) == 1
        for _ in range(50):
            file.append(part(CELLS[0], 1))
        assert len(synced) == 1
        clock[0] += 1.1
        file.append(part(CELLS[0], 2))
        assert len(synced) == 2
        file.append(part(CELLS[0], 3, "samples"))
        assert len(synced) == 3
        file.append(part(CELLS[1], 1))
    assert len(synced) == 4
