"""A real screen of our own, a user with a mouse and a keyboard, and the program before them."""

import os
import shutil
import struct
import subprocess
import sys
from contextlib import contextmanager
from time import monotonic, sleep

import numpy as np

from workbench.base import qt_libraries
from workbench.base.settings import DIRECTORY_VARIABLE, Settings

PROGRAMS = ("Xvfb", "xdotool")
SIZE = (1400, 1000)
PATIENCE_S = 60
LOOK_AGAIN_S = 0.05
WHEEL_UP = 4
missing = [name for name in PROGRAMS if shutil.which(name) is None]


def until(condition, what):
    """Wait until it is so, and return what it is."""
    end = monotonic() + PATIENCE_S
    while not (found := condition()):
        assert monotonic() < end, f"it does not come: {what}"
        sleep(LOOK_AGAIN_S)
    return found


class Screen:
    """An X server without a window manager.

    environment  for programs that are to appear on it, with settings and data of their own
    why_not      why Qt cannot use it; None if it can
    """

    def __init__(self, folder):
        self._folder = folder
        reading, writing = os.pipe()
        options = f"-displayfd {writing} -screen 0 {SIZE[0]}x{SIZE[1]}x24 -nolisten tcp"
        # Else it begins anew whenever xdotool, the first to ask, is the last to leave: whoever is
        # about to connect then, as the program, may never be answered.
        options += " -noreset -fbdir"
        self._server = subprocess.Popen(
            ["Xvfb", *options.split(), str(folder)], pass_fds=[writing], stderr=subprocess.DEVNULL
        )
        os.close(writing)
        with os.fdopen(reading) as numbers:
            number = numbers.readline().strip()
        assert number, "Xvfb did not start"
        self.environment = {
            **os.environ,
            "DISPLAY": f":{number}",
            "QT_QPA_PLATFORM": "xcb",
            "XDG_DATA_HOME": str(folder / "data"),
            DIRECTORY_VARIABLE: str(folder / "settings"),
        }

    @property
    def settings(self):
        """What the program has left there."""
        return Settings(self._folder / "settings" / "settings.json")

    def close(self):
        self._server.terminate()
        self._server.wait(PATIENCE_S)

    def why_not(self, monkeypatch):
        monkeypatch.setenv("DISPLAY", self.environment["DISPLAY"])
        return qt_libraries.why_no_window("xcb")

    # -- what the user does

    def do(self, *words, must=True):
        """With the mouse and the keyboard what xdotool's words say; returns its answer."""
        done = subprocess.run(
            ["xdotool", *map(str, words)],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=must,
        )
        return done.stdout.strip()

    def window(self, name):
        """Wait for the window whose title begins so, and give it the keyboard; returns its id."""
        found = until(lambda: self._windows(name), f"a window {name}")[0]
        self.do("windowfocus", "--sync", found)
        return found

    def is_there(self, name):
        """Whether there is such a window now."""
        return bool(self._windows(name))

    def _windows(self, name):
        """None, too, where another window, such as a tooltip, went while xdotool asked it."""
        return self.do("search", "--onlyvisible", "--name", f"^{name}", must=False).split()

    def click(self, x, y):
        self.do("mousemove", x, y, "click", 1)

    def drag(self, start, end):
        """With stops on the way, as a hand does."""
        (x, y), (to_x, to_y) = start, end
        self.do("mousemove", x, y, "mousedown", 1)
        self.do("mousemove", (x + to_x) // 2, (y + to_y) // 2, "mousemove", to_x, to_y)
        self.do("mouseup", 1)

    def wheel_up(self, x, y, notches):
        self.do("mousemove", x, y, "click", "--repeat", notches, "--delay", 5, WHEEL_UP)

    # -- what the user sees

    def look(self):
        """(height, width, 3) uint8: red, green and blue of the screen, which X keeps in a file."""
        data = (self._folder / "Xvfb_screen0").read_bytes()
        header = struct.unpack(">25I", data[:100])
        (begin, width, height), row = (header[0], header[4], header[5]), header[12]
        begin += 12 * header[19]  # the colours' table
        rows = np.frombuffer(data, np.uint8, height * row, begin).reshape(height, row)
        return rows[:, : 4 * width].reshape(height, width, 4)[..., 2::-1]


@contextmanager
def program(screen, *words):
    """The program, without a GPU; in the end it is quit by its key, and has to have nothing to
    complain of.  Gives the title that its window begins with."""
    title = f"{words[0].name} — Filter Workbench"
    command = [sys.executable, "-m", "workbench", *map(str, words), "--no-gpu"]
    with subprocess.Popen(
        command, env=screen.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            screen.window(title)
            yield title
            screen.window(title)
            screen.do("key", "ctrl+q")
            said, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, said) == (0, "")
