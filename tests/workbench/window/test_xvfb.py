"""The program as a person meets it: a process, a real screen, a mouse and a keyboard."""

from time import monotonic, sleep

import numpy as np
import pytest

from kernels.filters import get
from kernels.oracle.reference import correlate, to_pixel_type
from kernels.pictures.generated import noise
from tests.workbench.real_screen import LOOK_AGAIN_S, PATIENCE_S, missing, program, until
from workbench.files import image_files

TRIES = 10
AGAIN_S = 10
BEFORE, AFTER = (200, 40, 160), (50, 10, 40)  # the second is a quarter of the first
QUARTER = "--weights=0.25"

pytestmark = pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


@pytest.fixture
def flat(tmp_path):
    """A picture of one colour, which is found again on the screen."""
    path = tmp_path / "flat.png"
    image_files.save(path, np.full((120, 160, 3), BEFORE, np.uint8))
    return path


def runs(screen, color, y=None):
    """Where a colour begins and ends along a row of the screen, by default in the middle of the
    rows that have most of it: [(from x, to x, y)]; but for what is narrower than a word."""
    same = np.all(screen.look() == color, axis=2)
    if y is None:
        counts = same.sum(1)
        rows = np.flatnonzero(counts == counts.max())
        y = int(rows[len(rows) // 2])
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same[y].astype(int), [0]])))
    return [(int(a), int(b), y) for a, b in edges.reshape(-1, 2) if b - a > 40]


def middle(run):
    left, right, y = run
    return (left + right) // 2, y


def test_a_person_opens_filters_saves_and_quits(screen, tmp_path):
    photo = tmp_path / "photo.png"
    image_files.save(photo, noise(120, 160, 3))
    with program(screen, photo, "--filter", "box", "--size", "3") as title:
        screen.do("key", "bracketright", "bracketright")  # larger, twice
        save_until_it_is(filtered(photo, get("box").weights(7)), screen, title, tmp_path)
    assert screen.settings.get("choices", {})["ksize"] == 7
    assert screen.settings.recent_files() == [photo]


@pytest.mark.nightly
def test_a_person_compares(screen, flat):
    with program(screen, flat, QUARTER):
        until(lambda: is_alone(screen, AFTER), "the result")
        screen.do("key", "s")
        until(lambda: len(runs(screen, BEFORE)) == len(runs(screen, AFTER)) == 1, "side by side")
        screen.do("key", "w")
        line = until(lambda: divider(screen), "the wipe")
        y = runs(screen, AFTER)[0][2]
        screen.drag((line, y), (line + 90, y))
        until(lambda: abs((divider(screen) or 0) - line - 90) < 4, "the divider, dragged")
        screen.do("key", "d")
        until(lambda: not runs(screen, BEFORE) and not runs(screen, AFTER), "the difference")
        screen.do("key", "d")
        until(lambda: is_alone(screen, AFTER), "the result again")
        screen.do("key", "k")
        pinned = until(lambda: len(r := runs(screen, AFTER)) == 2 and r, "after and pinned")
        x, y = middle(pinned[0])
        until(lambda: is_flat(screen, x, y, 40), "the picture laid out")
        screen.wheel_up(x, y, 18)
        until(lambda: not is_flat(screen, x, y, 40), "the values in the pixels")
    assert screen.settings.get("choices", {})["view_mode"] == "result"


def is_alone(screen, color):
    """Whether of the two pictures only the one of this colour is on the screen."""
    return [bool(runs(screen, each)) for each in (BEFORE, AFTER)] == [
        each == color for each in (BEFORE, AFTER)
    ]


@pytest.mark.nightly
def test_a_person_holds_space_for_the_original(screen, flat):
    """The keyboard repeats a key that is held, and tells of releases in between."""
    with program(screen, flat, QUARTER):
        x, y = middle(until(lambda: is_alone(screen, AFTER) and runs(screen, AFTER)[0], "after"))
        screen.do("key", "shift+Tab", "shift+Tab")  # to something else, which would take Space
        screen.do("mousemove", x, y, "mousemove", x + 5, y)
        screen.do("keydown", "space")
        until(lambda: is_alone(screen, BEFORE), "the original")
        looks = [is_alone(screen, BEFORE) for _ in range(20)]
        screen.do("keyup", "space")
        assert all(looks), "it flickered"
        until(lambda: is_alone(screen, AFTER), "the result again")


