"""Icons drawn in a colour of the theme, as sharp as the screen allows."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize
from PySide6.QtGui import QImageReader, QPixmap

from workbench.base.assets_path import asset

INK = "#848b94"  # what the files are drawn in


@lru_cache(maxsize=128)
def theme_pixmap(name: str, color: str, side_px: int, ratio: float) -> QPixmap:
    """Return the icon assets/icons/NAME.svg in `color`.

    side_px  its width and height in device-independent pixels
    ratio    device pixels per such pixel
    """
    text = asset(f"icons/{name}.svg").read_text(encoding="utf-8").replace(INK, color)
    buffer = QBuffer()
    buffer.setData(QByteArray(text.encode()))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(b"svg"))
    side = round(side_px * ratio)
    reader.setScaledSize(QSize(side, side))
    pixmap = QPixmap.fromImage(reader.read())
    pixmap.setDevicePixelRatio(ratio)
    return pixmap
