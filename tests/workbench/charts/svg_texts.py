"""Where the texts of an SVG stand, to see that none covers another and none is cut off."""

import re
from itertools import combinations
from xml.etree import ElementTree

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QFontMetricsF, QTransform

SLACK_PX = 1.5  # a font's box is a little larger than its letters


def texts(svg):
    """(text, box in the page's pixels) of everything written on it."""
    return list(_texts(ElementTree.fromstring(svg), QTransform(), {}))


def page(svg):
    """The page as a box."""
    return QRectF(*map(float, ElementTree.fromstring(svg).get("viewBox").split()))


def overlapping(svg):
    """Pairs of texts that cover each other."""
    boxes = [(text, box.adjusted(SLACK_PX, 3, -SLACK_PX, -3)) for text, box in texts(svg)]
    return [(a, b) for (a, one), (b, two) in combinations(boxes, 2) if one.intersects(two)]


def cut_off(svg):
    """Texts that do not lie on the page."""
    whole = page(svg)
    return [text for text, box in texts(svg) if not whole.adjusted(-1, -1, 1, 1).contains(box)]


def _texts(element, transform, style):
    style = style | {k: v for k, v in element.attrib.items() if k.startswith("font")}
    if found := re.fullmatch(r"matrix\((.*)\)", element.get("transform", "")):
        a, b, c, d, e, f = map(float, found[1].split(","))
        transform = QTransform(a, b, c, d, e, f) * transform
    if element.tag.endswith("}text") and (element.text or "").strip():
        font = QFont("DejaVu Sans")
        font.setPixelSize(round(float(style["font-size"])))
        font.setWeight(QFont.Weight(int(style.get("font-weight", 400))))
        metrics, text = QFontMetricsF(font), element.text
        at = QPointF(float(element.get("x")), float(element.get("y")) - metrics.ascent())
        box = QRectF(at.x(), at.y(), metrics.horizontalAdvance(text), metrics.height())
        yield text, transform.mapRect(box)
    for child in element:
        yield from _texts(child, transform, style)
