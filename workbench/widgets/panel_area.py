"""The middle of the window: the picture, panels beside it or over it, and the rail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QIcon, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QWidget

from workbench.base import theme
from workbench.base.plain_text import tip_text
from workbench.widgets.boxes import VBox
from workbench.widgets.buttons import theme_pixmap
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
        self.setObjectName(f"rail-{title.lower()}")
        self.setText(title)
        self.setAccessibleName(title)
        self.setCheckable(True)
        self.setProperty("rail", True)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setToolButtonStyle(ICON_AND_NAME)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        has_icon = self.toolButtonStyle() == ICON_AND_NAME
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(width + SIDES_PX, self.height_with(ICON_PX if has_icon else 0))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self.sizeHint()

    def height_with(self, icon_px: int) -> int:
        """Return how high the button is with an icon of this height; 0: without one."""
        return icon_px + self.fontMetrics().height() + AROUND_PX


class Rail(QFrame):
    """A column of buttons; the one of an open panel is down.

    Where the height is scarce the names stand alone: they are never cut.

    Signals:
        pressed(title): this panel's button is down; a click may follow.
        clicked(title): the user wants this panel, or no longer.
    """

    pressed = Signal(str)
    clicked = Signal(str)

    def __init__(self, titles: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self.setAccessibleName("Panels")
        self._buttons = {title: self._make(title) for title in titles}
        column = VBox(self, (2, SPACING_PX, 2, SPACING_PX), SPACING_PX)
        column.add(*self._buttons.values(), 1)
        self._set_font()
        self._draw_icons()

    def show_open(self, title: str, is_open: bool) -> None:
        """Press the button of the panel called `title`, or release it."""
        self._buttons[title].setChecked(is_open)

    def show_tip(self, title: str, tip: str) -> None:
        """Set what the button's tooltip says."""
        self._buttons[title].setToolTip(tip_text(tip))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return room for the names alone."""
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
        for button in self._buttons.values():
            button.setToolButtonStyle(style)

    def _height(self, icon_px: int) -> int:
        """Return how high the rail is with icons of this height; 0: with names alone."""
        one = max(each.height_with(icon_px) for each in self._buttons.values())
        return len(self._buttons) * (one + SPACING_PX) + 2 * SPACING_PX

    def _make(self, title: str) -> RailButton:
        button = RailButton(title)
        button.pressed.connect(lambda: self.pressed.emit(title))
        button.clicked.connect(lambda _=False: self.clicked.emit(title))
        return button

    def _set_font(self) -> None:
        font = QFont(theme.numbers_font())
        font.setPointSizeF(font.pointSizeF() * LETTERS)
        for button in self._buttons.values():
            button.setFont(font)

    def _draw_icons(self) -> None:
        colors, ratio = theme.colors(self.palette()), self.devicePixelRatioF()
        for title, button in self._buttons.items():
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
        self._foot: QWidget | None = None
        self._rail: Rail | None = None
        self._frames: dict[PanelFrame, Side] = {}
        self._wishes: dict[PanelFrame, int] = {}  # widths, for usual letters
        self._widths: dict[Side, int] = {}
        self._drawer = QRect()  # empty: none lies over the picture
        self._share: float | None = None  # of the width that a panel takes on stage
        self._edges = {side: _Edge(self, side) for side in SIDES}
        for edge in self._edges.values():
            edge.dragged.connect(self._drag)

    def set_centre(self, centre: QWidget) -> None:
        """Put the picture in the middle; a layout keeps its place while it is elsewhere."""
        self._column.addWidget(centre)

    def set_foot(self, foot: QWidget) -> None:
        """Put a line below the picture, which no panel covers."""
        self._foot = foot
        foot.setParent(self)

    def add_frame(self, frame: PanelFrame, side: Side, width_px: int = 0) -> None:
        """Give `frame`, which is a child of this, its place at `side`.

        width_px  how wide it would be where there is room, for usual letters; 0: as others are
        """
        self._frames[frame], self._wishes[frame] = side, width_px
        frame.opened.connect(lambda is_open: self._take(frame, is_open))
        frame.enlarged.connect(lambda _: self.arrange())

    def set_rail(self, rail: Rail) -> None:
        """Put `rail`, which is a child of this, at the right edge."""
        self._rail = rail

    def widths(self) -> dict[Side, int]:
        """Return how wide the user made the panels of each side, in pixels."""
        return dict(self._widths)

    def set_widths(self, widths: Mapping[Side, int]) -> None:
        """Set how wide panels are; a side that is missing is as on the first day."""
        self._widths = dict(widths)
        self.arrange()

    def set_share(self, share: float | None) -> None:
        """Give an open panel this part of the width, whatever it needs; None: as usual."""
        self._share = share
        self.arrange()

    def width_of(self, side: Side) -> int:
        """Return how wide panels of `side` are: as the user made them, or as they have to be.

        One that would be wider is, where the user made none of that side as they like.
        """
        if self._share is not None:
            return round(self._share * self._inner_width)
        least = self._least_width(side)
        if side in self._widths:
            return least
        wish = max((theme.in_letters(self._wishes[each]) for each in self._open(side)), default=0)
        return max(least, min(wish, self._room_for(side)))

    def is_roomy(self, *sides: Side) -> bool:
        """Return whether panels at all of `sides` leave the middle its share of the window."""
        return self._share is not None or sum(map(self._least_width, sides)) <= self._room()

    def arrange(self) -> None:
        """Place the picture, the panels and the rail."""
        inner = QRect(0, 0, self._inner_width, self._inner_height)
        if self._foot is not None:
            foot_px = self.height() - inner.height()
            self._foot.setGeometry(0, inner.height(), inner.width(), foot_px)
        if self._rail is not None:
            self._rail.setGeometry(self.rect().adjusted(inner.width(), 0, 0, 0))
        beside = [side for side in SIDES if self._open(side)]
        if not self.is_roomy(*beside):
            beside = []
        middle, drawer = QRect(inner), QRect()
        for side in SIDES:
            frames = self._open(side)
            edge = self._edges[side]
            edge.setVisible(bool(frames))
            if not frames:
                continue
            width = min(self.width_of(side), inner.width())
            at_left = self._is_at_left(side)
            left = 0 if at_left else inner.width() - width
            place = QRect(left, 0, width, inner.height())
            if side in beside and at_left:
                middle.setLeft(width)
            elif side in beside:
                middle.setRight(left - 1)
            else:
                drawer = place
            frames[0].setProperty("drawer", side not in beside)
            frames[0].setGeometry(place)
            frames[0].raise_()
            grip = (place.right() if at_left else left) - EDGE_PX // 2
            edge.setGeometry(grip, 0, EDGE_PX, inner.height())
            edge.raise_()
        self._centre.setVisible(not middle.isEmpty())  # a panel may have it all on stage
        self._centre.setGeometry(middle)
        if drawer != self._drawer:
            self._drawer = drawer
            self.drawer_moved.emit()

    def uncovered_part(self, view: QWidget) -> QRect:
        """Return what no drawer covers of `view`, which is inside this, in its coordinates."""
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
        rail = self._rail.sizeHint() if self._rail else QSize()
        foot = self._foot.sizeHint() if self._foot else QSize()
        return self._centre.sizeHint() + QSize(rail.width(), foot.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        centre = self._centre.minimumSizeHint()
        foot = self._foot.minimumSizeHint() if self._foot else QSize()
        rail = self._rail.minimumSizeHint() if self._is_rail_shown and self._rail else QSize(0, 0)
        width = max(centre.width(), foot.width()) + rail.width()
        return QSize(width, max(centre.height() + self._foot_height, rail.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        open_sides = [side for side in SIDES if self._open(side)]
        if len(open_sides) > 1 and not self.is_roomy(*open_sides):
            self._open("left")[0].hide()
        self.arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self.arrange()
        return super().event(event)

    def _room(self, share: float = MIN_SHARE) -> int:
        """Return how wide panels beside the picture may be that leave it its share, together."""
        middle = share * self.window().width() * self.window().height()
        return int(self._inner_width - middle / max(self._inner_height, 1))

    def _room_for(self, side: Side) -> int:
        """Return how wide those of `side` may be, with what is open at the other."""
        beside = [each for each in SIDES if self._open(each)]
        if not self.is_roomy(*beside):
            return int(MAX_DRAWER_SHARE * self._inner_width)
        return self._room(WISH_SHARE) - sum(
            self._least_width(each) for each in beside if each != side
        )

    def _least_width(self, side: Side) -> int:
        """Return how wide panels of `side` are at least: as usual, or as the user made them."""
        usual = theme.in_letters(USUAL_PX[side])
        needed = [each.minimumSizeHint().width() for each in self._open(side)]
        return max(self._widths.get(side, usual), theme.in_letters(MIN_PX), *needed, 0)

    @property
    def _is_rail_shown(self) -> bool:
        return self._rail is not None and not self._rail.isHidden()

    @property
    def _inner_width(self) -> int:
        rail = self._rail.sizeHint().width() if self._is_rail_shown and self._rail else 0
        return self.width() - rail

    @property
    def _foot_height(self) -> int:
        if self._foot is None or self._foot.isHidden():
            return 0
        return self._foot.sizeHint().height()

    @property
    def _inner_height(self) -> int:
        return self.height() - self._foot_height

    def _open(self, side: Side) -> list[PanelFrame]:
        """Return the panel that is open at `side`, as a list that may be empty."""
        return [
            frame
            for frame, at in self._frames.items()
            if at == side and not frame.isHidden() and not frame.is_enlarged
        ]

    def _is_at_left(self, side: Side) -> bool:
        """Return whether the panel of `side` stands at the left: only beside another one."""
        return side == "left" and bool(self._open("right"))

    def _take(self, frame: PanelFrame, is_open: bool) -> None:
        if is_open and not frame.is_enlarged:
            side = self._frames[frame]
            other: Side = "right" if side == "left" else "left"
            gone = [each for each in self._open(side) if each is not frame]
            if self._open(other) and not self.is_roomy("left", "right"):
                gone += self._open(other)
            for each in gone:
                each.hide()
        self.arrange()

    def _drag(self, side: Side, x: int) -> None:
        width = x if self._is_at_left(side) else self._inner_width - x
        self._widths[side] = min(max(width, theme.in_letters(MIN_PX)), self._inner_width)
        self.arrange()


def uncovered_part(view: QWidget) -> QRect:
    """Return what no drawer covers of `view`, wherever it is, in its coordinates."""
    parent = view.parentWidget()
    while parent is not None and not isinstance(parent, PanelArea):
        parent = None if parent.isWindow() else parent.parentWidget()
    return view.rect() if parent is None else parent.uncovered_part(view)


class _Edge(QWidget):
    """The edge of a panel, which is dragged to make it wider.

    Signals:
        dragged(side, x): it was dragged to `x`, in the area's pixels.
    """

    dragged = Signal(str, int)

    def __init__(self, area: QWidget, side: Side) -> None:
        super().__init__(area)
        self._area, self._side = area, side
        self.setCursor(Qt.CursorShape.SplitHCursor)
        self.hide()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        at = self.mapTo(self._area, event.position().toPoint())
        self.dragged.emit(self._side, at.x())
