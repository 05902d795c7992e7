"""Whether two pictures of a window look the same to somebody who stands a few steps away.

A picture is reduced to a quarter of its size and compared block by block.  A block may have moved
by a few pixels, as text does with another version of Qt or FreeType; a part that is missing, in
another place or of another colour is found.
"""

import numpy as np
from PySide6.QtGui import QImage

REDUCED = 4  # pixels to one, across and down
BLOCK = 10  # reduced pixels, so 40 of the window's
SHIFT = 3  # reduced pixels by which a block may have moved
# Of 255, the mean over a block's pixels and channels.  Qt 6.8 differs from 6.11 by 9.7; a panel
# that is missing by 80 or more.  A single button may go unnoticed.
MAX_UNLIKENESS = 10.0


def pixels_of(image: QImage):
    """(H, W, 3) uint8, its own."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    height, width = image.height(), image.width()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    return rows[:, : 3 * width].reshape(height, width, 3).copy()


def reduced(image: QImage):
    """(H / 4, W / 4, 3) uint8: means of 4 × 4 pixels."""
    pixels = pixels_of(image).astype(np.float32)
    down, across = (extent // REDUCED for extent in pixels.shape[:2])
    cut = pixels[: down * REDUCED, : across * REDUCED]
    means = cut.reshape(down, REDUCED, across, REDUCED, 3).mean((1, 3))
    return np.rint(means).astype(np.uint8)


def unlikeness(seen, expected):
    """(blocks down, blocks across): how much each block of `expected` differs from the most alike
    place of `seen` within reach, in mean levels; both (H, W, 3) uint8 of one size."""
    height, width = (extent // BLOCK * BLOCK for extent in expected.shape[:2])
    padded = np.pad(seen.astype(np.int16), ((SHIFT,) * 2, (SHIFT,) * 2, (0, 0)), "edge")
    reach = range(2 * SHIFT + 1)
    found = []
    for dy in reach:
        for dx in reach:
            moved = padded[dy : dy + height, dx : dx + width]
            apart = np.abs(moved - expected[:height, :width]).astype(np.float32)
            blocks = apart.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK * 3)
            found.append(blocks.mean((1, 3)))
    return np.min(found, axis=0)


def marked(seen, expected):
    """What was seen beside what was expected, blocks that differ with a frame: a QImage."""
    both = np.concatenate([seen, expected], axis=1).copy()
    for y, x in np.argwhere(unlikeness(seen, expected) > MAX_UNLIKENESS):
        top, bottom = y * BLOCK, (y + 1) * BLOCK - 1
        for left in (x * BLOCK, x * BLOCK + seen.shape[1]):
            right = left + BLOCK - 1
            both[[top, bottom], left : right + 1] = (255, 0, 255)
            both[top : bottom + 1, [left, right]] = (255, 0, 255)
    return image_of(both).scaled(both.shape[1] * 2, both.shape[0] * 2)


def image_of(pixels):
    """(H, W, 3) uint8 as a QImage of its own."""
    height, width = pixels.shape[:2]
    data = np.ascontiguousarray(pixels)
    return QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()
