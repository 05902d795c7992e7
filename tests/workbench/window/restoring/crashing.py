"""A process with the real window in it, for a test to kill.

`python -m tests.workbench.window.restoring.crashing`, followed by:

leave PICTURE SESSION   do this and that in the window, and say when all of it is kept
leave-kernel PICTURE FOLDER   the same with the kernel blur.cu in the user's FOLDER
look [PICTURE]          say what the window shows once it has said something, and quit
die                     end at once, in the midst of bringing a window back
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from kernels.engine.engine import Engine
from tests.workbench.driving import move
from workbench.base.settings import Settings
from workbench.panels.compare.view_transform import ViewTransform
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.session.kernel_journal import journal_folder
from workbench.window import app
from workbench.window.main_window import MainWindow
from workbench.window.restoring import autosave, lockfiles, restoring
from workbench.window.restoring.pin_notes import PinNotes
from workbench.window.restoring.snapshot import taken

UNFINISHED = WeightsDraft((("1", "2", "1"), ("0", "x", "0"), ("-1", "-2", "-1")), "4", "1/2")
TICK_MS = 20
SOON_MS = 100


def leaving(window: MainWindow, session: str) -> Iterator[Callable[[], Any]]:
    """What a user does; yields what to wait for."""
    settled: list[Any] = []
    window.live.settled.connect(settled.append)
    window.store.choose(filter="box", ksize=7, border="mirror", implementation="opencv")
    yield lambda: window.live.result and settled and window.live.result.job.ksize == 7
    window.inspection.pin()
    window.store.choose(filter="unsharp", amount=2.5, block_xy=(16, 16))
    yield lambda: settled[-1].job.ksize == 5 or settled[-1].job.weights.sum() < 1.1
    window.store.update(view_mode="wipe", levels=(10.0, 200.0))
    move(window.compare, ViewTransform(4.0, (30.0, 20.0)))
    window.compare.restore({"divider": 250})
    window.pixel.get().show_pixel((5, 6))
    window.sessions.open(Path(session))
    yield lambda: window.sessions.shown
    window.docks.enter("Weights")
    window.weights.get().editor.draw(UNFINISHED)
    yield lambda: '"x"' in kept_text() and session in kept_text()
    say("kept")
    yield lambda: False


def leaving_kernel(window: MainWindow, folder: str) -> Iterator[Callable[[], Any]]:
    """Filter with a kernel of one's own, pin that, save another text, and pin and type on."""
    path, store = Path(folder) / "blur.cu", window.store
    store.choose(implementation="blur.cu", ksize=3)
    yield lambda: own_text(window) == path.read_text() and window.live.result.check
    window.inspection.pin()
    path.write_text(f"{path.read_text()}// again\n")
    yield lambda: own_text(window) == path.read_text() and window.live.result.check
    window.inspection.pin()
    window.docks.enter("Kernel")
    page = window.kernel.get().page
    page.open_file(path)
    yield lambda: page.is_tried
    page.entrance.insertPlainText("// typed\n")
    yield lambda: kept_text().count('"text_sha256"') == 2 and "// typed" in unsaved_text()
    say("kept")
    yield lambda: False


def own_text(window: MainWindow) -> str:
    return window.live.result.job.own if window.live.result else ""


def unsaved_text() -> str:
    return "".join(path.read_text() for path in journal_folder().glob("*.json"))


def looking(window: MainWindow) -> Iterator[Callable[[], Any]]:
    notes = PinNotes(window.live, window.store, window.inspection)
    yield lambda: has_said(window) or window.live.result
    yield lambda: has_said(window) or not list(lockfiles.folder().glob("*.lock"))[1:]
    found = taken(window.contents, notes)
    buttons = window.messages.findChildren(QPushButton)
    found["said"] = window.messages.sentence
    found["offered"] = [each.text() for each in buttons if each.isVisible()][:1]
    found["own"] = own_text(window)
    window.docks.enter("Kernel")
    offer = window.kernel.get().findChild(QLabel, "kernel-unsaved-sentence")
    found["unsaved"] = offer.text() if offer is not None and offer.isVisible() else ""
    say(json.dumps(found))
    window.close()


def has_said(window: MainWindow) -> bool:
    """Whether it has said something, but that it is opening a picture, which takes a while here."""
    return bool(window.messages.kind) and not window.messages.sentence.startswith("Opening ")


def dying(window: MainWindow) -> Iterator[Callable[[], Any]]:
    yield lambda: window.store.state.picture
    os._exit(9)


def kept_text() -> str:
    return "".join(path.read_text() for path in lockfiles.folder().glob("*.json"))


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def run(what: str, *words: str) -> int:
    doing: list[Iterator[Callable[[], Any]]] = []
    waiting: list[Callable[[], Any]] = []

    def go_on() -> None:
        windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
        if not windows or not windows[0].isVisible():
            return
        if not doing:
            made = {
                "leave": lambda w: leaving(w, words[1]),
                "leave-kernel": lambda w: leaving_kernel(w, words[1]),
                "look": looking,
                "die": dying,
            }
            doing.append(made[what](windows[0]))
            waiting.append(lambda: windows[0].device)
        if waiting[-1]():
            waiting.append(next(doing[0], lambda: False))

    autosave.EVERY_MS = restoring.CALM_MS = SOON_MS
    app.make_application()
    timer = QTimer()
    timer.timeout.connect(go_on)
    timer.start(TICK_MS)
    return app.run([Path(words[0])] if words else [], lambda: Engine(use_gpu=False), Settings())


if __name__ == "__main__":
    sys.exit(run(*sys.argv[1:]))
