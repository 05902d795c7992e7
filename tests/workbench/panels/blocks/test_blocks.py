"""Block shapes compared live: what takes part, how it stands, and the panel in the real window."""

import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QProgressBar

from kernels.core.errors import DeviceLostError
from kernels.core.job import Pick, Progress, Result
from kernels.core.timing import Timing
from kernels.cpu import sequential
from kernels.engine.job_comparison import PRESETS, CandidateState, Snapshot
from kernels.pictures.generated import noise
from kernels.rungs.rung import ladder
from tests.made_up import FAILED, PASSED
from tests.workbench.driving import (
    child,
    click,
    ready,
    settle,
    show_picture,
    trigger,
    type_into,
    until,
)
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.base import numbers
from workbench.charts.data.figure import Bars, Grid
from workbench.imaging.pictures import Picture
from workbench.model.state import State
from workbench.panels.blocks import candidates
from workbench.panels.blocks.blocks_panel import CALM_MS, NOT_YET, BlocksPhase
from workbench.panels.blocks.candidates import (
    NO_CHOICE,
    NO_PICTURE,
    NO_SHAPES,
    UnclearShapesError,
    field_of,
    parsed,
)
from workbench.panels.blocks.rows import rows_of, sentence_of

SHAPES = ((8, 8), (32, 8), (64, 32))
STATE = State(picture=Picture("made up", noise(20, 30)), implementation="shared")
OWN_SHAPE = next(rung for rung in ladder() if rung.own_block)


def a_field(state=STATE, shapes=SHAPES):
    field = field_of(state, DEVICE, None, shapes)
    assert not field.reason
    return field


def timed(ms, check=PASSED, **facts):
    timing = Timing((ms, ms, ms))
    return CandidateState(timing, (0.9 * ms, ms, 1.1 * ms), check, is_over=True, **facts)


def a_round(field, *standings, groups=()):
    return Snapshot(tuple(each.job for each in field.able), standings, groups)


# -- shapes that are typed


def test_shapes_are_read_as_people_write_them_or_it_is_said_why_not():
    for text in ("48x4, 96×2", "48 x 4 96 × 2", "48X4;96*2", " 48×4,,96×2,48×4 "):
        assert parsed(text) == ((48, 4), (96, 2))
    for text, says in (("48", "'48'"), ("8x8, big", "'big'"), ("0x8", "1 to"), ("8x2000", "1024")):
        with pytest.raises(UnclearShapesError, match=says):
            parsed(text)


# -- what takes part


def test_why_there_is_nothing_to_compare():
    assert field_of(State(), DEVICE, None, SHAPES).reason == NO_PICTURE
    assert field_of(STATE, DEVICE, None, ()).reason == NO_SHAPES
    own = replace(STATE, implementation=OWN_SHAPE.key)
    assert field_of(own, DEVICE, None, SHAPES, lambda _: ()).reason == NO_CHOICE


PICKS = (Pick(OWN_SHAPE.key, None, "measured"), Pick("shared", (32, 8), "measured"))


@pytest.mark.parametrize("picked", [None, PICKS[0]])
@pytest.mark.parametrize("implementation", ["auto", OWN_SHAPE.key])
def test_in_place_of_a_rung_without_a_choice_the_quickest_that_has_one_takes_part(
    implementation, picked
):
    state = replace(STATE, implementation=implementation)
    field = field_of(state, DEVICE, picked, SHAPES, lambda _: iter(PICKS))
    assert field.subject == "Shared-memory tile"
    assert field.candidates[0].changes == {"implementation": "shared", "block_xy": (8, 8)}
    assert field.current(state) is None
    is_said = implementation != "auto" or picked is not None
    assert ("the quickest with a choice" in field.note) == is_said
    assert (OWN_SHAPE.title in field.note) == is_said


@pytest.mark.parametrize(
    "changes",
    [
        {"picture": Picture("another", noise(21, 30))},
        {"ksize": 7},
        {"border": "wrap"},
        {"cache": "warm"},
        {"implementation": "constant"},
    ],
)
def test_what_was_measured_of_other_work_says_nothing(changes):
    assert not a_field(replace(STATE, **changes)).compares_same(a_field())


# -- how they stand


def test_ties_share_their_place_and_the_next_counts_on():
    field = a_field(shapes=((8, 8), (16, 16), (32, 8), (64, 32)))
    found = a_round(field, timed(1.0), timed(3.0), timed(1.01), groups=((0, 2), (1,)))
    rows = rows_of(field, found, (32, 8))
    assert [row.place for row in rows] == [1, 3, 1, 0]
    assert [row.is_tied for row in rows] == [True, False, True, False]
    assert [row.state for row in rows] == ["fine", "fine", "fine", "refused"]
    assert [row.key for row in rows if row.is_current] == [(32, 8)]
    assert "equal within 1 % or noise" in rows[0].text
    said = sentence_of(rows, is_over=True)
    assert said.startswith("8×8 and 32×8 are equal within 1 %: 1.00")
    assert "16×16 takes 3.0× as long" in said
    assert sentence_of(rows, is_over=False).startswith("So far")


