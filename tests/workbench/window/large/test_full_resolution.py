"""Zoomed in, what is in view of a large picture is read and filtered at full resolution."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolButton

from kernels import Engine, Sampling
from kernels.core.borders import BORDERS
from kernels.core.job import Progress
from tests.workbench.driving import child, drop, move, part_values, settle, until, view
from tests.workbench.engines import Scripted
from tests.workbench.window.large.large_files import HEIGHT, WIDTH, little_memory, plain, whole
from workbench.model.intents import is_unclipped, job_for
from workbench.model.state import Step
from workbench.model.step_files import select
from workbench.panels.compare import full_resolution
from workbench.panels.compare.picture_layer import ViewTransform

__all__ = ["little_memory"]
STEP = 8  # of the copy
MANY = 60_000
PARALLEL = {"implementation": "parallel"}


@pytest.fixture
def regions(monkeypatch):
    """What came of regions: the request of each, and the Patch."""
    found, filtering = [], full_resolution.filtering_region

    def noting(request, samples, engine):
        for step in filtering(request, samples, engine):
            if isinstance(step, tuple):
                found.append(step)
            yield step

    monkeypatch.setattr(full_resolution, "filtering_region", noting)
    return found


@pytest.fixture
def opened(qtbot, window, regions, tmp_path, little_memory, monkeypatch):
    """The window with a large picture, filtered by what sums in the same order everywhere.

    As of a really large one, all of it is too much to be read at once.
    """
    monkeypatch.setattr(full_resolution, "MAX_REGION_PIXELS", MANY)
    path = plain(tmp_path / "large.tif", tile=(64, 64), compression="zlib")
    settle(qtbot, window, lambda: drop(window, path))
    settle(qtbot, window, lambda: window.store.choose(**PARALLEL))
    return window


def chip(window):
    return child(window, "large-chip", QToolButton).text()


def is_full(window):
    return chip(window).startswith("Full resolution")


def zoom_to(qtbot, window, x, y, scale=1.0):
    """Show pixel (x, y) of the whole in the middle, with `scale` screen pixels to each."""
    move(window.compare, ViewTransform(scale * STEP, (x / STEP, y / STEP)))
    until(qtbot, lambda: is_full(window))


def of_whole(window, samples=None):
    """The answer for the whole picture, (H, W, 3), in one go."""
    state = window.store.state
    samples = whole() if samples is None else samples
    samples = samples.astype(np.float32) if is_unclipped(state) else samples
    job = replace(job_for(state), picture=samples)
    return Engine(use_gpu=False).run(job, Sampling(max_samples=0, check=False)).picture


def assert_as_of_whole(window, regions):
    request, after = regions[-1]
    (top, bottom), (left, right) = request.region.rows, request.region.columns
    np.testing.assert_array_equal(after.samples, of_whole(window)[top:bottom, left:right])


def colour(pane, x, y):
    """Red, green and blue on the screen in the middle of a pixel of the whole, of several px."""
    at = pane.transform.to_view(((x + 0.5) / STEP, (y + 0.5) / STEP), pane.device_size)
    shot = pane.grab(QRect(QPoint(*map(int, at)), QPoint(*map(int, at)))).toImage()
    shown = shot.pixelColor(0, 0)
    return [shown.red(), shown.green(), shown.blue()]


def test_near_enough_the_picture_is_that_of_the_whole(qtbot, opened, regions):
    assert chip(opened).startswith("Shown at 1/8 of 640×500")
    child(opened, "one_to_one", QToolButton).click()
    plus = Qt.Key.Key_Plus
    while not is_full(opened):
        QTest.keyClick(view(opened, "After"), plus)
        qtbot.wait(5 * full_resolution.WAIT_MS)
    assert_as_of_whole(opened, regions)
    assert "full resolution" in view(opened, "After").caption
    assert chip(opened).endswith("of 640×500")


@pytest.mark.parametrize("filter_", [pytest.param("gaussian", marks=pytest.mark.nightly), "edges"])
def test_at_the_outer_edge_the_border_is_the_whole_pictures(qtbot, opened, regions, filter_):
    corners = [(0, 0), (WIDTH, HEIGHT)]
    for border, corner in product(BORDERS, corners):
        move(opened.compare, None)
        until(qtbot, lambda: not is_full(opened))
        opened.store.choose(border=border, filter=filter_)
        zoom_to(qtbot, opened, *corner, scale=16)
        assert regions[-1][0].job.border == border
        assert_as_of_whole(opened, regions)


def test_beside_a_step_that_is_compared_with_the_copy_is_shown(qtbot, opened):
    steps = [Step("gaussian", 3, **PARALLEL), Step("sharpen", 3, **PARALLEL)]
    settle(qtbot, opened, lambda: opened.store.update(**select(steps, 1), view_mode="side"))
    zoom_to(qtbot, opened, 300, 200, scale=12)
    opened.store.choose(compared=0)
    until(qtbot, lambda: opened.compare.compared is not None and not is_full(opened))
    opened.store.choose(compared=None)
    until(qtbot, lambda: is_full(opened))


def test_it_is_painted_at_its_place_before_and_after(qtbot, opened):
    x, y = 301, 203
    opened.store.update(view_mode="side")
    zoom_to(qtbot, opened, x, y, scale=12)
    assert colour(view(opened, "Before"), x, y) == list(whole()[y, x])
    assert colour(view(opened, "After"), x, y) == list(of_whole(opened)[y, x])
    opened.store.update(view_mode="wipe")
    zoom_to(qtbot, opened, x, y, scale=12)
    pane = view(opened, "Before and after")
    assert colour(pane, x - 5, y) == list(whole()[y, x - 5])
    assert colour(pane, x + 5, y) == list(of_whole(opened)[y, x + 5])


def test_the_values_under_the_pointer_are_those_of_the_file(qtbot, opened):
    x, y = 301, 203
    zoom_to(qtbot, opened, x, y, scale=12)
    pane = view(opened, "After")
    middle = pane.rect().center()
    QTest.mouseMove(pane, middle + QPoint(3, 3))
    QTest.mouseMove(pane, middle)
    opened.resize(1900, 900)  # with room for all values
    said = child(opened, "values", QLabel).text()
    x, y = int(said.split()[1]), int(said.split()[3])
    assert abs(x - 301) + abs(y - 203) <= 2
    red, green, blue = of_whole(opened)[y, x]
    shown = part_values(said)["after"]
    assert shown == ["R", str(red), "G", str(green), "B", str(blue)]


def test_it_follows_the_filter_and_reads_nothing_anew_for_that(qtbot, opened, regions):
    zoom_to(qtbot, opened, 300, 200, scale=12)
    read, count = regions[-1][0].surroundings, len(regions)
    settle(qtbot, opened, lambda: opened.store.choose(filter="sharpen"))
    settle(qtbot, opened, lambda: opened.store.choose(filter="gaussian", ksize=9))
    until(qtbot, lambda: regions[-1][0].job.ksize == 9 and is_full(opened))
    assert_as_of_whole(opened, regions)
    assert {request.surroundings for request, _ in regions[count:]} == {read}


def test_between_the_copy_is_shown_and_the_chip_says_so(qtbot, opened, regions, monkeypatch):
    move(opened.compare, ViewTransform(2.0 * STEP, (40, 30)))
    until(qtbot, lambda: chip(opened).endswith("zoom in for full resolution"))
    assert not regions
    monkeypatch.setattr(full_resolution, "MAX_REGION_PIXELS", 1 << 23)
    move(opened.compare, ViewTransform(1.0, (40, 30)))  # the copy holds as much as the screen
    until(qtbot, lambda: chip(opened) == "Shown at 1/8 of 640×500")
    assert "1/8 of its size" in view(opened, "After").caption


def test_a_file_that_is_damaged_meanwhile_is_one_sentence_and_the_copy_stays(qtbot, opened):
    opened.store.state.picture.path.write_bytes(b"II*\0")
    move(opened.compare, ViewTransform(4.0 * STEP, (40, 30)))
    until(qtbot, lambda: "large.tif cannot be read" in chip(opened))
    assert view(opened, "After").display is not None


@pytest.mark.parametrize("is_read", [False, True])
def test_of_another_file_in_its_place_nothing_is_shown(qtbot, opened, is_read):
    if is_read:
        zoom_to(qtbot, opened, 300, 200, scale=12)
    path = opened.store.state.picture.path
    path.write_bytes(path.read_bytes() + bytes(8))
    move(opened.compare, ViewTransform(6.0 * STEP, (500 / STEP, 400 / STEP)))
    until(qtbot, lambda: "has changed since it was opened" in chip(opened))


def test_the_region_is_not_kept_waiting_by_the_copy(
    qtbot, make_window, regions, tmp_path, little_memory
):
    """What is looked at comes first: the copy's own result would never come before it here."""

    def titles():
        return [request.job.title for request, _ in regions]

    def script(job, steps):
        is_copy = job.picture.shape[:2] == (63, 80)
        while is_copy and job.title == "Sharpen" and "Sharpen" not in titles():
            yield Progress("waiting")
        yield from steps

    window = make_window(lambda: Scripted(script))
    settle(qtbot, window, lambda: drop(window, plain(tmp_path / "large.tif")))
    zoom_to(qtbot, window, 300, 200, scale=12)
    settle(qtbot, window, lambda: window.store.choose(filter="sharpen"))
    assert titles()[-1] == "Sharpen"


def test_a_list_of_steps_is_read_with_the_reach_of_all(qtbot, opened, regions):
    blur, edges = (Step(key, 7, implementation="parallel") for key in ("gaussian", "edges"))
    settle(qtbot, opened, lambda: opened.store.update(**select((blur, edges), 1)))
    zoom_to(qtbot, opened, 0, 0, scale=16)
    assert_as_of_whole(opened, regions)
