"""Bring a window that went through much back to one and the same state, and let it come to rest.

All of it are generators of milliseconds to wait, for a driver inside Qt's own loop.
"""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog

from kernels.filters import get
from kernels.oracle.reference import correlate, to_pixel_type
from kernels.pictures.generated import noise
from tests.soak import finding
from workbench.files import image_files

POLL_MS = 10
KNOWN = {"filter": "gaussian", "ksize": 5, "implementation": "opencv", "border": "clamp"}


def known_picture(folder):
    """The file of a picture whose filtered samples are known."""
    path = folder / "known.png"
    image_files.save(path, noise(60, 80, 3))
    return path


def rest(stage, known):
    """Close, stop and forget all there is, and show the picture `known`, filtered and checked.

    Yields milliseconds; returns the Result.
    """
    window = stage.window
    yield from _close_windows(window)
    if window.presenter.show is not None:  # what closes windows closes the stage
        window.presenter.show.end()
    for task in (window.worker.sweep, window.worker.comparison):
        task.cancel()
    window.report_writer.stop()
    yield from _all_answered(window)  # a file that is still being read would come afterwards
    yield 100
    window.memory.forget()
    window.sweep.get().close_sessions()
    while window.inspection.pins:
        window.inspection.unpin()
    for title, dock in window.docks.frames.items():
        dock.enlarge(False)
        window.docks.bring_forward(title)  # so that all that is made when it is first seen was made
        yield 20
    window.memory.forget()
    window.resize(1280, 800)
    window.presenter.steps = ()
    window.settings.set("recent", [])
    QGuiApplication.clipboard().clear()
    result = yield from _filtered(window, known)
    window.undo_history.forget()
    window.runs.clear()
    yield from _idle(window)
    return result


def is_right(result):
    """Whether what the window says of its known picture is what the oracle says."""
    job = result.job
    expected = correlate(job.picture, get("gaussian").weights(5), "clamp")
    off = np.abs(
        result.picture.astype(int) - to_pixel_type(expected, np.dtype(np.uint8)).astype(int)
    )
    return job.ksize == 5 and bool(off.max() <= 1) and result.check is not None and result.check.ok


def _close_windows(window):
    while True:
        popup = QApplication.activePopupWidget()
        others = [each for each in finding.top_levels() if each not in (window, popup)]
        dialogs = [each for each in others if each.windowType() != Qt.WindowType.ToolTip]
        top = popup or next(iter(reversed(dialogs)), None)
        if top is None:
            return
        if isinstance(top, QDialog):
            top.reject()
        else:
            top.close()
        yield POLL_MS


def _filtered(window, known):
    results = []
    window.live.settled.connect(results.append)
    window.store.choose(**KNOWN, pixel_type=None)
    window.opener.open_file(known)
    while True:
        yield POLL_MS
        picture = window.store.state.picture
        if picture is not None and picture.path == known and results:
            result = results[-1]
            if result.job.picture is picture.samples and result.job.implementation == "opencv":
                break
    window.live.settled.disconnect(results.append)
    return result


def _idle(window):
    """Until all threads have answered, and what is drawn later is drawn."""
    yield from _all_answered(window)
    yield 500  # timers that draw later, and the collector


def _all_answered(window):
    """Until what was asked of every thread has been answered."""
    for background in (window.reading, window._writing):
        answered = []
        background.run(lambda: None, answered.append, answered.append)
        while not answered:
            yield POLL_MS
    yield from all_compiled(window)
    while window.kernel.made is not None and not window.kernel.made.is_tried:
        yield POLL_MS


def all_compiled(window):
    """Until no rung is being compiled to look at; some take half a minute, and much memory."""
    while window.rung.made is not None and window.rung.made._compiler.running is not None:
        yield POLL_MS
