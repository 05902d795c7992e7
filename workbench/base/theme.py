"""The program's appearance: light and dark colours, fonts, and the style sheet made from them."""

from __future__ import annotations

import string
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from PySide6.QtCore import QObject, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from kernels.core.plain_data import from_plain
from workbench.base.paths import asset, asset_table

Scheme = Literal["system", "light", "dark"]
SCHEMES = get_args(Scheme)

FONT_SCALE = 1.12  # readable from the back row, relative to what the user set in the system
LARGE_POINTS = 12.0  # who set larger letters gets just those
SCREEN_SHARE = 0.92  # of the screen that a window takes at most, by itself
USUAL_LINE_PX = 16  # the height of a line of text on most desktops
_ICONS = ("chevron-down", "chevron-up", "check")


@dataclass(frozen=True, slots=True)
class Colors:
    """The colours of one theme, as "#rrggbb".

    surface, panel    behind everything; behind a group of controls, a field, a table
    raised, hover     a button's face, and under the pointer
    border, grid      a control's outline; and lines that only part: a card's edge, a chart's grid
    text, muted       on any of the above; muted is for captions and units
    accent, on_accent the focus ring, a selection; and text on it
    good, bad, warn   always with a word or a mark beside them
    """

    surface: str
    panel: str
    raised: str
    hover: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    ring: str  # the focus of a selection, on accent
    good: str
    bad: str
    warn: str
    grid: str
    surround: str  # around a picture: neutral, so that it does not tint it
    series: tuple[str, ...]  # one colour a curve, best first; use them with markers and dashes


_TABLE = asset_table("theme.toml")
_ROLES: dict[str, list[str]] = _TABLE["roles"]  # of Qt's palette, by the names of colours
LIGHT, DARK = (from_plain(Colors, _TABLE[name]) for name in ("light", "dark"))


def apply(app: QApplication, scheme: Scheme = "system") -> None:
    """Style `app`; with "system" it follows the desktop.  Widgets get QEvent.PaletteChange."""
    theme = app.findChild(_Theme) or _Theme(app)
    theme.choose(scheme)


def colors(palette: QPalette | None = None) -> Colors:
    """Colours of the theme that `palette` (a widget's, or the application's) belongs to."""
    window = (palette or QGuiApplication.palette()).color(QPalette.ColorRole.Window)
    return DARK if window.lightness() < 128 else LIGHT


def letters(points: float) -> float:
    """Size of the program's letters, larger than the system's unless those are large."""
    return max(points, min(points, LARGE_POINTS) * FONT_SCALE)


def in_letters(px: int) -> int:
    """Scale what was drawn `px` pixels large for usual letters to those of the system."""
    return max(px, round(px * QFontMetrics(QGuiApplication.font()).height() / USUAL_LINE_PX))


def window_size(width: int, height: int) -> QSize:
    """Scale a window's size by `in_letters`, to no more than the screen."""
    room = QGuiApplication.primaryScreen().availableGeometry().size()
    return QSize(in_letters(width), in_letters(height)).boundedTo(room * SCREEN_SHARE)


def numbers_font() -> QFont:
    """The application's font with digits of one width: changing numbers stand still."""
    font = QFont(QGuiApplication.font())
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def fixed_font() -> QFont:
    """The system's monospaced font, in the application's size: for columns and code."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(QGuiApplication.font().pointSizeF())
    return font


class _Theme(QObject):
    """The chosen theme, as a child of the application."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._scheme: Scheme = "system"
        app.setStyle("Fusion")
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        font.setPointSizeF(letters(font.pointSizeF()))
        app.setFont(font)
        app.styleHints().colorSchemeChanged.connect(self._dress)

    def choose(self, scheme: Scheme) -> None:
        schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
        self._scheme = scheme
        hints = self._app.styleHints()
        hints.setColorScheme(schemes.get(scheme, Qt.ColorScheme.Unknown))
        self._dress(hints.colorScheme())

    @Slot(Qt.ColorScheme)
    def _dress(self, desktop: Qt.ColorScheme) -> None:
        is_dark = desktop == Qt.ColorScheme.Dark
        if self._scheme != "system":  # some platforms do not take another one
            is_dark = self._scheme == "dark"
        theme = DARK if is_dark else LIGHT
        icons = {
            name.replace("-", "_"): f'url("{asset(f"icons/{name}.svg").as_posix()}")'
            for name in _ICONS
        }
        template = string.Template(asset("theme.qss").read_text(encoding="utf-8"))
        sheet = template.substitute(asdict(theme), **icons)
        if sheet != self._app.styleSheet():
            # In place of another sheet Qt would style each widget once for all that it lies in.
            self._app.setStyleSheet("")
        self._app.setPalette(_palette(theme))
        if sheet != self._app.styleSheet():
            self._app.setStyleSheet(sheet)


def _palette(theme: Colors) -> QPalette:
    palette, role = QPalette(), QPalette.ColorRole
    for color, roles in _ROLES.items():
        for name in roles:
            palette.setColor(role[name], QColor(getattr(theme, color)))
    for each in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(theme.border).darker(110))
    return palette
