"""The sweep panel: what is asked for, how it goes, and what it remembers."""

import json

import numpy as np
import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QListWidget, QWidget

from kernels.core.device import NoDevice
from kernels.sweeps.plan_files import presets
from tests.made_up import implementations
from tests.workbench.driving import until
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.base import theme
from workbench.base.background import Background
from workbench.imaging.pictures import Picture
from workbench.model.state import State
from workbench.panels.sweep import plan_choice
from workbench.panels.sweep.plan_choice import FILE
from workbench.panels.sweep.plan_editor import KEY
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.tile import ElidedLabel

PHOTO = State(picture=Picture("photo.png", np.zeros((30, 40, 3), np.uint8)))
NO_GPU = NoDevice("No NVIDIA driver was found.", "Install one.")


@pytest.fixture
def store(qapp):
    return Store(PHOTO)


@pytest.fixture
def worker(qapp):
    found = Worker(MadeUpGpu)  # never started
    found.device = DEVICE
    return found


@pytest.fixture
def make_panel(qapp, qtbot, store, worker):
    theme.apply(qapp, "light")
    owner = QObject()

    def make(*, is_open=True):
        sessions = Sessions(Background((), owner))
        panel = SweepPanel(sessions, store, worker)
        sessions.setParent(panel)
        store.changed.connect(lambda _old, new: panel.show_state(new))
        worker.device_found.connect(panel.show_device)
        qtbot.addWidget(panel)
        panel.resize(340, 760)
        panel.show_device(DEVICE)
        panel.choice.show_implementations([(each, None) for each in implementations().values()])
        panel.show_state(PHOTO)
        panel.show()
        if is_open:
            click(panel, "sweep-custom")
        return panel

    return make


@pytest.fixture
def panel(make_panel):
    return make_panel()


def child(panel, name, kind=QWidget):
    found = panel.findChild(kind, name)
    assert found is not None, name
    return found


def words(panel, name) -> str:
    label = child(panel, name, QLabel)
    return label.whole_text if isinstance(label, ElidedLabel) else label.text()


def click(panel, name):
    QTest.mouseClick(child(panel, name, QAbstractButton), Qt.MouseButton.LeftButton)


def write(panel, field, text):
    line = child(panel, f"values-{field}", QLineEdit)
    line.setFocus()
    line.selectAll()
    QTest.keyClick(line, Qt.Key.Key_Delete)
    QTest.keyClicks(line, text)


def ticks(root):
    """The lines of all implementations by key."""
    of = root.findChild(QListWidget, "sweep-implementations")
    every = (of.item(row) for row in range(of.count()))
    return {each.data(KEY): each for each in every if each.data(KEY)}


def is_able(tick):
    return bool(tick.flags() & Qt.ItemFlag.ItemIsEnabled)


def toggle(panel, key):
    tick = ticks(panel)[key]
    tick.listWidget().setCurrentItem(tick)
    QTest.keyClick(tick.listWidget(), Qt.Key.Key_Space)


def choose(panel, key):
    box = child(panel, "sweep-source", QComboBox)
    box.setCurrentIndex(box.findData(key))
    box.activated.emit(box.currentIndex())


def asked(panel):
    """The plan that Start asks for."""
    plans = []
    panel.started.connect(plans.append)
    click(panel, "sweep-start")
    if child(panel, "sweep-doubt").isVisible():  # it takes long
        click(panel, "sweep-doubt-0")
    panel.started.disconnect(plans.append)
    (plan,) = plans
    return plan


# -- what is asked for


def test_start_asks_for_the_values_and_implementations_chosen(panel):
    write(panel, "sizes", "8, 16 32")
    toggle(panel, "sequential")
    plan = asked(panel)
    assert plan.sizes == ((8, 8), (16, 16), (32, 32))
    assert plan.implementations == tuple(key for key in implementations() if key != "sequential")
    assert plan.pictures == ("noise",)
    assert "noise" in words(panel, "sweep-about")
    write(panel, "sizes", "")
    assert not child(panel, "sweep-about").isVisible()


def test_several_dimensions_vary_together(panel):
    write(panel, "sizes", "8, 16")
    write(panel, "filters", "gaussian, box")
    write(panel, "ksizes", "3, 5")
    write(panel, "blocks", "8×8")
    plan = asked(panel)
    assert (plan.sizes, plan.ksizes) == (((8, 8), (16, 16)), (3, 5))
    assert (plan.blocks, plan.filters) == (((8, 8),), ("gaussian", "box"))


