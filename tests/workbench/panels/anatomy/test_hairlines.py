"""The grid of blocks over a picture: where its lines are, and that they are seen on anything."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from tests.made_up import a_job, implementations
from workbench.panels.anatomy.anatomy_overlay import paint_look
from workbench.panels.anatomy.subject import look_at, subject_of


def canvas(grey, width=60, height=40):
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(grey, grey, grey))
    return image


def greys(image):
    found = np.frombuffer(image.constBits(), np.uint8)
    return found.reshape(image.height(), image.width(), 4)[..., 1].astype(int)


@pytest.mark.parametrize(("scale", "left", "top"), [(3.0, 0.0, 0.0), (4.0, 20.25, 33.5)])
def test_the_grid_stands_on_the_edges_of_blocks(scale, left, top):
    """Of 16×16 threads, a pixel each; the tile looked at, in the far corner, is out of sight."""
    job = a_job(picture=np.zeros((1000, 1000, 1), np.uint8), block_xy=(16, 16))
    subject = subject_of(implementations()["shared"], job, None)
    look = look_at(subject, 999, 999)
    across, down = subject.shape.covers
    image = canvas(128, 300, 200)
    painter = QPainter(image)
    painter.scale(scale, scale)
    painter.translate(-left, -top)
    paint_look(painter, QRectF(left, top, 300 / scale, 200 / scale), scale, look, None)
    painter.end()
    found = greys(image)
    columns = {round((x - left) * scale) for x in range(across, 1000, across)}
    rows = {round((y - top) * scale) for y in range(down, 1000, down)}
    y, x = ((a + b) // 2 for a, b in (sorted(rows)[2:4], sorted(columns)[2:4]))
    light_on = {place for place in range(1, 300) if found[y, place] > 128}
    light_down = {place for place in range(1, 200) if found[place, x] > 128}
    assert light_on == {place for place in columns if 1 <= place < 300}
    assert light_down == {place for place in rows if 1 <= place < 200}
