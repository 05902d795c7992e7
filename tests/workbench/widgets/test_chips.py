"""Captions on pictures: what stands there is true, however little room there is."""

import pytest
from PySide6.QtGui import QFont, QFontMetrics

from workbench.widgets.chips import chip_of, lines_in

CAPTION = "Gaussian blur 15×15 · Sequential 32×8\nPinned 1 · 20.4 ms · clipped: below 0 is black"


@pytest.fixture
def metrics(qapp):
    return QFontMetrics(QFont())


def width_of(metrics, text):
    return metrics.horizontalAdvance(text)


def test_what_has_no_room_is_broken_between_its_parts(metrics):
    assert lines_in(CAPTION, metrics, 2000) == CAPTION.splitlines()
    room = width_of(metrics, "clipped: below 0 is black")
    assert lines_in(CAPTION, metrics, room) == [
        "Gaussian blur 15×15",
        "Sequential 32×8",
        "Pinned 1 · 20.4 ms",
        "clipped: below 0 is black",
    ]


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_no_line_is_wider_than_the_room_and_there_are_never_many(share, metrics):
    room = int(share * width_of(metrics, CAPTION.splitlines()[1]))
    lines = lines_in(CAPTION, metrics, room)
    assert len(lines) <= 5
    assert all(width_of(metrics, line) <= room for line in lines)


@pytest.mark.parametrize("letters", [1.0, 1.5])
@pytest.mark.parametrize(
    "view",
    [(1100, 600), (450, 300), (370, 250), (300, 200), (230, 150)],
    ids=lambda view: "x".join(map(str, view)),
)
def test_a_caption_hides_no_eighth_of_its_picture(view, letters, qapp):
    """Also with four results in a window at 200 %."""
    font = QFont()
    font.setPointSizeF(font.pointSizeF() * letters)
    lines, size, _ = chip_of(CAPTION, font.toString(), *view)
    assert lines
    if len(lines) > 1:
        assert size.width() * size.height() <= view[0] * view[1] / 8
    assert size.width() * size.height() <= view[0] * view[1] / 5, "nor does a single line"
