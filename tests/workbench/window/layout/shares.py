"""Run as a program: measures how much of a screen shows the picture when the program starts.

`python -m tests.workbench.window.layout.shares FOLDER WIDTHxHEIGHT,SCALING ...` writes what it
finds on each of these screens as JSON, a file of its name in FOLDER; there is a folder for settings
and the like, too.  Each has a process of its own, which begins with all modules imported: that
would take each a third of its time.
"""

import importlib
import json
import os
import pkgutil
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF, qInstallMessageHandler
from PySide6.QtWidgets import QApplication, QWidget

from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.engine.engine import Engine
from tests.workbench import scenes
from workbench import panels
from workbench.base import theme
from workbench.base.garbage import GarbageCollector
from workbench.base.settings import DIRECTORY_VARIABLE, Settings
from workbench.panels.compare.picture_view import PictureView
from workbench.window.main_window import MainWindow


def main(folder, *screens):
    for each in pkgutil.walk_packages(panels.__path__, f"{panels.__name__}."):
        importlib.import_module(each.name)
    started = [_begun(Path(folder), screen) for screen in screens]
    ends = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in started]
    return max(map(abs, ends))


def _begun(folder, screen):
    """Start a process for a screen, and return its number."""
    if process := os.fork():
        return process
    try:
        size, scaling = screen.split(",")
        own = folder / f"home of {screen}"
        own.mkdir()
        found = found_on(size, scaling, str(own))
        (folder / screen).write_text(json.dumps(found), encoding="utf-8")
    except BaseException:  # noqa: BLE001 - it ends here, whatever it is
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def found_on(size, scaling, folder):
    """Return what a first start finds; this process cannot ask about another screen then."""
    os.environ["QT_SCALE_FACTOR"] = scaling
    for variable in (DIRECTORY_VARIABLE, "XDG_DATA_HOME", FOLDER_VARIABLE):
        os.environ[variable] = folder
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={_screen(Path(folder), size)}"
    qInstallMessageHandler(lambda *_: None)  # of what the offscreen platform cannot do
    app = QApplication([])
    GarbageCollector(app)
    theme.apply(app, "light")
    with _started() as window:
        found = {"alone": measured(window), "beside": {}}
        for title in window.docks:
            window.docks.bring_forward(title)
            found["beside"][title] = measured(window)
            window.docks.show(title, False)
    with _started() as window:
        window.showNormal()
        found["normal"] = measured(window)
    return found


@contextmanager
def _started():
    window = MainWindow(lambda: Engine(use_gpu=False), Settings())
    window.show()
    try:
        window.intake.open_paths([])
        scenes.until(lambda: window.device is not None)
        scenes.settle(window)
        scenes.until(lambda: all(view.display for view in _views(window)))
        window.messages.clear("info")
        yield window
    finally:
        window.close()


def _screen(folder, size):
    width, height = map(int, size.split("x"))
    screen = {"name": "made up", "x": 0, "y": 0, "width": width, "height": height}
    screen |= {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    path = folder / "screens.json"
    path.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
    return path


def measured(window):
    """The window and its screen in device-independent pixels, the picture's share of the screen,
    and what is out of reach."""
    scenes.rest()
    screen = window.screen().size()
    return {
        "screen": [screen.width(), screen.height()],
        "window": [window.width(), window.height()],
        "share": _seen(window) / (screen.width() * screen.height()),
        "out": [_name(each) for each in window.findChildren(QWidget) if _is_out(window, each)],
    }


def _seen(window):
    """How many pixels of the screen show the picture, and no panel over it."""
    drawers = [
        QRectF(QRect(panel.mapTo(window, QPoint()), panel.size()))
        for panel in window.docks.values()
        if panel.isVisible()
    ]
    total = 0.0
    for view in _views(window):
        shown = _shown(view).translated(view.mapTo(window, QPoint()).toPointF())
        hidden = sum(_area(shown & each) for each in drawers)
        total += _area(shown) - hidden
    return total


def _views(window):
    return [each for each in window.compare.findChildren(PictureView) if each.isVisible()]


def _shown(view):
    """Where the picture is in its view, in device-independent pixels."""
    ratio, (wide, high) = view.devicePixelRatioF(), view.device_size
    width, height = (side * view.transform.scale / ratio for side in view.display.size)
    x, y = view.transform.centre
    left = wide / ratio / 2 - x * view.transform.scale / ratio
    top = high / ratio / 2 - y * view.transform.scale / ratio
    return QRectF(left, top, width, height) & QRectF(view.rect())


def _area(box):
    return max(box.width(), 0) * max(box.height(), 0)


def _is_out(window, widget):
    """Whether a part that does not scroll lies beyond the window's edge."""
    if not widget.isVisible() or widget.window() is not window or _scrolls(widget):
        return False
    box = QRect(widget.mapTo(window, QPoint()), widget.size())
    return not window.rect().contains(box)


def _scrolls(widget):
    parent = widget.parentWidget()
    while parent is not None:
        if parent.objectName() == "qt_scrollarea_viewport":
            return True
        parent = parent.parentWidget()
    return False


def _name(widget):
    return widget.objectName() or widget.accessibleName() or type(widget).__name__


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
