"""The middle of the window: the picture, panels beside it or over it, and the rail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QIcon, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QWidget

from workbench.base import theme
from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import described, theme_pixmap
from workbench.widgets.lazy_panel import PanelFrame, Side

ICON_PX = 22
AROUND_PX = 11  # an icon and its name, above and below together
SIDES_PX = 14  # likewise at the sides
SPACING_PX = 2
LETTERS = 0.82  # of the names, relative to the application's
ICON_AND_NAME = Qt.ToolButtonStyle.ToolButtonTextUnderIcon
NAME = Qt.ToolButtonStyle.ToolButtonTextOnly


class RailButton(QToolButton):
    """A button as wide as its name, and as high as its icon and its name."""

    def __init__(self, title: str) -> None:
        super().__init__()
        described(self, f"rail-{title.lower()}", title)
        self.setText(title)
        self.setCheckable(True)
        self.setProperty("rail", True)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setToolButtonStyle(ICON_AND_NAME)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        icon_px = ICON_PX if self.toolButtonStyle() == ICON_AND_NAME else 0
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + SIDES_PX, self.height_with(icon_px))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def height_with(self, icon_px: int) -> int:
        """Height of the button with an icon of this height; 0: without one."""
        return icon_px + self.fontMetrics().height() + AROUND_PX


class Rail(QFrame):
    """A column of buttons; the one of an open panel is down.

    Where the height is scarce the names stand alone: they are never cut.

    buttons  by their panels' titles

    Signals:
        pressed(title): this panel's button is down; a click may follow.
        clicked(title): the user wants this panel, or no longer.
    """

    pressed = Signal(str)
    clicked = Signal(str)

    def __init__(self, titles: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        described(self, "rail", "Panels")
        self.buttons = {title: RailButton(title) for title in titles}
        for title, button in self.buttons.items():
            button.pressed.connect(partial(self.pressed.emit, title))
            button.clicked.connect(lambda _=False, title=title: self.clicked.emit(title))
        VBox(self, (2, SPACING_PX, 2, SPACING_PX), SPACING_PX).add(*self.buttons.values(), 1)
        self._set_font()
        self._draw_icons()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().minimumSizeHint().width(), self._height(0))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_icons()
        elif event.type() == QEvent.Type.ApplicationFontChange:
            self._set_font()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        has_room = event.size().height() >= self._height(ICON_PX)
        style = ICON_AND_NAME if has_room else NAME
        for button in self.buttons.values():
            button.setToolButtonStyle(style)

    def _height(self, icon_px: int) -> int:
        """Height of the rail with icons of this height; 0: with names alone."""
        one = max(each.height_with(icon_px) for each in self.buttons.values())
        return len(self.buttons) * (one + SPACING_PX) + 2 * SPACING_PX

    def _set_font(self) -> None:
        font = QFont(theme.numbers_font())
        font.setPointSizeF(font.pointSizeF() * LETTERS)
        for button in self.buttons.values():
            button.setFont(font)

    def _draw_icons(self) -> None:
        colors, ratio = theme.colors(self.palette()), self.devicePixelRatioF()
        for title, button in self.buttons.items():
            name = f"panels/{title.lower()}"
            icon = QIcon(theme_pixmap(name, colors.text, ICON_PX, ratio))
            down = theme_pixmap(name, colors.on_accent, ICON_PX, ratio)
            icon.addPixmap(down, QIcon.Mode.Normal, QIcon.State.On)
            icon.addPixmap(down, QIcon.Mode.Active, QIcon.State.On)
            button.setIcon(icon)


SIDES: tuple[Side, Side] = ("left", "right")
USUAL_PX: Mapping[Side, int] = {"left": 320, "right": 356}  # for usual letters
MIN_PX = 240
MIN_SHARE = 0.46  # of the window that panels beside the picture leave to the middle
WISH_SHARE = 0.452  # that one leaves which would be wider than usual, and is
MAX_DRAWER_SHARE = 0.5  # of the room for the picture that one over it covers, for its wish's sake
EDGE_PX = 6


class PanelArea(QWidget):
    """The picture with at most one panel at each side of it, and the rail at the far right.

    One that is open alone stands beside the rail; what belongs to the left makes room for another.
    A panel stands beside the picture where that keeps MIN_SHARE of the window, else it lies over
    it, as a drawer. Two are open at once only where both have room beside it.  One that would be
    wider than usual is, as far as that changes none of this.

    Signals:
        drawer_moved(): a drawer covers another part of the picture, or none any more.
    """

    drawer_moved = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._centre = QWidget(self)
        self._column = VBox(self._centre, 0)
        self._around: tuple[QWidget, ...] = ()  # the line below, and the rail
        self._frames: dict[PanelFrame, Side] = {}
        self._wishes: dict[PanelFrame, int] = {}  # widths, for usual letters
        self._widths: dict[Side, int] = {}
        self._drawer = QRect()  # empty: none lies over the picture
        self._share: float | None = None  # of the width that a panel takes on stage
        self._edges = {side: _Edge(self, partial(self._drag, side)) for side in SIDES}

    def set_centre(self, centre: QWidget) -> None:
        """Put the picture in the middle; a layout keeps its place while it is elsewhere."""
        self._column.addWidget(centre)

    def surround(self, foot: QWidget, rail: QWidget) -> None:
        """Put a line below the picture and the panels, and the rail at the right edge."""
        foot.setParent(self)
        self._around = (foot, rail)

    def add_frame(self, frame: PanelFrame, side: Side, width_px: int = 0) -> None:
        """Give `frame`, which is a child of this, its place at `side`.

        width_px  how wide it would be where there is room, for usual letters; 0: as others are
        """
        self._frames[frame], self._wishes[frame] = side, width_px
        frame.opened.connect(lambda is_open: self._make_room(frame, is_open))
        frame.enlarged.connect(lambda _: self.arrange())

    def widths(self) -> dict[Side, int]:
        """Widths that the user gave the panels of each side, in pixels."""
        return dict(self._widths)

    def set_widths(self, widths: Mapping[Side, int]) -> None:
        """Set the panels' widths; a side that is missing is as on the first day."""
        self._widths = dict(widths)
        self.arrange()

    def set_share(self, share: float | None) -> None:
        """Give an open panel this part of the width, whatever it needs; None: as usual."""
        self._share = share
        self.arrange()

    def arrange(self) -> None:
        """Place the picture, the panels and the rail."""
        inner = self._inner
        if self._around:
            foot, rail = self._around
            foot.setGeometry(0, inner.height(), inner.width(), self.height() - inner.height())
            rail.setGeometry(self.rect().adjusted(inner.width(), 0, 0, 0))
        is_beside = self._is_roomy(*self._open_sides)
        middle, drawer = QRect(inner), QRect()
        for side, edge in self._edges.items():
            frame = self._open(side)
            edge.setVisible(frame is not None)
            if frame is None:
                continue
            place, at_left = QRect(inner), self._is_at_left(side)
            width = min(self._width_of(side), inner.width())
            if at_left:
                place.setWidth(width)
            else:
                place.setLeft(inner.width() - width)
            if not is_beside:
                drawer = place
            elif at_left:
                middle.setLeft(width)
            else:
                middle.setRight(place.left() - 1)
            frame.setProperty("drawer", not is_beside)
            frame.setGeometry(place)
            frame.raise_()
            grip = (place.right() if at_left else place.left()) - EDGE_PX // 2
            edge.setGeometry(grip, 0, EDGE_PX, inner.height())
            edge.raise_()
        self._centre.setVisible(not middle.isEmpty())  # a panel may have it all on stage
        self._centre.setGeometry(middle)
        if drawer != self._drawer:
            self._drawer = drawer
            self.drawer_moved.emit()

    def uncovered_part(self, view: QWidget) -> QRect:
        """The part of `view`, which is inside this, that no drawer covers, in its coordinates."""
        drawer = self._drawer.translated(view.mapFrom(self, QPoint()))
        part = view.rect()
        if not drawer.intersects(part):
            return part
        left, right = drawer.left(), part.right() - drawer.right()
        if left >= right:
            part.setRight(drawer.left() - 1)
        else:
            part.setLeft(drawer.right() + 1)
        return part

    def sizeHint(self) -> QSize:  # noqa: N802
        foot, rail = (each.sizeHint() for each in self._around)
        return self._centre.sizeHint() + QSize(rail.width(), foot.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        centre, around = self._centre.minimumSizeHint(), self.size() - self._inner.size()
        if not self._around:
            return centre
        foot, rail = (each.minimumSizeHint() for each in self._around)
        rail_px = rail if around.width() else QSize(0, 0)
        width = max(centre.width(), foot.width()) + rail_px.width()
        return QSize(width, max(centre.height() + around.height(), rail_px.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if len(self._open_sides) > 1 and not self._is_roomy(*SIDES):
            self._hide("left")
        self.arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self.arrange()
        return super().event(event)

    @property
    def _inner(self) -> QRect:
        """The place of the picture and the panels."""
        if not self._around:
            return self.rect()
        foot, rail = self._around
        foot_px = 0 if foot.isHidden() else foot.sizeHint().height()
        rail_px = 0 if rail.isHidden() else rail.sizeHint().width()
        return self.rect().adjusted(0, 0, -rail_px, -foot_px)

    def _width_of(self, side: Side) -> int:
        """Width of the panel of `side`: as the user made it, or as it has to be.

        One that would be wider is, where the user made none of that side as they like.
        """
        if self._share is not None:
            return round(self._share * self._inner.width())
        least, frame = self._least_width(side), self._open(side)
        if side in self._widths or frame is None:
            return least
        if self._is_roomy(*self._open_sides):
            others = sum(self._least_width(each) for each in self._open_sides if each != side)
            room = self._room(WISH_SHARE) - others
        else:
            room = int(MAX_DRAWER_SHARE * self._inner.width())
        return max(least, min(theme.in_letters(self._wishes[frame]), room))

    def _is_roomy(self, *sides: Side) -> bool:
        """True if panels at all of `sides` leave the middle its share of the window."""
        return self._share is not None or sum(map(self._least_width, sides)) <= self._room()

    def _room(self, share: float = MIN_SHARE) -> int:
        """Width that panels beside the picture may take together, so that it keeps its share."""
        middle = share * self.window().width() * self.window().height()
        return int(self._inner.width() - middle / max(self._inner.height(), 1))

    def _least_width(self, side: Side) -> int:
        """Least width of panels of `side`: as usual, or as the user made them."""
        frame = self._open(side)
        needed = 0 if frame is None else frame.minimumSizeHint().width()
        usual = theme.in_letters(USUAL_PX[side])
        return max(self._widths.get(side, usual), theme.in_letters(MIN_PX), needed)

    def _open(self, side: Side) -> PanelFrame | None:
        """The panel that is open at `side`."""
        return next((each for each in self._all_open if self._frames[each] == side), None)

    @property
    def _all_open(self) -> list[PanelFrame]:
        return [each for each in self._frames if not each.isHidden() and not each.is_enlarged]

    @property
    def _open_sides(self) -> tuple[Side, ...]:
        return tuple(side for side in SIDES if self._open(side) is not None)

    def _is_at_left(self, side: Side) -> bool:
        """True if the panel of `side` stands at the left: only beside another one."""
        return side == "left" and self._open("right") is not None

    def _hide(self, side: Side, but: PanelFrame | None = None) -> None:
        for each in self._all_open:
            if self._frames[each] == side and each is not but:
                each.hide()

    def _make_room(self, frame: PanelFrame, is_open: bool) -> None:
        """Close what an opened panel leaves no room for."""
        if is_open and not frame.is_enlarged:
            side = self._frames[frame]
            other: Side = "right" if side == "left" else "left"
            self._hide(side, but=frame)
            if not self._is_roomy(*SIDES):
                self._hide(other)
        self.arrange()

    def _drag(self, side: Side, x: int) -> None:
        width = x if self._is_at_left(side) else self._inner.width() - x
        self._widths[side] = min(max(width, theme.in_letters(MIN_PX)), self._inner.width())
        self.arrange()


def uncovered_part(view: QWidget) -> QRect:
    """The part of `view` that no drawer covers, wherever it is, in its coordinates."""
    parent = view.parentWidget()
    while parent is not None and not isinstance(parent, PanelArea):
        parent = None if parent.isWindow() else parent.parentWidget()
    return view.rect() if parent is None else parent.uncovered_part(view)


class _Edge(QWidget):
    """The edge of a panel, which is dragged to make it wider."""

    def __init__(self, area: QWidget, drag: Callable[[int], None]) -> None:
        """Make the edge; `drag` is called with the pointer's x in the area."""
        super().__init__(area)
        self._area, self._drag = area, drag
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.hide()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._drag(self.mapTo(self._area, event.position().toPoint()).x())
