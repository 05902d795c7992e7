"""Run as a program: audits the window with the letters and the scaling of somebody's desktop.

`python -m tests.workbench.window.scaled POINTS FOLDER`, with QT_SCALE_FACTOR set,
prints what it finds.
FOLDER is for settings and the like.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QSize, qInstallMessageHandler
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QComboBox, QToolButton

from kernels.core.safe_files import FOLDER_VARIABLE
from tests.workbench import accessibility, scenes
from tests.workbench.driving import child, view
from tests.workbench.engines import MadeUpGpu
from workbench.base import theme
from workbench.base.settings import DIRECTORY_VARIABLE, Settings
from workbench.window.app import GarbageCollector

SIZE = QSize(1920, 1080)
HALF = 20  # of the picture's middle that is looked at, in pixels


def main(points, folder):
    for variable in (DIRECTORY_VARIABLE, "XDG_DATA_HOME", FOLDER_VARIABLE):
        os.environ[variable] = folder
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={_screen(Path(folder))}"
    qInstallMessageHandler(lambda *_: None)  # of what the offscreen platform cannot do
    app = QApplication([])
    GarbageCollector(app)
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(points)
    QFontDatabase.systemFont = lambda _: font
    theme.apply(app, "light")
    assert abs(app.font().pointSizeF() - theme.letters(points)) < 0.1
    from workbench.window.main_window import MainWindow

    window = MainWindow(MadeUpGpu, Settings())
    window.resize(SIZE)
    window.show()
    try:
        scenes.prepare(window)
        found = dict.fromkeys([*_clipped(window), *_unsharp(window)])
        sys.stdout.write("\n".join(found))
    finally:
        window.close()


def _screen(folder):
    """Describes one that the window has room on; by itself Qt makes up one of 800×800 pixels."""
    side = 4000
    screen = {"name": "made up", "x": 0, "y": 0, "width": side, "height": side}
    screen |= {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    path = folder / "screens.json"
    path.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
    return path


def _clipped(window):
    for _, root in scenes.all_scenes(window):
        yield from accessibility.clipped(root)


def _unsharp(window):
    """The picture is its own pixels, device pixel for device pixel, and icons are drawn as finely
    as the screen is."""
    window.messages.clear("info")
    window.store.update(view_mode="side")  # where the picture is seen as it is
    window.compare.show_exact()
    scenes.rest()
    ratio = window.devicePixelRatioF()
    pixels = accessibility.pixels_of(window.grab().toImage())
    before = view(window, "Before")
    samples = window.store.state.picture.samples
    corner = QPointF(before.mapTo(window, QPoint())) * ratio
    wide, high = before.device_size
    x, y = round(corner.x()) + wide // 2, round(corner.y()) + high // 2
    seen = pixels[y - HALF : y + HALF, x - HALF : x + HALF]
    if not _is_within(samples, seen):
        yield f"at {ratio:g} a picture's pixels are not the screen's"
    window.docks.enter("Settings")  # what was never laid out is blank
    scenes.rest()
    button = child(window.docks["Settings"], "panel-enlarge", QToolButton)
    for part in (button, child(window, "filter", QComboBox)):
        if ratio == 2 and _is_doubled(accessibility.pixels_of(part.grab().toImage())):
            yield f"{accessibility.path_of(part)}: its icon is enlarged"


def _is_within(samples, seen):
    """Whether a part of a picture is exactly what is seen."""
    height, width = samples.shape[:2]
    middle = seen[HALF, HALF]
    for y, x in np.argwhere((samples == middle).all(axis=2)):
        top, left = y - HALF, x - HALF
        if 0 <= top <= height - 2 * HALF and 0 <= left <= width - 2 * HALF:
            part = samples[top : top + 2 * HALF, left : left + 2 * HALF]
            if np.array_equal(part, seen):
                return True
    return False


def _is_doubled(pixels):
    """Whether all of it consists of squares of two by two like pixels."""
    height, width = (side // 2 * 2 for side in pixels.shape[:2])
    squares = pixels[:height, :width].reshape(height // 2, 2, width // 2, 2, 3)
    return bool((squares == squares[:, :1, :, :1]).all())


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
