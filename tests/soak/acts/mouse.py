"""The mouse, anywhere: in pictures, in charts, on whatever there is."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from tests.soak import finding
from tests.soak.acts.act import Act, one_of
from tests.soak.stage import is_there


def _choose_mouse(rng, stage):
    name = one_of(rng, finding.widgets())
    button = rng.choice(("left", "left", "left", "right", "middle", "double", "wheel", "hover"))
    return name, button, [rng.random() for _ in range(rng.choice((2, 2, 6, 12)))]


def _do_mouse(stage, name, button, shares):
    """Press at the first point, drag over the others, let go at the last; or turn the wheel."""
    widget = finding.widgets().get(name)
    if widget is None or finding.window_of(widget).windowHandle() is None:
        return
    handle, points = None, []
    for across, down in zip(shares[::2], shares[1::2], strict=True):
        handle, point = finding.in_window(widget, across, down)
        points.append(point)
    kinds = {"right": Qt.MouseButton.RightButton, "middle": Qt.MouseButton.MiddleButton}
    pressed, none = kinds.get(button, Qt.MouseButton.LeftButton), Qt.KeyboardModifier.NoModifier
    if button == "wheel":
        turn = QPoint(0, 120 if shares[0] < 0.5 else -120)
        for point in points:
            if is_there(handle):
                QTest.wheelEvent(handle, QPointF(finding.within(handle, point)), turn)
            yield 5
        return
    if not is_there(handle):  # as when a list that had dropped down goes
        return
    QTest.mouseMove(handle, points[0])
    if button == "double":
        QTest.mouseDClick(handle, pressed, none, points[0])
    elif button != "hover":
        QTest.mousePress(handle, pressed, none, points[0])
    for point in points[1:]:
        yield 5
        if not is_there(handle):
            return
        QTest.mouseMove(handle, finding.within(handle, point))
    if button not in ("double", "hover") and is_there(handle):
        QTest.mouseRelease(handle, pressed, none, finding.within(handle, points[-1]))


ACTS = {"mouse": Act(22, _choose_mouse, _do_mouse)}
