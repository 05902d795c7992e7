"""What the window does with each result, and no more than that."""

from dataclasses import replace

from PySide6.QtCore import QEvent

from kernels.pictures.generated import noise
from tests.counting import Events
from tests.workbench.driving import child, settle, show_picture


def test_no_place_is_kept_for_a_speed_up_of_a_result_that_is_its_own_baseline(qtbot, window):
    window.store.update(implementation="opencv", baseline="opencv")
    show_picture(qtbot, window, noise(20, 30))
    result = settle(qtbot, window, lambda: window.store.update(ksize=7))
    other = replace(result, job=replace(result.job, weights=2 * result.job.weights))
    window.live.after_ready.emit(result, window.live.shown)
    moved = Events(QEvent.Type.Move, child(window, "line-verdict"))
    window.live.after_ready.emit(other, window.live.shown)
    assert moved.count == 0
