"""Everything once, so that what is made at its first use is made before anything is counted."""

from itertools import product

import numpy as np
from PySide6.QtWidgets import QApplication, QComboBox

from kernels.core.job import PIXEL_TYPES, Job
from kernels.cpu import parallel, sequential
from kernels.engine.engine import all_implementations
from tests.soak import finding
from tests.soak.rest import all_compiled
from workbench.panels.controls.filter_popup import FilterBox, FilterPopup

LONG_MS, SHORT_MS = 300, 60
POLL_MS, MAX_POLLS = 20, 500
COMPILED = "global"
LEFT_OUT = "Close all sessions"  # without any there is no report, and nothing to compare
SLOW = ("Start sweep", "Block shapes, live", "Compare all implementations")


def tour(stage):
    """Open every file, choose every line of the menus; yields milliseconds to wait."""
    window = stage.window
    yield from _every_implementation(stage)
    yield from _a_compilation(window)
    yield from _the_list_of_filters(window)
    for name, path in sorted(stage.files.items()):
        window.intake.open_paths([path])
        yield LONG_MS if "." not in name else SHORT_MS
    for name in [each for each in finding.actions(window) if each != LEFT_OUT]:
        if action := finding.actions(window).get(name):
            action.trigger()
        yield LONG_MS if name in SLOW else SHORT_MS
        while dialog := QApplication.activeModalWidget():
            dialog.close()
            yield SHORT_MS


def _every_implementation(stage):
    """With every pixel type: what is compiled for it is compiled then, which takes much memory."""
    _all_loops()
    window = stage.window
    window.opener.open_file(stage.files["rgb8.png"])
    yield LONG_MS
    for pixel_type in (*PIXEL_TYPES, None):
        for implementation in all_implementations():
            if implementation.kind == "cpu":
                window.store.choose(pixel_type=pixel_type, implementation=implementation.key)
                yield from _answered(window, implementation.key)


def _all_loops():
    """Compile for gradients as well."""
    for pixel_type, gradient in product(PIXEL_TYPES, (False, True)):
        picture = np.zeros((2, 2, 1), pixel_type)
        job = Job.of(picture, np.ones((1, 1), np.float32), gradient=gradient)
        for prepare in (sequential.prepare, parallel.prepare):
            for _ in prepare(job).filtering(np.empty_like(picture)):
                pass


def _a_compilation(window):
    """Of a rung to look at: the compiler and what it keeps of its first text take 100 MiB."""
    window.docks.bring_forward("Implementation")
    window.rung.get().show_tab("ptx")
    shown = window.rung.get().findChild(QComboBox, "rung-shown")
    shown.setCurrentIndex(shown.findData(COMPILED))
    shown.activated.emit(shown.currentIndex())
    yield from all_compiled(window)


def _the_list_of_filters(window):
    """With its previews; the list is kept from then on."""
    window.findChild(FilterBox).showPopup()
    yield LONG_MS
    window.findChild(FilterPopup).hide()


def _answered(window, key):
    for _ in range(MAX_POLLS):  # some cannot run every job
        yield POLL_MS
        if window.live.result is not None and window.live.result.job.implementation == key:
            return
