"""Before and after under one transform, and the values under the pointer."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench import theme
from workbench.display import Display
from workbench.state import Picture, State, ViewMode
from workbench.views.comparison_image import side_by_side
from workbench.views.picture_view import PictureView
from workbench.views.read_out import ReadOut, Values
from workbench.views.view_transform import ViewTransform, fit
from workbench.views.wipe_view import WipeView

OPEN_HINT = "Drop a picture here\nor press Ctrl+O"
RESULT_HINT = "The filtered picture\nappears here"
_APART = 24  # between the read-out and the buttons
BEFORE, ORIGINAL = "Before", "Original"


class CompareView(QWidget):
    """Shows the picture and what the filter made of it.

    Holding Space, or the button "Original", shows the original where the filtered picture is.

    Signals:
        wanted(name, value): the user wants `value` for State field `name`: "view_mode".
    """

    wanted = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Before and after")
        self._picture: Picture | None = None
        self._before: Display | None = None
        self._after: Display | None = None
        self._after_samples: NDArray[Any] | None = None
        self._after_caption = ""
        self._transform: ViewTransform | None = None  # None: fit
        self._point: tuple[int, int] | None = None
        self._holding = False
        self._before_view = PictureView("Before", OPEN_HINT)
        self._after_view = PictureView("After", RESULT_HINT)
        self._wipe_view = WipeView("Before and after", OPEN_HINT)
        self._read_out = ReadOut()
        self._build()
        self.show_nothing()

    # -- what to show

    def show_state(self, state: State) -> None:
        wipe = state.view_mode == "wipe"
        self._stack.setCurrentIndex(int(wipe))
        (self._wipe if wipe else self._side).setChecked(True)
        self.setFocusProxy(self._views[0])
        self._arrange()

    def show_before(self, picture: Picture, display: Display) -> None:
        """A picture, or the same one with other levels.

        The last result stays until its successor comes, if it is like `picture`: it may well be
        what the filter makes of it at once.  Otherwise the place of the result is empty.
        """
        if self._before is None or self._before.size != display.size:
            self._transform = None
        if self._after_samples is not None and not _alike(self._after_samples, picture.samples):
            self._after = self._after_samples = None
        self._picture, self._before = picture, display
        self._read_out.prepare_for(picture.samples)
        self._arrange_strip()
        self._refresh()

    def show_after(self, samples: NDArray[Any], display: Display, caption: str) -> None:
        """A result and how it came about: "Gaussian 5×5 · shared".

        One that does not fit the picture shown, because it answers for an earlier one, is ignored.
        """
        if self._picture is not None and _alike(samples, self._picture.samples):
            self._after_samples, self._after = samples, display
            self._after_caption = f"After · {caption}"
            self._refresh()

    def show_nothing(self) -> None:
        self._picture = self._before = self._after = self._after_samples = None
        self._transform = self._point = None
        self._refresh()

    def show_fit(self) -> None:
        """Show the whole picture."""
        self._move(None)

    def show_exact(self) -> None:
        """Show one screen pixel for each pixel of the picture."""
        self._move(ViewTransform(1.0, self._shown_transform().centre))

    def grab_comparison(self) -> QImage:
        """Before and after with captions, every pixel of both; null where there is no result."""
        if self._picture is None or self._before is None or self._after is None:
            return QImage()
        caption = self._before_caption
        return side_by_side(self._before, caption, self._after, self._after_caption)

    # -- how it is built

    def _build(self) -> None:
        panes = QWidget()
        row = QHBoxLayout(panes)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._before_view, 1)
        row.addWidget(self._after_view, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(panes)
        self._stack.addWidget(self._wipe_view)
        for view in (self._before_view, self._after_view, self._wipe_view):
            view.moved.connect(self._move)
            view.hovered.connect(self._hover)
            view.resized.connect(self._arrange)
            view.installEventFilter(self)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._stack, 1)
        self._column.addLayout(self._build_strip())

    def _build_strip(self) -> QBoxLayout:
        self._buttons = QVBoxLayout()
        self._buttons.setSpacing(6)
        self._buttons.addLayout(self._build_zoom())
        self._buttons.addLayout(self._build_modes())
        self._strip = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._strip.addWidget(self._read_out, 1)
        self._strip.addLayout(self._buttons)
        return self._strip

    def _build_zoom(self) -> QHBoxLayout:
        self._zoom = QLabel()
        self._zoom.setObjectName("zoom")
        self._zoom.setAccessibleName("Zoom")
        self._zoom.setFont(theme.numbers_font())
        self._zoom.setMinimumWidth(self._zoom.fontMetrics().horizontalAdvance("6400 %"))
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setToolTip("Screen pixels per picture pixel; above 100 % no pixel is blended")
        whole = _button("fit", "Fi&t", "Show the whole picture (0, or double-click at 100 %)")
        whole.clicked.connect(self.show_fit)
        exact = _button(
            "one_to_one", "&1:1", "One screen pixel for each pixel (1, or double-click)"
        )
        exact.clicked.connect(self.show_exact)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self._read_out.position)
        row.addSpacing(8)
        for widget in (self._zoom, whole, exact):
            row.addWidget(widget)
        return row

    def _build_modes(self) -> QHBoxLayout:
        self._side = _button("side", "Side &by side", "Before and after next to each other")
        self._wipe = _button("wipe", "&Wipe", "One over the other, with a divider to drag across")
        self._original = _button("original", "&Original", "Hold to see the original (Space)")
        self._original.pressed.connect(lambda: self._hold(True))
        self._original.released.connect(lambda: self._hold(False))
        self._modes = QButtonGroup(self)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addStretch(1)
        modes: tuple[tuple[QToolButton, ViewMode, str], ...] = (
            (self._side, "side", "first"),
            (self._wipe, "wipe", "last"),
        )
        for button, mode, segment in modes:
            button.setCheckable(True)
            button.setProperty("segment", segment)
            button.clicked.connect(lambda _=False, mode=mode: self.wanted.emit("view_mode", mode))
            self._modes.addButton(button)
            row.addWidget(button)
        row.addSpacing(6)
        row.addWidget(self._original)
        return row

    # -- what happens

    @property
    def _views(self) -> tuple[PictureView, ...]:
        """Those on screen."""
        if self._stack.currentIndex() == 1:
            return (self._wipe_view,)
        return (self._before_view, self._after_view)

    def _move(self, transform: ViewTransform | None) -> None:
        if self._before is not None:
            self._transform = transform and transform.kept_within(self._before.size)
            self._arrange()

    def _hover(self, point: tuple[int, int] | None) -> None:
        self._point = point
        for view in self._views:
            view.show_mark(None if view.underMouse() else point)
        self._read()

    def _hold(self, holding: bool) -> None:
        if holding != self._holding:
            self._holding = holding
            self._refresh()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Narrow: then the read-out stands above the buttons instead of beside them."""
        margins = self._column.contentsMargins()
        width = max(
            self._stack.minimumSizeHint().width(),
            self._read_out.minimumSizeHint().width(),
            self._buttons.minimumSize().width(),
        )
        return QSize(width + margins.left() + margins.right(), super().minimumSizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:  # noqa: N802
        self._arrange_strip()

    def _arrange_strip(self) -> None:
        beside = self._read_out.sizeHint().width() + self._buttons.sizeHint().width() + _APART
        across = QBoxLayout.Direction.LeftToRight
        down = QBoxLayout.Direction.TopToBottom
        self._strip.setDirection(across if beside <= self._stack.width() else down)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space:
            self._hold(True)
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._hold(False)
        else:
            super().keyReleaseEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.FocusOut:
            self._hold(False)  # the key's release will go elsewhere
        return super().eventFilter(watched, event)

    def _refresh(self) -> None:
        """Give the views what they shall paint."""
        after, caption = self._after, self._after_caption
        if self._holding and after is not None:
            after, caption = self._before, ORIGINAL
        self._before_view.show_picture(self._before, self._before_caption)
        self._after_view.show_picture(after, caption)
        if after is None:
            self._wipe_view.show_picture(self._before, self._before_caption)
        else:
            self._wipe_view.show_picture(after, caption)
        covered = after is not None and not self._holding
        self._wipe_view.show_before(self._before if covered else None, self._before_caption)
        self._arrange()
        self._read()

    @property
    def _before_caption(self) -> str:
        if self._picture is None or self._before is None:
            return BEFORE
        width, height = self._before.size
        return f"{BEFORE} · {self._picture.name} · {width}×{height}"

    def _shown_transform(self) -> ViewTransform:
        if self._transform is not None or self._before is None:
            return self._transform or ViewTransform(1.0, (0.0, 0.0))
        widths, heights = zip(*(view.device_size for view in self._views), strict=True)
        return fit(self._before.size, (min(widths), min(heights)))

    def _arrange(self) -> None:
        transform = self._shown_transform()
        for view in self._views:
            view.show_transform(transform)
        percent = 100 * transform.scale
        digits = 0 if percent >= 10 else 1
        self._zoom.setText("" if self._before is None else f"{percent:.{digits}f} %")

    def _read(self) -> None:
        before = None if self._picture is None else self._picture.samples
        self._read_out.show_values(
            self._point, _values(before, self._point), _values(self._after_samples, self._point)
        )


def _alike(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def _values(samples: NDArray[Any] | None, point: tuple[int, int] | None) -> Values:
    if samples is None or point is None:
        return None
    x, y = point
    height, width = samples.shape[:2]
    return samples[y, x] if x < width and y < height else None


def _button(name: str, text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(text.replace("&", ""))
    button.setAccessibleDescription(tip)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
