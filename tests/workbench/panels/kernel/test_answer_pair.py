"""The two pictures of the panel Kernel leave room for what was counted."""

import numpy as np
import pytest
from PySide6.QtCore import QSize

from workbench.imaging.display import to_display
from workbench.panels.kernel.answer_pair import MAX_PX, MIN_PX, AnswerPair


@pytest.mark.parametrize(
    ("wide", "high", "least", "most"),
    [
        (500, 240, MIN_PX, MIN_PX),  # of a window of 1280×720
        (500, 340, MIN_PX, 0.36 * 340),  # of one of 1440×900: the facts are in sight below
        (500, 900, 187, 187),  # as high as they are in that width
        (4000, 2000, MAX_PX, MAX_PX),
    ],
)
def test_their_height_leaves_room_for_the_facts(wide, high, least, most, qtbot, themed):
    pair = AnswerPair()
    qtbot.addWidget(pair)
    shown = to_display(np.zeros((192, 256, 3), np.uint8))
    pair.show_pictures(shown, shown)
    pair.take_room(QSize(wide, high))
    assert least <= pair.height() <= most
