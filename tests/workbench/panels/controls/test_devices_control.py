"""The number of GPUs in the controls: only where there are several, and what comes of it."""

from dataclasses import replace

from PySide6.QtWidgets import QComboBox

from kernels.pictures.generated import noise
from tests.workbench.driving import child, pick, settle, show_picture, until
from tests.workbench.engines import DEVICE, MadeUpGpu
from workbench.panels.timing.timing_words import filter_time, what_ran
from workbench.window.command_line import filter_words


class OneGpu(MadeUpGpu):
    device = replace(DEVICE, count=1)


def opened(qtbot, make_window, engine):
    window = make_window(engine)
    window.docks.bring_forward("Settings")
    until(qtbot, lambda: window.device)
    show_picture(qtbot, window, noise(20, 30, 3))
    return window


def test_two_gpus_are_chosen_and_their_times_are_shown(qtbot, make_window):
    window = opened(qtbot, make_window, MadeUpGpu)
    settle(qtbot, window, lambda: window.store.update(implementation="shared"))
    devices = child(window, "devices", QComboBox)
    assert devices.isVisible()
    assert [devices.itemText(at) for at in range(devices.count())] == ["1 GPU", "2 GPUs"]
    assert devices.currentData() == 1
    result = settle(qtbot, window, lambda: pick(devices, 2))
    assert (result.job.devices, len(result.shares)) == (2, 2)
    assert "GPU 0: 100" in what_ran(result)
    assert "GPU 1: 100" in filter_time(result).more
    assert filter_words(window.store.state, None)[-2:] == ["--device", "0,1"]
    window.store.update(implementation="opencv")
    assert not devices.isEnabled()


def test_more_gpus_than_there_are_become_as_many(qtbot, make_window):
    window = make_window(OneGpu)
    window.store.update(devices=4)
    until(qtbot, lambda: window.device)
    until(qtbot, lambda: window.store.state.devices == 1)
