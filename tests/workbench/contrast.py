"""Contrast as the Web Content Accessibility Guidelines (WCAG 2.2) reckon it."""

import numpy as np
from PySide6.QtGui import QColor

TEXT, GRAPHICS = 4.5, 3.0  # what level AA asks for
SHARES = np.arange(256) / 255
LINEAR = np.where(SHARES <= 0.04045, SHARES / 12.92, ((SHARES + 0.055) / 1.055) ** 2.4)


def luminance(rgb):
    """Relative luminance of whole sRGB values from 0 to 255, (..., 3)."""
    return LINEAR[np.asarray(rgb)] @ (0.2126, 0.7152, 0.0722)


def ratio(one, other):
    """From 1 to 21, of two (..., 3)."""
    light, dark = luminance(one) + 0.05, luminance(other) + 0.05
    return np.maximum(light, dark) / np.minimum(light, dark)


def contrast(one, other):
    """Of two colours as QColor takes them."""
    return float(ratio(*(QColor(each).getRgb()[:3] for each in (one, other))))


def seen(pixels):
    """The contrast between the commonest colour of an image, (H, W, 3), and what stands out most
    from it."""
    packed = pixels.reshape(-1, 3).astype(np.uint32) @ np.array((1, 1 << 8, 1 << 16), np.uint32)
    found, counts = np.unique(packed, return_counts=True)
    colors = found[:, None] >> np.array((0, 8, 16), np.uint32) & 255
    return float(ratio(colors, colors[counts.argmax()]).max())
