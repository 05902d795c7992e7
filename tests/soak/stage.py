"""The real window in a home of its own, with all that should not happen caught."""

import json
import sys
import threading
import traceback
import warnings
from contextlib import ExitStack

from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from shiboken6 import isValid

from kernels.engine.engine import Engine
from tests.picture_files import all_kinds, samples
from tests.soak import finding
from tests.soak.dialogs import Dialogs
from workbench.base.paths import asset
from workbench.base.settings import Settings
from workbench.files import image_files
from workbench.model import rung_times
from workbench.session.exporter import save_png
from workbench.window.app import GarbageCollector, make_application
from workbench.window.main_window import MainWindow

NOWHERE = "http://127.0.0.1:9/"  # a soak downloads nothing
HARMLESS = "This plugin does not support"  # offscreen, of size hints
BUG = "Something went wrong here"
LEAVES = ("Quit",)  # what ends the window, which the soak does itself
FEW_WORKS = 20  # whose times are kept: so that it is seen that no more are
PLAN = """\
title = "Soak"
implementations = ["opencv", "parallel", "sequential"]
sizes = [[64, 64], [200, 150]]
ksizes = [3, 5]
channels = [1, 3]
"""
WEIGHTS = 'name = "soaked"\ncells = [[0, 1, 0], [1, -4, 1], [0, 1, 0]]\n'


class Stage:
    """A window and what belongs to it, to be closed with `close()`.

    files   {name: path} of pictures, sound and broken, and of other files to open
    saved   the folder to save into
    """

    def __init__(self, home):
        self._faults = []
        self.home, self.saved = home, home / "saved"
        self.saved.mkdir()
        self.files = _make_files(home / "files")
        self._watch()
        rung_times.MAX_WORKS = FEW_WORKS
        self.app = make_application()
        settings = Settings(home / "settings.json")
        settings.set("mirror", NOWHERE)
        settings.set("kodak-folder", str(home / "kodak"))
        self.window = MainWindow(lambda: Engine(use_gpu=False), settings)
        for name in LEAVES:  # by whatever menu, key or click
            finding.actions(self.window)[name].setEnabled(False)
        self._listen_for_bugs()
        self._collector = GarbageCollector(self.window)
        self._open = ExitStack()
        self.dialogs = self._open.enter_context(Dialogs(self.files, self.saved))
        self.window.show()
        self.window.activateWindow()

    def take_faults(self):
        """What went wrong since the last call: exceptions, Qt's warnings, bugs the window told."""
        faults, self._faults = self._faults, []
        return faults

    def close(self):
        self._open.close()
        self._collector.stop()
        self.window.close()

    def _listen_for_bugs(self):
        show_message = self.window.messages.show_message

        def listen(kind, sentence, details="", *more, **options):
            if sentence.startswith(BUG):
                self._faults.append(f"{sentence}\n{details}")
            show_message(kind, sentence, details, *more, **options)

        self.window.messages.show_message = listen

    def _watch(self):
        """Python's warnings are errors; errors that nobody catches and Qt's warnings are faults."""
        warnings.simplefilter("error")

        def caught(kind, error, trace):
            self._faults.append("".join(traceback.format_exception(kind, error, trace)))
            sys.stderr.write(self._faults[-1])

        def caught_elsewhere(what):
            caught(what.exc_type, what.exc_value, what.exc_traceback)

        def say(kind, _context, message):
            is_grave = kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)
            if is_grave and not message.startswith(HARMLESS):
                self._faults.append(f"Qt: {message}")

        sys.excepthook = caught
        sys.unraisablehook = threading.excepthook = caught_elsewhere
        qInstallMessageHandler(say)


def is_there(thing):
    """Whether a Qt object still exists, and is on the screen."""
    return isValid(thing) and thing.isVisible()


def _make_files(folder):
    """Pictures of all kinds, some broken ones, and what else the window opens."""
    folder.mkdir()
    sound = all_kinds()
    broken = {
        "cut.png": sound["rgb8.png"][:900],
        "cut.jpg": sound["rgb.jpg"][:700],
        "cut.tif": sound["uint16x3.tif"][:200],
        "empty.png": b"",
        "lie.jpg": sound["rgb16.png"],
        "words.png": b"this is no picture",
    }
    others = {
        "plan.toml": PLAN.encode(),
        "bad plan.toml": b"implementations = [1, 2",
        "weights.toml": WEIGHTS.encode(),
        "bad session.jsonl": b'{"version": 99}\n',
        "recorded.jsonl.gz": asset("recorded").joinpath("milano_sizes.jsonl.gz").read_bytes(),
    }
    for name, content in {**sound, **broken, **others}.items():
        folder.joinpath(name).write_bytes(content)
    image_files.save(folder / "larger.png", samples("uint8", 3, 700, 1100))
    image_files.save(folder / "wide.tif", samples("float32", 1, 3, 2000))
    settings = json.loads(
        '{"filter": "sobel_x", "ksize": 3, "border": "wrap", "view_mode": "wipe"}'
    )
    save_png(folder / "screenshot.png", samples(), settings)
    return {path.name: path for path in folder.iterdir()} | {"gone": folder / "gone.png"}
