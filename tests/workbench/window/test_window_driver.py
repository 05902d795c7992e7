"""The modes that the driver of screenshots leads a window into, where no snapshot is compared.

The others are in test_snapshots.py.
"""

import pytest
from PySide6.QtWidgets import QLabel

from kernels.pictures.generated import noise
from tests.window_driver import ENTER, WindowDriver
from tests.workbench.driving import settle, show_picture, until
from tests.workbench.panels.kernel.made_up_trials import MadeUpTrials
from workbench.cli.output import CommandError
from workbench.model.names import modes
from workbench.panels.blocks.blocks_panel import BlocksPhase
from workbench.panels.kernel import trying


def test_what_takes_time_is_waited_for_and_what_was_opened_is_closed(qtbot, window):
    show_picture(qtbot, window, noise(24, 31, 3))
    visit = WindowDriver(window, at=(30, 3))
    for mode in ("blocks", "pixel", "help", "palette"):
        visit.enter(mode)
        match mode:
            case "blocks":
                assert window.blocks.get().rows  # recorded ones, as there is no GPU here
                assert window.blocks.get().phase is BlocksPhase.IDLE
                assert visit.shown is window
            case "pixel":
                assert (window.pixel.get().found.x, window.pixel.get().found.y) == (30, 3)
            case "help":
                assert visit.shown is not window
                assert visit.shown.isVisible()
    assert len(visit.dialogs()) == 2
    visit.leave()
    until(qtbot, lambda: visit.dialogs() == [])


def test_modes_that_change_the_kernel_begin_with_it_as_it_was(qtbot, window, monkeypatch):
    MadeUpTrials().take_over(monkeypatch)
    monkeypatch.setattr(trying, "PAUSE_MS", 0)
    show_picture(qtbot, window, noise(24, 31, 3))
    visit = WindowDriver(window)
    source = window.kernel.get().entrance
    visit.enter("kernel")
    text = source.toPlainText()
    visit.enter("race")
    assert source.toPlainText() == text.replace("__syncthreads();", "// __syncthreads();") != text
    visit.enter("kernel")
    assert source.toPlainText() == text
    assert window.findChild(QLabel, "kernel-unsaved-sentence").text() == ""


def test_what_cannot_be_shown_is_a_sentence(qtbot, window):
    show_picture(qtbot, window, noise(24, 31, 3))
    with pytest.raises(CommandError, match="400,3 is beyond the picture, 31×24 pixels"):
        WindowDriver(window, at=(400, 3)).enter("pixel")
    settle(qtbot, window, lambda: window.store.update(filter="laplacian", ksize=3))
    with pytest.raises(CommandError, match="Laplacian has none"):
        WindowDriver(window).enter("pins")


def test_every_mode_has_a_way_to_enter_it_and_words():
    assert list(modes()) == list(ENTER)
    for mode in modes().values():
        assert mode.title
        assert mode.words.endswith(".")
