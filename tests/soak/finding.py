"""Find what can be used on the screen now, and find it again when a log is replayed."""

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QApplication, QMenu, QWidget


def top_levels():
    """Every window that is on the screen, in the order in which they were made."""
    return [each for each in QApplication.topLevelWidgets() if each.isVisible()]


def widgets(kind=QWidget):
    """{name: widget} of every widget of this kind that a user could use now.

    A name holds for as long as nothing of that name before it comes or goes.
    """
    modal = QApplication.activeModalWidget()
    found = {}
    counts = {}
    for window in top_levels():
        if modal is not None and window is not modal and not modal.isAncestorOf(window):
            continue
        inside = _name(window)
        for each in [window, *parts(window, QWidget)]:
            stem = f"{inside}/{_name(each)}"
            counts[stem] = counts.get(stem, 0) + 1
            if isinstance(each, kind) and each.isVisible() and each.isEnabled():
                found[f"{stem}#{counts[stem]}"] = each
    return found


def parts(thing, kind=QObject):
    """All below a QObject, but for what is in another window.

    findChildren() and window() would make the window own them all, as PySide sees it: with a
    window they were in, they would be invalid, wherever they had moved in time.
    """
    found = []
    for each in thing.children():
        if isinstance(each, kind) and not (each.isWidgetType() and each.isWindow()):
            found.append(each)
            found += parts(each, kind)
    return found


def actions(window):
    """{name: QAction} of every line of the menus, as they were filled last."""
    found = {}
    for action in _lines(window.menuBar()):
        name = action.text().replace("&", "")
        while name in found:
            name += "'"
        if name and action.isEnabled():
            found[name] = action
    return found


def menus(above):
    """{title: QMenu} of all below a menu, or a menu bar."""
    found = {}
    for action in above.actions():
        if isinstance(menu := action.menu(), QMenu):
            found |= {menu.title(): menu, **menus(menu)}
    return found


def _lines(menu):
    for action in menu.actions():
        if isinstance(action.menu(), QMenu):
            yield from _lines(action.menu())
        elif not action.isSeparator():
            yield action


def in_window(widget, across, down):
    """The QWindow that a widget is drawn in, and the point there of a share of its size."""
    window = window_of(widget)
    point = QPoint(int(across * (widget.width() - 1)), int(down * (widget.height() - 1)))
    point = widget.mapTo(window, point)
    return window.windowHandle(), within(window.windowHandle(), point)


def window_of(widget):
    """The window on the screen that a widget is in."""
    return next(e for e in top_levels() if e is widget or e.isAncestorOf(widget))


def within(handle, point):
    """The nearest point inside a QWindow, which may have shrunk meanwhile."""
    return QPoint(
        min(max(point.x(), 0), handle.width() - 1), min(max(point.y(), 0), handle.height() - 1)
    )


def _name(widget):
    return widget.objectName() or type(widget).__name__
