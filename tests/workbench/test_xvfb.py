"""The program as a person meets it: a process, a real screen, a mouse and a keyboard."""

import os
import shutil
import subprocess
import sys
from time import sleep

import numpy as np
import pytest

from kernels.filters import get
from kernels.pictures import noise
from kernels.reference import correlate, to_pixel_type
from workbench import qt_libraries
from workbench.files import image_files
from workbench.settings import DIRECTORY_VARIABLE, Settings

PROGRAMS = ("Xvfb", "xdotool")
PATIENCE_S = 60
TRIES = 10

missing = [name for name in PROGRAMS if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


@pytest.fixture
def screen(tmp_path, monkeypatch):
    """The environment of a screen of our own, on a number that is free."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as numbers:
        number = numbers.readline().strip()
    assert number, "Xvfb did not start"
    monkeypatch.setenv("DISPLAY", f":{number}")
    if reason := qt_libraries.why_no_window("xcb"):
        server.terminate()
        pytest.skip(reason)
    yield {
        **os.environ,
        "QT_QPA_PLATFORM": "xcb",
        "XDG_DATA_HOME": str(tmp_path / "data"),
        DIRECTORY_VARIABLE: str(tmp_path / "settings"),
    }
    server.terminate()
    server.wait(PATIENCE_S)


@pytest.fixture
def user(screen):
    """Does with the mouse and the keyboard what xdotool's words say; returns its answer."""

    def user(*words):
        done = subprocess.run(
            ["xdotool", *map(str, words)],
            env=screen,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        return done.stdout.strip()

    return user


def appears(path):
    """Whether a file is there within a while."""
    for _ in range(100):
        if path.exists():
            return True
        sleep(0.05)
    return False


def test_a_person_opens_filters_saves_and_quits(screen, user, tmp_path):
    photo = tmp_path / "photo.png"
    image_files.save(photo, noise(120, 160, 3))
    words = [photo, "--no-gpu", "--filter", "box", "--size", "3"]
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", *map(str, words)],
        env=screen,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        window = user("search", "--sync", "--name", "^photo.png — Filter Workbench").split()[0]
        user("windowfocus", "--sync", window)
        user("key", "bracketright", "bracketright")  # larger, twice
        save_until_it_is(box_blurred(photo, 7), user, window, tmp_path)
        user("windowfocus", "--sync", window)
        user("key", "ctrl+q")
        said, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait(PATIENCE_S)
    assert (process.returncode, said) == (0, "")
    settings = Settings(tmp_path / "settings" / "settings.json")
    assert settings.get("choices", {})["ksize"] == 7
    assert settings.recent_files == [photo]


def box_blurred(path, ksize):
    samples = image_files.load(path).samples
    return to_pixel_type(correlate(samples, get("box").weights(ksize), "clamp"), samples.dtype)


def save_until_it_is(expected, user, window, folder):
    """Save the result by the dialog until it is what is expected.

    A save may come before the filter was done, since nobody looks at the screen here.
    """
    for number in range(TRIES):
        path = folder / f"result{number}.png"
        user("windowfocus", "--sync", window)
        user("key", "ctrl+s")
        dialog = user("search", "--sync", "--onlyvisible", "--name", "^Save").split()[0]
        user("windowfocus", "--sync", dialog)
        user("key", "ctrl+a")
        user("type", path)
        user("key", "Return")
        assert appears(path)
        samples = image_files.load(path).samples.astype(int)
        if np.abs(samples - expected).max() <= 1:
            return
    raise AssertionError(f"after {TRIES} tries the result is still another")
