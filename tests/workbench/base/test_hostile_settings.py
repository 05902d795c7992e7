"""Settings that make no sense: the window opens, and is as on the first day where it must be."""

import json
import math
import random

import pytest

from kernels.pictures.generated import noise
from tests.workbench.driving import open_recent, settle, show_picture, until
from workbench.base.settings import Settings, default_path

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


def open_all(qtbot, window):
    """Have everything look at what it was given."""
    for dock in window.docks.values():
        dock.show()
    open_recent(window)
    show_picture(qtbot, window, noise(8, 8))
    settle(qtbot, window, lambda: window.store.update(border="wrap"))


@pytest.mark.parametrize("seed", range(2))
def test_whatever_they_hold_the_window_opens(qtbot, make_window, remembered, seed, bugs_met):
    """Each value is something else; a bug anywhere fails the test."""
    drawn = random.Random(seed)
    for place in list(places(remembered)):
        if place != ("version",):
            put(remembered, place, drawn.choice(NONSENSE))
    default_path().write_text(json.dumps(remembered))
    window = make_window()
    window.gallery.get()
    open_all(qtbot, window)
    assert bugs_met == []
    assert Settings().complaint == ""


def test_two_windows_remember_what_was_chosen_in_the_last_and_opened_in_both(
    qtbot, make_window, tmp_path
):
    first, second = make_window(), make_window()
    for window, name in ((first, "a.png"), (second, "b.png")):
        window.settings.add_recent_file(tmp_path / name)
    until(qtbot, lambda: first.device and second.device)
    second.store.update(ksize=9)
    first.close()
    second.close()
    assert {path.name for path in Settings().recent_files} == {"a.png", "b.png"}
    assert Settings().get("choices", {})["ksize"] == 9