def test_a_line_that_makes_no_sense_is_told_below_it_and_cannot_be_started(panel):
    write(panel, "sizes", "12, big")
    assert words(panel, "wrong-sizes").startswith("Image size must")
    assert child(panel, "wrong-sizes").isVisible()
    assert words(panel, "sweep-hint") == ""
    assert not child(panel, "sweep-start").isEnabled()
    write(panel, "sizes", "12")
    assert not child(panel, "wrong-sizes").isVisible()
    assert child(panel, "sweep-start").isEnabled()


def test_without_a_gpu_the_cpus_can_be_measured_and_the_others_say_why_not(qtbot, panel, worker):
    worker.device_found.emit(NO_GPU)
    panel.choice.show_implementations(
        [
            (each, NO_GPU.reason if each.kind == "cuda" else None)
            for each in implementations().values()
        ]
    )
    shared = ticks(panel)["shared"]
    assert not is_able(shared)
    assert NO_GPU.reason in shared.toolTip()
    assert not child(panel, "sweep-transfers").isEnabled()
    assert {implementations()[key].kind for key in asked(panel).implementations} == {"cpu"}
    write(panel, "blocks", "grid")
    assert "this computer has no GPU" in words(panel, "wrong-blocks")
    choose(panel, next(each.key for each in presets() if "shared" in each.plan.implementations))
    why = f"implementations cannot run here: {NO_GPU.reason}"
    until(qtbot, lambda: words(panel, "sweep-hint").endswith(why))


def test_every_preset_can_be_chosen_and_is_measured_as_it_is(panel):
    for each in presets():
        choose(panel, each.key)
        assert asked(panel) == each.plan, each.key
        if each.plan.source:
            assert each.plan.source in words(panel, "sweep-about")
            assert child(panel, "sweep-about").isVisible()
        choose(panel, "")
        panel.show_plan(each.plan)  # as the palette does
        assert child(panel, "sweep-source", QComboBox).currentData() == each.key


def test_at_first_the_open_picture_is_measured_as_it_is(panel):
    assert (asked(panel).pictures, asked(panel).sizes) == (("photo.png",), ((40, 30),))
    write(panel, "sizes", "8, 16")
    assert asked(panel).pictures == ("noise",)
    assert words(panel, "sweep-about") == plan_choice.NOISE
    source = child(panel, "sweep-source", QComboBox)
    assert "noise" in source.currentText()
    write(panel, "sizes", "")
    assert source.currentText() == plan_choice.OWN_TITLE


def test_what_takes_very_long_is_asked_about_once(panel, monkeypatch):
    started = []
    panel.started.connect(started.append)
    monkeypatch.setattr(plan_choice, "time_s", lambda *_: 10_000.0)
    write(panel, "sizes", "8, 16")
    click(panel, "sweep-start")
    doubt = child(panel, "sweep-doubt")
    assert doubt.isVisible()
    assert doubt.sentence == "This takes about 2.8 h."
    assert not started
    click(panel, "sweep-doubt-1")
    assert not doubt.isVisible()
    click(panel, "sweep-start")
    click(panel, "sweep-doubt-0")
    assert len(started) == 1
    click(panel, "sweep-start")  # it was agreed to
    assert len(started) == 2
    write(panel, "sizes", "8")
    click(panel, "sweep-start")
    assert doubt.isVisible()
    write(panel, "sizes", "16")
    assert not doubt.isVisible()


# -- what it remembers


def again(make_panel, panel):
    """Another panel after a restart."""
    kept = json.loads(json.dumps(panel.choices()))
    other = make_panel()
    other.restore(kept)
    assert json.loads(json.dumps(other.choices())) == kept
    return other


def test_the_choices_survive_a_restart(panel, make_panel):
    write(panel, "sizes", "8, 16")
    write(panel, "ksizes", "5, 9")
    toggle(panel, "sequential")
    click(panel, "sweep-transfers")
    assert asked(again(make_panel, panel)) == asked(panel)


def test_a_preset_that_was_changed_is_no_file_after_a_restart(panel, make_panel):
    preset = presets()[0]
    choose(panel, preset.key)
    write(panel, "ksizes", "3, 5")
    shown = child(again(make_panel, panel), "sweep-source", QComboBox).currentText()
    assert shown == f"{preset.plan.title}, changed"


def test_what_makes_no_sense_is_as_on_the_first_day(panel):
    for remembered in (
        {"texts": 3, "unticked": None},
        {"texts": {"sizes": 3}, "unticked": []},
        {"texts": {"gone": "1"}, "unticked": 3},
        {"source": "gone"},
        {"source": FILE, "file": "not a plan"},
        {"source": [1], "file": 7, "open": "yes"},
    ):
        write(panel, "sizes", "8")
        panel.restore(remembered)
        assert child(panel, "values-sizes", QLineEdit).text() == "", remembered
        assert child(panel, "sweep-source", QComboBox).currentData() == ""
