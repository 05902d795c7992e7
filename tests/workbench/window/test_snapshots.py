"""The main states of the window against small pictures of how they are meant to look.

`make snapshots` writes the pictures again; look at them before they are committed.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QFont, QFontDatabase, QImage
from PySide6.QtWidgets import QApplication

from kernels.core.device import NoDevice
from kernels.core.job import Ran, Result
from kernels.core.timing import Timing
from kernels.cuda_on_cpu.compiler import why_not
from kernels.engine.engine import all_implementations
from kernels.filters import all_filters
from kernels.pictures.generated import scene
from kernels.sweeps import estimate
from tests.window_driver import WindowDriver, picture_of
from tests.workbench.driving import settle, until
from tests.workbench.engines import MadeUpGpu
from tests.workbench.seeing import MAX_UNLIKENESS, image_of, marked, pixels_of, reduced, unlikeness
from workbench.base import theme
from workbench.imaging.pictures import Picture
from workbench.model.state import Step

FOLDER = Path(__file__).parent / "snapshots"
# The states that list or count every filter and implementation, and those there were when the
# pictures were written: with another one of them these states look otherwise, as they should.
LISTING = {"palette", "presenter", "sweep"}
LISTED = FOLDER / "listed.txt"
IS_WRITING = os.environ.get("SNAPSHOTS") == "write"
SIZE = (1280, 800)
FONT, FIXED_FONT, POINTS = "DejaVu Sans", "DejaVu Sans Mono", 10
TIMES_MS = {"shared": 0.02, "opencv": 1.5, "sequential": 30.0, "parallel": 12.0}

LIST = {
    "implementation": "opencv",
    "filter": "edges",
    "ksize": 7,
    "before": (Step("gaussian", 5), Step("unsharp", 9, mix=0.5), Step("sobel_x", 3, is_on=False)),
    "after": (Step("emboss", 3),),
}

# By theme; name: what is chosen, modes, the pixel looked at.
STATES = {
    "light": {
        "result": ({}, [], None),
        "side": ({}, ["side"], None),
        "wipe": ({"filter": "sobel_x", "ksize": 3}, ["wipe"], None),
        "difference": ({}, ["difference"], None),
        "mismatch": ({}, ["mismatch"], None),
        "values": ({}, ["values"], (160, 80)),
        "analysis": ({}, ["analysis"], None),
        "pixel": ({"filter": "sharpen", "ksize": 3}, ["pixel"], (0, 80)),
        "anatomy": ({"block_xy": (32, 12)}, ["wipe", "anatomy"], (62, 168)),
        "weights": ({}, ["weights"], None),
        "kernel": ({}, ["kernel"], None),
        "presenter": ({}, ["presenter"], None),
        "steps": (LIST, ["wipe"], None),
    },
    "dark": {
        "steps-dark": (LIST, ["pixel"], (160, 80)),
        "result-dark": ({}, [], None),
        "pins": ({}, ["pins"], None),
        "palette": ({}, ["palette"], None),
        "sweep": ({}, ["sweep"], None),
    },
}


class Steady(MadeUpGpu):
    """Takes as long as it is told to, and rounds as a GPU does, so that every figure on the screen
    stays the same."""

    works_with = "sequential"

    def filtering(self, job, sampling=None):
        for step in super().filtering(job, sampling):
            yield _timed(step) if isinstance(step, Result) else step


def _timed(result):
    steps = tuple(map(_timed, result.steps))
    ms = sum(each.kernel.median_ms for each in steps) or TIMES_MS.get(result.implementation, 0.01)
    samples = tuple(ms * (1 + n / 100) for n in range(-10, 11))
    is_cuda = result.kernel.cache is not None
    ran = result.ran if is_cuda else (Ran("filtering", threads=2),)
    timing = Timing(samples, result.kernel.cache, "samples", 1)
    return replace(result, kernel=timing, ran=ran, compile_ms=None, load=None, steps=steps)


@pytest.fixture
def dress(qapp, monkeypatch):
    """Dresses the application in a theme, with fonts that are the same wherever installed.

    What the system takes for its monospaced font depends on which others it has.
    """
    if missing := {FONT, FIXED_FONT} - set(QFontDatabase.families()):
        pytest.skip(f"the font {', '.join(sorted(missing))} is not installed")
    font = qapp.font()
    monkeypatch.setattr(theme, "fixed_font", lambda: QFont(FIXED_FONT, POINTS))

    def dress(scheme):
        theme.apply(qapp, scheme)
        pinned = QFont(FONT, POINTS)
        pinned.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        QApplication.setFont(pinned)

    yield dress
    QApplication.setFont(font)
    theme.apply(qapp, "light")


@pytest.fixture
def steady(qtbot, make_window, monkeypatch):
    """Makes a window in which every figure stays the same, on a small picture."""
    # How long a sweep takes depends on them, and where its sentence wraps on that.
    monkeypatch.setattr(estimate, "usable_cores", lambda: 2)

    def make():
        window = make_window(Steady)
        window.resize(*SIZE)
        until(qtbot, lambda: window.device is not None)
        # A child process would look for the GPU that is made up, and not find it.
        window.kernel.when_made(lambda pane: pane.show_device(NoDevice("It is made up.")))
        window.store.choose(implementation="shared")
        picture = Picture("scene.png", np.ascontiguousarray(scene()[::3, ::3]))
        settle(qtbot, window, lambda: window.opener.opened.emit(picture))
        return window

    return make


def begin_anew(qtbot, window, changes):
    """As it was made, with `changes`."""
    while window.inspection.pins:
        window.inspection.unpin()
    window.compare.show_exact()  # a view that is a pixel wider must not change every pixel
    window.memory.forget()
    window.store.choose(**{"implementation": "shared", **changes})
    # Of the same job there may be a result already, while another one is under way.
    settle(qtbot, window, window.live.run_again)
    until(qtbot, lambda: window.live.baseline_of(window.live.result))


def look(window, modes, at):
    """What is seen in `modes`, reduced."""
    visit = WindowDriver(window, at)
    try:
        return reduced(picture_of(visit, modes, SIZE))
    finally:
        visit.leave()


def listed():
    """The keys of all filters and implementations, a line each."""
    return "".join(f"{each.key}\n" for each in (*all_filters(), *all_implementations()))


def expected(name):
    path = FOLDER / f"{name}.png"
    assert path.is_file(), f"there is no {path.name}: `make snapshots` writes it"
    return pixels_of(QImage(str(path)))


def judge(name, seen, folder):
    """A sentence where `seen` is not as expected, with the picture that shows where."""
    furthest = unlikeness(seen, expected(name)).max()
    if furthest <= MAX_UNLIKENESS:
        return ""
    path = folder / f"{name}.png"
    marked(seen, expected(name)).save(str(path))
    by = f"{furthest:.0f} > {MAX_UNLIKENESS:.0f}"
    return f"“{name}” does not look as it is meant to ({by}): see {path}"


@pytest.mark.parametrize(
    "scheme", ["light", pytest.param("dark", marks=[] if IS_WRITING else [pytest.mark.nightly])]
)
def test_every_state_looks_as_it_is_meant_to(scheme, qtbot, dress, steady, tmp_path):
    dress(scheme)
    window, complaints = steady(), []
    others = not IS_WRITING and LISTED.read_text(encoding="utf-8") != listed()
    for name, (changes, modes, at) in STATES[scheme].items():
        if (others and name in LISTING) or (name == "kernel" and why_not()):
            continue
        begin_anew(qtbot, window, changes)
        seen = look(window, modes, at)
        if IS_WRITING:
            assert image_of(seen).save(str(FOLDER / f"{name}.png"))
        elif complaint := judge(name, seen, tmp_path):
            complaints.append(complaint)
    if IS_WRITING:
        LISTED.write_text(listed(), encoding="utf-8")
    assert not complaints, "\n".join(complaints)


def test_what_is_missing_or_garbled_is_found(qtbot, dress, steady, tmp_path):
    dress("light")
    window = steady()
    begin_anew(qtbot, window, {})
    seen = look(window, [], None)
    assert judge("result", seen, tmp_path) == ""
    spoilt = {
        "swapped colours": seen[..., ::-1],
        "rows apart": np.stack([np.roll(row, y // 4, 0) for y, row in enumerate(seen)]),
        "nothing": np.full_like(seen, 238),
    }
    window.docks.rail.hide()
    spoilt["no rail"] = look(window, [], None)
    window.docks.rail.show()
    window.compare.show_nothing()
    spoilt["no pictures"] = look(window, [], None)
    missed = [fault for fault, picture in spoilt.items() if not judge("result", picture, tmp_path)]
    assert missed == []
    assert (tmp_path / "result.png").is_file()