def test_a_time_is_no_speed_before_it_is_checked_nor_beside_a_wrong_answer():
    field = a_field()
    rows = rows_of(field, a_round(field, timed(1.0, None), timed(1.0, FAILED)), None)
    assert [row.state for row in rows] == ["unsure", "wrong", "refused"]
    assert rows[1].ms is None
    assert "WRONG" in rows[1].text
    assert sentence_of(rows, is_over=False) == ""


# -- the window


class Shapes(MadeUpGpu):
    """Each shape takes 1 ms a thread; `endless` ones are timed for ever.

    What really runs is sampled as rarely as may be: none of its times count.
    """

    endless = False

    def filtering(self, job, sampling=None):
        few = sampling and replace(sampling, max_samples=sampling.min_samples)
        for step in super().filtering(job, few):
            x, y = job.block_xy
            if isinstance(step, Result) and step.ran[0].block:
                samples = tuple(x * y * (1 + n / 1e4) for n in range(10))
                step = replace(step, kernel=Timing(samples, "cold", "samples"))
            yield step
            while self.endless and isinstance(step, Result) and not sampling.check:
                yield Progress("timing")


@pytest.fixture
def window(qtbot, make_window):
    window = make_window(Shapes)
    until(qtbot, lambda: window.device)
    window.store.choose(implementation="shared")
    show_picture(qtbot, window, noise(20, 30))
    return window


@pytest.fixture
def endless(monkeypatch, window):
    monkeypatch.setattr(Shapes, "endless", True)
    return window


def rows(window):
    return {row.key: row for row in window.blocks.get().rows}


def click_on(qtbot, window, shape):
    """Click into the bar or the tile of a block shape."""
    chart = window.blocks.get().chart
    until(qtbot, lambda: chart.spots)
    name = "{}×{}".format(*shape)
    spot = next(each for each in chart.spots if each.text.splitlines()[0].split(":")[0] == name)
    left, low, _, high = spot.box
    box = chart.plot.getViewBox()
    across = spot.x if spot.box[2] < math.inf else (left + box.viewRange()[0][1]) / 2
    at = box.mapViewToScene(QPointF(across, (low + high) / 2)).toPoint()
    QTest.mouseClick(chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=at)


def noted(signal):
    """What `signal` says from now on."""
    found = []
    signal.connect(lambda *told: found.append(told))
    return found


def done(qtbot, window):
    until(qtbot, lambda: window.blocks.get().phase is BlocksPhase.DONE)


def said(window):
    return child(window, "blocks-sentence", QLabel).text()


def test_the_menu_compares_the_shapes_and_the_fastest_is_marked(qtbot, window):
    trigger(window, "Block shapes, live")
    assert window.blocks.get().phase is BlocksPhase.RUNNING
    done(qtbot, window)
    assert set(rows(window)) == set(PRESETS)
    assert [row.key for row in rows(window).values() if row.is_best] == [(8, 8)]
    assert said(window).startswith("8×8 is the fastest: 64")
    assert rows(window)[32, 8].is_current
    # A click on a bar applies the shape, and measures nothing again.
    found = []
    window.worker.comparison.stepped.connect(
        lambda step: found.append(step) if isinstance(step, Snapshot) else None
    )
    measured = found
    settle(qtbot, window, lambda: click_on(qtbot, window, (8, 8)))
    assert window.store.state.block_xy == (8, 8)
    assert rows(window)[8, 8].is_current
    qtbot.wait(2 * CALM_MS)
    assert window.blocks.get().phase is BlocksPhase.DONE
    assert measured == []


def test_on_a_map_keys_go_over_the_tiles_and_a_refused_one_is_not_taken(qtbot, window, monkeypatch):
    grid = [(x, y) for y in (1, 2, 32) for x in (8, 16, 256)]  # some of it, which is soon measured
    monkeypatch.setattr(candidates, "GRID", grid)
    click(child(window, "blocks-map"))
    child(window, "blocks-grid").click()
    trigger(window, "Block shapes, live")
    done(qtbot, window)
    assert set(rows(window)) == {*PRESETS, *grid}
    block_map = window.blocks.get().chart
    assert isinstance(block_map.figure.body, Grid)
    until(qtbot, lambda: block_map.spots)
    block_map.setFixedWidth(300)
    times = [tile.value for tile in block_map.figure.body.tiles if tile.value]
    ends = numbers.duration(min(times)), numbers.duration(max(times))
    until(qtbot, lambda: all(e in block_map.plot.getPlotItem().titleLabel.text for e in ends))
    block_map.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down):  # the first enters it
        QTest.keyClick(block_map, key)
    assert "16×2" in block_map.accessibleDescription()
    settle(qtbot, window, lambda: QTest.keyClick(block_map, Qt.Key.Key_Return))
    assert window.store.state.block_xy == (16, 2)
    refused = rows(window)[256, 32]
    assert refused.state == "refused"
    assert "8192 threads" in refused.text
    click_on(qtbot, window, (256, 32))
    assert window.store.state.block_xy == (16, 2)
    click(child(window, "blocks-bars"))
    assert isinstance(block_map.figure.body, Bars)


