"""The settings file: what comes back, and what becomes of a file that is no good."""

import errno
import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.core.safe_files import holding
from kernels.pictures.generated import noise
from tests.workbench.driving import open_recent, settle, show_picture
from workbench.base import settings as settings_module
from workbench.base.settings import Settings, default_path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new folder" / "settings.json"


def written(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Settings(path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": 1', b"\xff\xfe\x00", "[" * 100_000], ids=range(7)
)
def test_a_damaged_file_is_said_once_and_kept_aside(path, text):
    settings = written(path, text)
    before = path.read_bytes()
    assert str(path) in settings.complaint
    assert "settings.damaged.json" in settings.complaint
    assert settings.get("theme", "system") == "system"
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]  # reading harms none
    settings.set("theme", "dark")
    assert settings.save() == ""
    assert (path.parent / "settings.damaged.json").read_bytes() == before
    assert Settings(path).complaint == ""
    assert Settings(path).get("theme", "") == "dark"


def test_a_newer_version_s_settings_stay_and_this_one_has_its_own(path):
    newer = json.dumps({"version": 2, "theme": ["dark", "warm"]})
    settings = written(path, newer)
    assert str(path) in settings.complaint
    assert "newer version" in settings.complaint
    assert settings.get("theme", "system") == "system"
    settings.set("theme", "light")
    assert settings.save() == ""
    assert path.read_text() == newer
    again = Settings(path)
    assert (again.complaint, again.get("theme", "")) == ("", "light")
    again.set("theme", "dark")
    assert again.save() == ""
    assert path.read_text() == newer
    assert sorted(each.name for each in path.parent.iterdir()) == [
        ".settings.lock",
        "settings.1.json",
        "settings.json",
    ]


# -- two windows


def test_of_two_windows_each_keeps_what_the_other_changed(path):
    written(path, json.dumps({"version": 1, "theme": "light", "folder": "a", "mirror": "m"}))
    first, second = Settings(path), Settings(path)
    first.set("theme", "dark")
    first.set("new", 1)
    second.set("folder", "b")
    first.save()
    second.save()
    third = Settings(path)
    found = {name: third.get(name) for name in ("theme", "folder", "mirror", "new")}
    assert found == {"theme": "dark", "folder": "b", "mirror": "m", "new": 1}
    assert second.get("theme", "") == "dark"


@pytest.mark.parametrize("kind", [settings_module.RECENT, settings_module.RECENT_LISTS])
def test_recent_files_of_two_windows_are_all_recent(path, kind):
    written(path, json.dumps({"version": 1, kind: ["old"]}))
    first, second = Settings(path), Settings(path)
    first.add_recent_file(Path("a"), kind)
    second.add_recent_file(Path("b"), kind)
    first.save()
    second.save()
    assert Settings(path).recent_files(kind) == [Path("b"), Path("old"), Path("a")]
    second.set(kind, [])
    second.save()
    assert Settings(path).recent_files(kind) == []


CLOSING = """
import sys
from pathlib import Path
from workbench.base.settings import Settings

path, number = Path(sys.argv[1]), sys.argv[2]
for turn in range(6):
    settings = Settings(path)
    print("ready", flush=True)
    sys.stdin.readline()
    settings.set(f"{number} {turn}", turn)
    settings.add_recent_file(Path(number))
    assert settings.save() == ""
"""


def test_of_windows_that_close_at_once_none_loses_another_s_settings(path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CLOSING, str(path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for _ in range(6):
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("\n")
            process.stdin.flush()
    assert [process.communicate()[0] for process in processes] == [""] * 4
    assert [process.returncode for process in processes] == [0] * 4
    found = Settings(path).values()
    assert {f"{number} {turn}" for number in range(4) for turn in range(6)} <= found.keys()
    assert sorted(found["recent"]) == ["0", "1", "2", "3"]


def test_a_lock_that_nobody_lets_go_of_keeps_no_settings_from_being_written(path, monkeypatch):
    monkeypatch.setattr(settings_module, "PATIENCE_S", 0.05)
    settings = written(path, json.dumps({"version": 1}))
    settings.set("theme", "dark")
    with holding(path.with_name(settings_module.LOCK_NAME), 0) as is_held:
        assert is_held
        assert settings.save() == ""
    assert Settings(path).get("theme", "") == "dark"


# -- places that cannot be written


def test_a_full_disk_leaves_what_was_there(path, monkeypatch):
    settings = written(path, json.dumps({"version": 1, "theme": "dark"}))
    settings.set("theme", "light")

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    said = settings.save()
    assert str(path) in said
    assert "disk is full" in said
    monkeypatch.undo()
    assert Settings(path).get("theme", "") == "dark"
    assert settings.save() == ""  # there is room again, and nothing was forgotten meanwhile
    assert Settings(path).get("theme", "") == "light"


NONSENSE = (
    *(None, True, -1, 0, 10**400, 1e308, math.nan, -math.inf, 2**63),
    *("", "x" * 5000, "\ud800", "a\0b", "../..", "dark"),
    *([], {}, [[]], [None], {"a": [1]}, list(range(8)), [[1, 2], [3]]),
)
REMEMBERED = {
    "recent": ["/a.png"],
    "theme": "dark",
    "kodak-folder": "/x",
    "mirror": "https://a",
    "folder": "/x",
    "save-folder": "/x",
    "offered": ["a"],
    "presentation": [{"name": "a", "choices": {"filter": "box"}, "picture": {"name": "a"}}],
}


@pytest.fixture
def remembered(make_window):
    """What a window leaves, and what it may remember besides."""
    make_window().close()
    return {**json.loads(default_path().read_bytes()), **REMEMBERED}


def places(values):
    """Where the values stand that are not made of others."""
    pairs = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in pairs:
        if isinstance(value, (dict, list)) and value:
            yield from ((key, *rest) for rest in places(value))
        else:
            yield (key,)


def put(values, place, value):
    for key in place[:-1]:
        values = values[key]
    values[place[-1]] = value


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_whatever_they_hold_the_window_opens(qtbot, make_window, remembered, seed, bugs_met):
    """Each value is something else; a bug anywhere fails the test."""
    drawn = random.Random(seed)
    for place in list(places(remembered)):
        if place != ("version",):
            put(remembered, place, drawn.choice(NONSENSE))
    default_path().write_text(json.dumps(remembered))
    window = make_window()
    window.gallery.get()
    for dock in window.docks.frames.values():
        dock.show()
    open_recent(window)
    show_picture(qtbot, window, noise(8, 8))
    settle(qtbot, window, lambda: window.store.update(border="wrap"))
    assert bugs_met == []
    assert Settings().complaint == ""
