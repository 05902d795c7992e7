"""What was measured outlives the program, and never stands in its way."""

import json
import threading
from dataclasses import replace

import pytest

from kernels.engine import auto as measurements
from kernels.engine.auto import VERSION, Candidate, JobClass, Measurements, device_key, source_key
from tests.made_up import H200

KIND = JobClass("uint8", 3, 5, "separable", "clamp", 19)
QUICK = Candidate("shared", (32, 8), 0.1, 0.09, 0.11)
OWN_SHAPE = Candidate("ring", None, 0.2, 0.19, 0.21)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "measurements.json"


def filled(path, device=H200):
    made = Measurements(device, path)
    made.add(KIND, QUICK)
    made.add(KIND, OWN_SHAPE)
    made.save()
    return made


def test_what_is_saved_is_known_again(path):
    filled(path)
    again = Measurements(H200, path)
    assert again.of(KIND) == (QUICK, OWN_SHAPE)
    assert again.kinds() == (KIND,)
    assert again.complaint == ""


def test_other_devices_drivers_and_sources_have_their_own(path, monkeypatch):
    filled(path)
    other = replace(H200, name="NVIDIA Other")
    assert Measurements(other, path).of(KIND) == ()
    filled(path, other)
    assert Measurements(H200, path).of(KIND) == (QUICK, OWN_SHAPE)
    newer = replace(H200, driver_version=13_010)
    assert Measurements(newer, path).of(KIND) == ()
    monkeypatch.setattr("kernels.engine.auto.source_key", lambda: "another text")
    assert Measurements(H200, path).of(KIND) == ()


def test_what_another_process_adds_is_seen_and_kept(path):
    ours, theirs = filled(path), Measurements(H200, path)
    theirs.add(replace(KIND, size=24), QUICK)
    theirs.save()
    assert set(ours.kinds()) == {KIND, replace(KIND, size=24)}
    ours.add(replace(KIND, size=26), QUICK)
    ours.save()
    assert len(Measurements(H200, path).kinds()) == 3


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"version": 1}',
        json.dumps({"version": VERSION + 1, "devices": {}}),
        json.dumps(
            {
                "version": VERSION,
                "devices": {device_key(H200): {"source": source_key(), "kinds": 3}},
            }
        ),
        json.dumps({"version": VERSION, "devices": {device_key(H200): 3}}),
    ],
)
def test_a_file_that_makes_no_sense_is_said_once_and_written_anew(text, path, caplog):
    path.parent.mkdir()
    path.write_text(text)
    made = Measurements(H200, path)
    assert made.of(KIND) == ()
    assert made.complaint
    made.of(KIND)
    assert len(caplog.records) == 1
    made.add(KIND, QUICK)
    made.save()
    assert Measurements(H200, path).of(KIND) == (QUICK,)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"size": 19', '"size": "19"'),
        ('"median_ms": 0.1', '"median_ms": NaN'),
        ('"median_ms": 0.1', '"median_ms": -1'),
        ('"block_xy": null', '"block_xy": [32]'),
    ],
)
def test_entries_that_make_no_sense_are_not_believed(path, right, wrong):
    other, large = replace(H200, name="NVIDIA Other"), replace(KIND, size=26)
    filled(path, other)
    made = filled(path)
    made.add(large, Candidate("shared", (32, 8), 0.3, 0.29, 0.31))
    made.save()
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong))
    made = Measurements(H200, path)
    assert made.kinds() == (large,)
    assert "1 of the entries" in made.complaint
    made.add(KIND, QUICK)
    made.save()
    assert "".join(wrong.split()) in "".join(path.read_text().split())  # of the other device


def test_two_that_save_at_once_lose_nothing(path, monkeypatch):
    ours, theirs = filled(path), Measurements(H200, path)
    ours.add(replace(KIND, size=26), QUICK)
    theirs.add(replace(KIND, size=24), QUICK)
    replacing, threads = measurements.replacing, []

    def interrupted(target):
        """Write, and have the other one begin to save just then."""
        if not threads:
            threads.append(threading.Thread(target=theirs.save))
            threads[0].start()
            threads[0].join(0.2)  # it waits for the lock
        return replacing(target)

    monkeypatch.setattr(measurements, "replacing", interrupted)
    ours.save()
    threads[0].join()
    assert {kind.size for kind in Measurements(H200, path).kinds()} == {19, 24, 26}


def test_a_folder_that_cannot_be_written_costs_only_the_memory(tmp_path):
    (tmp_path / "file").touch()
    made = Measurements(H200, tmp_path / "file" / "measurements.json")
    made.add(KIND, QUICK)
    made.save()
    assert made.of(KIND) == (QUICK,)
    assert "cannot be kept" in made.complaint
