"""After a crash the window comes back, once, and never takes another's place."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QPushButton

from kernels.pictures.generated import noise
from tests.workbench.driving import settle, show_picture, until
from tests.workbench.window.restoring.crashing import UNFINISHED
from workbench.base.settings import Settings
from workbench.files import image_files
from workbench.model import choices, intents
from workbench.model.state import State
from workbench.window import app
from workbench.window.restoring import autosave, lockfiles, restore
from workbench.window.restoring.autosave import HANDED_OVER, Keeper
from workbench.window.restoring.pin_notes import PinNotes, choices_of
from workbench.window.restoring.restoring import Restoring, in_words
from workbench.window.restoring.snapshot import taken

PATIENCE_S = 120
ROOT = __file__.rpartition("tests")[0]


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.png"
    image_files.save(path, noise(60, 80, 3))
    return path


def crashed(data, tries=0):
    """As a process leaves it that ends in the midst of everything."""
    place = lockfiles.new_place()
    place.write(data, tries=tries)
    place.close()
    return place.path


def names():
    return sorted(each.name for each in lockfiles.folder().iterdir())


# -- real processes


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.workbench.window.restoring.crashing", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_killed_window_is_back_as_it_was(home, photo, tmp_path):
    session = f"{ROOT}assets/recorded/goettingen_ladder.jsonl.gz"
    process = started("leave", photo, session)
    try:
        assert process.stdout.readline() == "kept\n"
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)
    assert len(names()) == 2  # what it showed, and its lock
    again = started("look")
    said, _ = again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 0
    found = json.loads(said)
    state = State(**choices.from_data(found["settings"]["choices"], State()))
    assert (state.filter, state.amount, state.ksize) == ("unsharp", 2.5, 7)
    assert (state.border, state.block_xy, state.view_mode) == ("mirror", (16, 16), "wipe")
    assert found["picture"]["path"] == str(photo)
    assert found["levels"] == [10.0, 200.0]
    assert [(pin["filter"], pin["ksize"]) for pin in found["pins"]] == [("box", 7)]
    assert found["view"] == {"place": [4.0, 30.0, 20.0], "divider": 250}
    assert found["pixel"] == [5, 6]
    assert found["sessions"] == [session]
    assert found["weights"] == {
        "cells": [list(row) for row in UNFINISHED.cells],
        "divisor": UNFINISHED.divisor,
        "offset": UNFINISHED.offset,
    }
    assert found["settings"]["recent"] == [str(photo)]
    assert "ended unexpectedly" in found["said"]
    assert names() == []  # it was closed as it should be: next time there is no question


def test_what_crashed_while_it_came_back_is_not_tried_again(home, photo, beginning):
    path = crashed({"picture": {"name": "photo.png", "path": str(photo), "built_in": None}})
    process = started("die")
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 9
    assert path.exists()
    window, restoring = beginning()
    assert str(path.with_suffix(".failed")) in window.messages.sentence
    assert not path.exists()
    assert path.with_suffix(".failed").exists()
    restoring.end()
    window, _ = beginning()
    assert window.messages.kind is None


# -- the files


def test_of_a_window_that_is_open_nobody_takes_anything(home):
    place = lockfiles.new_place()
    place.write({"picture": None})
    assert list(lockfiles.left(time.time())) == []
    place.close()
    (left,) = lockfiles.left(time.time())
    assert left.path == place.path
    assert list(lockfiles.left(time.time())) == []  # now somebody has it
    left.remove()
    assert names() == []


def test_the_newest_comes_first_and_the_oldest_not_at_all(home):
    now = time.time()
    ages = {"old": 3600, "new": 60, "ancient": lockfiles.MAX_SECONDS + 60}
    for name, age_s in ages.items():
        path = crashed({"name": name})
        os.utime(path, (now - age_s, now - age_s))
    found = list(lockfiles.left(now))
    assert [place.read()[0]["name"] for place in found] == ["new", "old"]
    assert len(list(lockfiles.folder().glob("*.json"))) == 2
    for place in found:
        place.remove()


def test_what_killed_processes_left_unfinished_is_cleared_away(home):
    living = lockfiles.new_place()
    crashed({"name": "crashed"})
    living.write_samples(noise(3, 4))
    names_of_rubbish = (".0123.part", "gone.lock", "gone.npy", "given-up.failed")
    for name in names_of_rubbish:
        (lockfiles.folder() / name).touch()
    later = time.time() + lockfiles.MAX_SECONDS - 60
    for place in lockfiles.left(later):  # nothing of it is old enough
        place.close()
    assert set(names_of_rubbish) <= set(names())
    list(lockfiles.left(later + 120))
    suffixes = (".lock", ".npy")  # of the one that lives
    assert names() == [living.path.with_suffix(each).name for each in suffixes]
    living.remove()
    assert names() == []


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"version": 2}', b"\xff", b"[" * 99_999])
def test_what_cannot_be_read_is_cleared_away(home, text, beginning):
    path = crashed({})
    path.write_bytes(text)
    window, restoring = beginning()
    assert not path.exists()
    assert window.messages.kind is None
    restoring.end()
    assert names() == []


def test_where_nothing_can_be_written_the_window_opens_all_the_same(home, make_window):
    home.joinpath("settings").write_text("in the way")
    assert lockfiles.new_place() is None
    window = make_window()
    restoring = Restoring(window.settings, is_asked=False)
    restoring.begin(window.contents, window.intake, window.restarter, [])
    restoring.end()


# -- in a window


@pytest.fixture
def left_behind(qtbot, make_window, photo, home):
    """What a window kept of itself: a box blur of the photo, and the same wider, pinned."""
    window = make_window()
    until(qtbot, lambda: window.device)
    notes = PinNotes(window.live, window.store, window.inspection)
    settle(qtbot, window, lambda: window.opener.open_file(photo))
    settle(qtbot, window, lambda: window.store.choose(filter="box", ksize=9))
    window.inspection.pin()
    settle(qtbot, window, lambda: window.store.choose(ksize=3))
    data = json.loads(json.dumps(taken(window.contents, notes)))
    window.close()
    (home / "settings" / "settings.json").unlink()  # it had never been closed before
    return data


@pytest.fixture
def beginning(make_window, monkeypatch):
    """Begins with a window as the program does; returns it and what ends it."""
    begun = []

    def begin(is_asked=False, paths=()):
        monkeypatch.setattr("workbench.window.restoring.restoring.CALM_MS", 0)
        settings = Settings()
        restoring = Restoring(settings, is_asked=is_asked)
        begun.append(restoring)
        window = make_window()
        window.settings = settings
        restoring.begin(window.contents, window.intake, window.restarter, list(paths))
        return window, restoring

    yield begin
    for restoring in begun:
        restoring.end()


def act(window):
    return window.messages.findChild(QPushButton, "act")


def test_where_something_else_was_asked_for_it_is_offered(qtbot, beginning, left_behind, tmp_path):
    crashed(left_behind)
    other = tmp_path / "other.png"
    image_files.save(other, noise(30, 30))
    window, restoring = beginning(is_asked=True, paths=[other])
    until(qtbot, lambda: window.store.state.picture)
    assert window.store.state.picture.name == "other.png"
    assert "ended unexpectedly" in window.messages.sentence
    act(window).click()
    until(qtbot, lambda: window.messages.sentence.endswith("measured anew."))
    assert window.store.state.picture.name == "photo.png"
    assert (window.store.state.filter, window.store.state.ksize) == ("box", 3)
    assert [pin.caption.partition("\n")[0] for pin in window.inspection.pins] == [
        "Box blur 9×9 · OpenCV"
    ]
    until(qtbot, lambda: len(list(lockfiles.folder().glob("*.lock"))) == 1)
    act(window).click()  # start afresh
    until(qtbot, lambda: window.store.state.picture.built_in == "scene")
    assert window.store.state.filter == "gaussian"
    assert window.inspection.pins == ()
    window.close()
    restoring.end()
    assert names() == []


def test_where_the_picture_has_gone_it_is_said_and_the_rest_is_back(
    qtbot, beginning, left_behind, photo
):
    crashed(left_behind)
    photo.unlink()
    window, _ = beginning()
    until(qtbot, lambda: "There is no file" in window.messages.sentence)
    until(qtbot, lambda: "is back" in window.messages.sentence)
    assert window.store.state.picture.built_in == "scene"
    assert window.store.state.filter == "box"


def test_a_picture_from_the_clipboard_is_back_with_its_samples(
    qtbot, window, beginning, monkeypatch
):
    monkeypatch.setattr(autosave, "EVERY_MS", 10)
    samples = noise(20, 30, 3)
    show_picture(qtbot, window, samples)
    place = lockfiles.new_place()
    keeper = Keeper(window.contents, place)
    keeper.start()
    until(qtbot, place.path.exists)
    kept = place.path.read_bytes()
    keeper.pause()
    place.close()  # as in a crash
    window.close()
    window, restoring = beginning()
    until(qtbot, lambda: "as it was" in window.messages.sentence)
    assert window.store.state.picture.name == "made up.png"
    assert np.array_equal(window.store.state.picture.samples, samples)
    until(qtbot, lambda: not place.path.exists())
    restoring.end()
    assert names() == []
    assert b"made up.png" in kept
    keeper.close()


def test_a_picture_that_is_gone_is_said(qtbot, beginning):
    crashed({"picture": {"name": "Pasted picture", "path": None, "built_in": None}})
    window, _ = beginning()
    until(qtbot, lambda: "came from no file, and is gone" in window.messages.sentence)
    assert window.store.state.picture.built_in == "scene"


def test_nonsense_in_what_was_kept_does_no_harm(qtbot, beginning, monkeypatch):
    monkeypatch.setattr(restore, "MAX_MS", 2000)
    crashed(
        {
            "settings": {"choices": {"filter": "no such", "ksize": "x"}, "layout": "!", "sweep": 3},
            "picture": {"name": 3},
            "levels": ["a", None],
            "pins": [None, {"filter": []}, 3],
            "against": 9,
            "pixel": [10**30, -1],
            "view": {"place": [1, "x", 2], "divider": "left"},
            "sessions": [3, "/no/such/session.jsonl"],
            "chart": "no such chart",
            "weights": {"cells": [["1", "2"]], "divisor": 3},
        }
    )
    window, _ = beginning()
    until(qtbot, lambda: "is back" in window.messages.sentence)
    assert window.store.state.picture.built_in == "scene"
    assert window.weights.made is None


def test_while_nothing_changes_nothing_is_written(qtbot, window, monkeypatch):
    monkeypatch.setattr(autosave, "EVERY_MS", 10)
    place = lockfiles.new_place()
    written = []
    monkeypatch.setattr(place, "write", lambda data: written.append(data))
    keeper = Keeper(window.contents, place)
    keeper.start()
    show_picture(qtbot, window, noise(20, 30))
    until(qtbot, lambda: written and written[-1]["picture"])
    qtbot.wait(100)
    before = len(written)
    qtbot.wait(200)
    assert len(written) == before
    window.store.update(ksize=9)
    until(qtbot, lambda: written[-1]["settings"]["choices"]["ksize"] == 9)
    keeper.close()


def test_what_is_handed_over_waits_for_the_next_process(qtbot, window):
    show_picture(qtbot, window, noise(20, 30))
    place = lockfiles.new_place()
    keeper = Keeper(window.contents, place)
    window.store.update(ksize=9)
    assert keeper.hand_over()
    keeper.close()
    (left,) = lockfiles.left(time.time())
    assert left.read()[0]["settings"]["choices"]["ksize"] == 9
    left.remove()


def handed_over(window):
    """A keeper, and its place, after the window was handed over."""
    place = lockfiles.new_place()
    keeper = Keeper(window.contents, place)
    assert keeper.hand_over()
    return keeper, place


def test_where_no_next_process_came_what_is_done_afterwards_is_kept_for_it(
    qtbot, window, monkeypatch
):
    monkeypatch.setattr(autosave, "EVERY_MS", 10)
    show_picture(qtbot, window, noise(20, 30))
    keeper, place = handed_over(window)
    keeper.take_back()
    assert not list(lockfiles.left(time.time()))  # it is held again
    window.store.update(ksize=9)
    until(qtbot, lambda: place.read()[0]["settings"]["choices"]["ksize"] == 9)
    keeper.close()
    (left,) = lockfiles.left(time.time())
    kept = left.read()[0]
    assert (kept["settings"]["choices"]["ksize"], kept[HANDED_OVER]) == (9, True)
    left.remove()


def test_what_another_process_brought_back_is_left_to_it(qtbot, window, monkeypatch):
    monkeypatch.setattr(autosave, "EVERY_MS", 10)
    show_picture(qtbot, window, noise(20, 30))
    keeper, _ = handed_over(window)
    (left,) = lockfiles.left(time.time())
    before = left.path.read_bytes()
    keeper.take_back()
    window.store.update(ksize=9)
    qtbot.wait(50)
    keeper.close()
    assert left.path.read_bytes() == before
    left.remove()


def test_where_it_could_not_be_handed_over_it_goes_on_being_kept(qtbot, window, monkeypatch):
    monkeypatch.setattr(autosave, "EVERY_MS", 10)
    show_picture(qtbot, window, noise(20, 30))
    place = lockfiles.new_place()
    keeper = Keeper(window.contents, place)
    with monkeypatch.context() as full:
        full.setattr(place, "write", raise_full)
        assert not keeper.hand_over()
    window.store.update(ksize=9)
    until(qtbot, lambda: (kept := place.read()) and "settings" in kept[0])
    until(qtbot, lambda: place.read()[0]["settings"]["choices"]["ksize"] == 9)
    keeper.close()
    assert not list(lockfiles.left(time.time()))


def raise_full(_):
    raise OSError(28, "full")


def test_a_request_to_end_is_no_crash(qtbot, window):
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    try:
        app.let_ctrl_c_close(window)
        signal.raise_signal(signal.SIGTERM)
        until(qtbot, lambda: not window.isVisible())
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])


def test_a_result_that_was_pinned_late_is_known_all_the_same(qtbot, window):
    result = show_picture(qtbot, window, noise(20, 30))
    state = window.store.state
    assert choices_of(result, state) == choices.to_data(state)
    later = replace(state, border="wrap", block_xy=(8, 8), ksize=9, filter="box")
    data = choices_of(result, later)
    assert (data["filter"], data["border"], data["block_xy"]) == ("custom", "clamp", (32, 8))
    made = replace(state, **choices.from_data(data, state))
    assert np.array_equal(intents.weights_for(made), result.job.weights)


def test_when_it_was_is_said_in_words():
    assert in_words(time.time()).startswith("at ")
    assert in_words(0.0).startswith(("on 1 January at", "on 31 December at"))