def divider(screen):
    """The x of the line between before and after; None where there is none."""
    y = runs(screen, AFTER)[0][2] if runs(screen, AFTER) else None
    before, after = (runs(screen, color, y) for color in (BEFORE, AFTER))
    is_one = before and after and 0 <= after[0][0] - before[-1][1] <= 6
    return (before[-1][1] + after[0][0]) // 2 if is_one else None


def is_flat(screen, x, y, reach):
    """Whether there is one colour around a point."""
    seen = screen.look()[y - reach : y + reach, x - reach : x + reach]
    return bool(np.all(seen == seen[0, 0]))


@pytest.mark.nightly
def test_a_person_presents(screen, flat):
    with program(screen, flat, "--filter", "box", "--implementation", "opencv"):
        until(lambda: len(runs(screen, BEFORE)) == 1, "the result")
        screen.do("key", "F5")
        both = until(lambda: len(r := runs(screen, BEFORE)) == 2 and r, "before and after on stage")
        x, y = middle(both[0])
        first = count(screen)
        screen.do("key", "Next")  # Page Down, as a clicker sends it
        until(lambda: not np.array_equal(count(screen), first), "the second step")
        screen.do("key", "Prior")
        until(lambda: np.array_equal(count(screen), first), "the first step again")
        screen.do("key", "b")
        until(lambda: not screen.look()[y - 100 : y + 100, x - 100 : x + 100].any(), "blackness")
        screen.do("key", "b")
        until(lambda: np.array_equal(count(screen), first), "the first step once more")
        screen.do("key", "Escape")
        until(lambda: len(runs(screen, BEFORE)) == 1, "the stage, left")
    assert screen.settings.get("choices", {})["implementation"] == "opencv"


def count(screen):
    """What stands in the stage's upper right corner: "1 / 3".

    Without a window manager the window stays as large as it was.
    """
    told = screen.do("getwindowfocus", "getwindowgeometry", "--shell").split()
    place = dict(line.split("=") for line in told)
    top, right = int(place["Y"]), int(place["X"]) + int(place["WIDTH"])
    return screen.look()[top : top + 70, right - 200 : right]


def filtered(path, weights):
    samples = image_files.load(path).samples
    return to_pixel_type(correlate(samples, np.float32(weights), "clamp"), samples.dtype)


def save_until_it_is(expected, screen, title, folder):
    """Save the result by the dialog until it is what is expected.

    A save may come before the filter was done, since nobody looks at the screen here.
    """
    for _ in range(TRIES):
        path = folder / f"result{len(list(folder.glob('result*')))}.png"
        screen.window(title)
        press_until(screen, "ctrl+s", lambda: screen.is_there("Save"), "the dialog")
        screen.window("Save")
        screen.do("key", "ctrl+a")
        screen.do("type", path)
        press_until(screen, "Return", lambda: not screen.is_there("Save"), "the dialog, closed")
        until(path.exists, path.name)
        samples = image_files.load(path).samples.astype(int)
        if np.abs(samples - expected).max() <= 1:
            return
    raise AssertionError(f"after {TRIES} tries the result is still another")


def press_until(screen, key, condition, what):
    """Press it, and again where nothing comes of it in a while, as a person would.

    There is nothing to save before the first result; and the first Return may go to the list of
    names that the dialog's field proposes.
    """
    end = monotonic() + PATIENCE_S
    while not condition():
        assert monotonic() < end, f"it does not come: {what}"
        screen.do("key", key)
        again = monotonic() + AGAIN_S
        while monotonic() < again and not condition():
            sleep(LOOK_AGAIN_S)
