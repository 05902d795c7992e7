"""Themes: readable, complete, following the desktop unless told otherwise."""

import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QPushButton

from tests.workbench.contrast import GRAPHICS, TEXT, contrast
from workbench.base import theme


@pytest.fixture(autouse=True)
def leave_it_light(qapp):
    yield
    theme.apply(qapp, "light")


BOTH = pytest.mark.parametrize("colors", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
BEHIND_TEXT = ("surface", "panel", "raised", "hover")


@BOTH
@pytest.mark.parametrize("back", BEHIND_TEXT)
@pytest.mark.parametrize("name", ["text", "muted"])
def test_text_stands_out_from_everything_behind_it(colors, name, back):
    assert contrast(getattr(colors, name), getattr(colors, back)) >= TEXT


@BOTH
@pytest.mark.parametrize("back", ["surface", "panel"])
@pytest.mark.parametrize("name", ["accent", "good", "bad", "warn"])
def test_coloured_words_stand_out_from_everything_behind_them(colors, name, back):
    assert contrast(getattr(colors, name), getattr(colors, back)) >= TEXT


@BOTH
def test_what_is_chosen_is_readable_and_the_surround_is_neutral(colors):
    assert contrast(colors.on_accent, colors.accent) >= TEXT
    assert len({*QColor(colors.surround).getRgb()[:3]}) == 1


@BOTH
@pytest.mark.parametrize("back", ["surface", "panel", "raised"])
def test_outlines_of_controls_and_the_ring_of_focus_stand_out(colors, back):
    for name in ("border", "accent"):
        assert contrast(getattr(colors, name), getattr(colors, back)) >= GRAPHICS, name
    assert contrast(colors.ring, colors.accent) >= GRAPHICS


def test_light_and_dark_can_be_chosen_and_the_desktop_followed_only_if_chosen(qapp, qtbot):
    widget = QPushButton()
    qtbot.addWidget(widget)
    for scheme, expected in (("dark", theme.DARK), ("light", theme.LIGHT)):
        theme.apply(qapp, scheme)
        qapp.processEvents()
        assert theme.colors() == theme.colors(widget.palette()) == expected
    hints = qapp.styleHints()
    theme.apply(qapp, "system")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.colors() == theme.DARK
    theme.apply(qapp, "light")
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.colors() == theme.LIGHT


def test_the_window_can_paint_before_anything_heavy_is_imported():
    code = (
        "import sys, workbench.panels.compare.compare_view;"
        "import workbench.widgets.message_bar, workbench.base.theme;"
        "sys.exit(str(sorted({'cv2', 'numba', 'cupy', 'pyqtgraph'} & set(sys.modules))))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stderr
    assert said.strip() == "[]"