def test_own_shapes_take_part_and_what_is_none_is_said(qtbot, window):
    trigger(window, "Block shapes, live")
    done(qtbot, window)
    own = child(window, "blocks-own", QLineEdit)
    type_into(own, "48x4")
    until(qtbot, lambda: (48, 4) in rows(window))
    done(qtbot, window)
    type_into(own, "48x")
    assert "'48x' is not a shape" in child(window, "blocks-objection", QLabel).text()
    assert (48, 4) in rows(window)


def test_behind_another_panel_nothing_is_measured_until_it_is_seen_again(qtbot, endless):
    window = endless
    stepped = noted(window.worker.comparison.stepped)
    ended = noted(window.worker.comparison.ended)
    trigger(window, "Block shapes, live")
    until(qtbot, lambda: stepped)
    assert not ended
    window.docks.bring_forward("Sweep")
    until(qtbot, lambda: ended)
    window.docks.bring_forward("Blocks")
    until(qtbot, lambda: window.blocks.get().phase is BlocksPhase.RUNNING)
    window.store.choose(ksize=9)  # nothing is measured of that
    click(child(window, "blocks-start"))
    assert said(window) == NOT_YET


def test_a_lost_gpu_is_said_once_and_the_panel_is_free_again(qtbot, window, monkeypatch):
    def lost(self, job, sampling=None):
        raise DeviceLostError("The GPU is gone.")
        yield

    monkeypatch.setattr(Shapes, "filtering", lost)
    trigger(window, "Block shapes, live")
    until(qtbot, lambda: window.messages.kind == "warning")
    until(qtbot, lambda: window.blocks.get().phase is BlocksPhase.IDLE)


def test_without_a_gpu_cpu_implementations_are_compared(qtbot, make_window, monkeypatch):
    window = ready(qtbot, make_window(), np.zeros((8, 9, 1), np.uint8))
    monkeypatch.setattr(sequential, "_compiled", set())
    trigger(window, "Block shapes, live")
    texts = [each.text() for each in window.blocks.get().findChildren(QLabel)]
    assert "Reading what was recorded on a GPU …" in texts
    assert NOT_YET not in texts
    until(qtbot, lambda: window.blocks.get().rows)
    bar, seen = child(window, "blocks-progress", QProgressBar), []
    assert not bar.isVisible()
    bar.valueChanged.connect(seen.append)
    told = []
    window.worker.comparison.stepped.connect(lambda _: told.append(said(window)))
    buttons = [child(window, f"blocks-{each}") for each in ("start", "pause")]
    places = [(each.mapTo(window, QPoint()), each.size()) for each in buttons]
    click(buttons[0])
    assert bar.isVisible()
    qtbot.wait(10)
    assert [(each.mapTo(window, QPoint()), each.size()) for each in buttons] == places
    assert bar.visibleRegion().boundingRect() == bar.rect()
    done(qtbot, window)
    assert seen[-1] == bar.maximum() > 0
    assert {"Compiling or loading Sequential …", "Preparing Sequential …"} & {*told}
    assert told[-1].endswith(".")
    assert not bar.isVisible()
    assert set(rows(window)) == {"sequential", "parallel", "opencv"}
    assert child(window, "blocks-click", QLabel).text() == "A click uses that implementation."
    assert all(row.state == "fine" for row in rows(window).values())
    assert not child(window, "blocks-map").isEnabled()
    assert not window.blocks.get().picks.isVisible()


def test_with_a_gpu_it_compares_as_soon_as_it_is_seen_and_changes_nothing(qtbot, window):
    window.store.choose(implementation=OWN_SHAPE.key)
    before = window.store.state
    window.docks.enter("Blocks")
    done(qtbot, window)
    assert len(rows(window)) == len(PRESETS)
    assert OWN_SHAPE.title in child(window, "blocks-note", QLabel).text()
    assert window.store.state == before
    settle(qtbot, window, lambda: click_on(qtbot, window, (16, 16)))
    assert window.store.state.block_xy == (16, 16)
    assert window.store.state.implementation != OWN_SHAPE.key
