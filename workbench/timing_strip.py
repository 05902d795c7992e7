"""The strip under the pictures: how long it took, how fast that is, whether it is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from kernels.check import Check
from kernels.job import Result
from workbench import numbers
from workbench.numbers import GAP, MISSING

RIGHT = "✓"
WRONG = "✗"


class TimingStrip(QWidget):
    """Shows the newest Result as it is refined, and what it is compared with.

    A speed (speed-up, MP/s, GB/s) counts only beside a passed check: until then it is pale, and
    beside a failed one there is none.

    titles  what implementations are called, by key; a key without one stands for itself
    """

    def __init__(
        self, titles: Mapping[str, str] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("timing_strip")
        self.setAccessibleName("Timing")
        self._titles = titles or {}
        self._result: Result | None = None
        self._baseline: Result | None = None
        self._make_tiles()
        self._verdict = VerdictCard()
        self._lay_out()
        self.show_nothing()

    def show_result(self, result: Result) -> None:
        """The newest that is known of the newest job."""
        self._result = result
        self._refresh()

    def show_baseline(self, result: Result | None) -> None:
        """A CPU's Result of the same picture, weights and border; of any other it is ignored."""
        self._baseline = result
        self._refresh()

    def show_progress(self, doing: str | None) -> None:
        """What is under way, in the -ing form; None when nothing is."""
        self._verdict.show_doing(f"{doing} …" if doing else "")

    def show_nothing(self) -> None:
        """There is no picture, or nothing is known of it."""
        self._result = self._baseline = None
        self.show_progress(None)
        self._refresh()

    def _make_tiles(self) -> None:
        self._kernel = Tile("kernel", "Kernel", f"888{GAP}MP/s", KERNEL_TIP, scale=2.4)
        self._speedup = Tile("speedup", "Speed-up", "8,888×", SPEEDUP_TIP, scale=2.4)
        self._upload = Tile("upload", "Upload", "resident", UPLOAD_TIP)
        self._download = Tile("download", "Download", f"8.88{GAP}ms", DOWNLOAD_TIP)
        self._total = Tile("total", "Total", f"8.88{GAP}ms", TOTAL_TIP)
        self._pixel_rate = Tile("pixel_rate", "Pixels", f"8.88{GAP}MP/s", PIXEL_RATE_TIP)
        self._byte_rate = Tile("byte_rate", "Effective", f"8.88{GAP}GB/s", BYTE_RATE_TIP)
        self._compile = Tile("compile", "Compile", f"8.88{GAP}ms", COMPILE_TIP)

    def _lay_out(self) -> None:
        small = (
            (self._upload, self._download, self._total),
            (self._pixel_rate, self._byte_rate, self._compile),
        )
        grid = QGridLayout()
        grid.setSpacing(6)
        grid.addWidget(self._kernel, 0, 0, 2, 1)
        grid.addWidget(self._speedup, 0, 1, 2, 1)
        for row, tiles in enumerate(small):
            for column, tile in enumerate(tiles, start=2):
                grid.addWidget(tile, row, column)
        for column, stretch in enumerate((5, 4, 2, 2, 2)):
            grid.setColumnStretch(column, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.setSpacing(6)
        layout.addLayout(grid)
        layout.addWidget(self._verdict)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def _refresh(self) -> None:
        if self._result is None:
            self._refresh_nothing()
            return
        self._refresh_times(self._result)
        self._refresh_speeds(self._result)
        self._verdict.show_verdict(self._result.check)
        self._verdict.show_ran("  +  ".join(map(str, self._result.ran)))

    def _refresh_nothing(self) -> None:
        for tile in self.findChildren(Tile):
            tile.show_value(MISSING)
        self._kernel.show_caption("Kernel")
        self._verdict.show_nothing()

    def _refresh_times(self, result: Result) -> None:
        kernel, on_gpu = result.kernel, _on_gpu(result)
        count = len(kernel.samples_ms)
        spread = f"{numbers.duration_range(*kernel.quartiles_ms)}  ·  " if count > 1 else ""
        self._kernel.show_caption(f"Kernel  ·  {_how_measured(result)}")
        self._kernel.show_value(
            numbers.duration(kernel.median_ms),
            f"{spread}{count} sample{'s' if count > 1 else ''}",
        )
        self._upload.show_value(_time_or(result.upload_ms, "resident" if on_gpu else MISSING))
        self._download.show_value(_time_or(result.download_ms, MISSING))
        self._total.show_value(numbers.duration(result.total_ms))
        self._compile.show_value(_time_or(result.compile_ms, "cached" if on_gpu else MISSING))

    def _refresh_speeds(self, result: Result) -> None:
        check = result.check
        if check is not None and not check.ok:
            for tile in (self._pixel_rate, self._byte_rate, self._speedup):
                tile.show_value(MISSING, "the answer is wrong" if tile is self._speedup else "")
            return
        pale = check is None
        self._pixel_rate.show_value(numbers.pixel_rate(result.megapixels_per_s), pale=pale)
        self._byte_rate.show_value(numbers.byte_rate(result.effective_gb_s), pale=pale)
        self._refresh_speedup(result, pale)

    def _refresh_speedup(self, result: Result, pale: bool) -> None:
        baseline = self._baseline
        if baseline is None or not _same_task(result, baseline):
            self._speedup.show_value(MISSING, "no CPU time yet")
        elif baseline.check is not None and not baseline.check.ok:
            self._speedup.show_value(MISSING, f"{self._name(baseline)} is wrong")
        else:
            factor = baseline.kernel.median_ms / result.kernel.median_ms
            pale = pale or baseline.check is None
            self._speedup.show_value(numbers.ratio(factor), f"vs {self._name(baseline)}", pale=pale)

    def _name(self, baseline: Result) -> str:
        key = baseline.job.implementation
        threads = max(ran.threads or 1 for ran in baseline.ran)
        return f"{self._titles.get(key, key)} ({threads} thread{'s' if threads > 1 else ''})"


def verdict(check: Check | None) -> str:
    """The check's finding, in the strip's few words."""
    if check is None:
        return "checking …"
    where = "all pixels" if check.is_full else f"{check.checked:,} of {check.total:,} pixels"
    if check.ok:
        return f"{RIGHT} verified {where}, max error {check.max_error:.3g}"
    y, x, channel = check.worst
    return (
        f"{WRONG} WRONG in {check.wrong:,} samples, max error {check.max_error:.3g} "
        f"at x {x}, y {y}, channel {channel}"
    )


class Tile(QFrame):
    """A card with a caption, one large value, and a line of small print below it.

    widest  a text as wide as any it will show, so that the card never changes its size
    scale   size of the value against the window's font; above 2 it gets a line of small print
    """

    def __init__(
        self, name: str, caption: str, widest: str, tip: str, *, scale: float = 1.15
    ) -> None:
        super().__init__(objectName=name)
        self._title = caption
        self.setToolTip(tip)
        self._caption = ElidedLabel(0.85)
        self._caption.show_text(caption)
        self._value = QLabel()
        self._value.setFont(_scaled(self.font(), scale, QFont.Weight.DemiBold))
        self._value.setMinimumWidth(self._value.fontMetrics().horizontalAdvance(widest) + 4)
        self._value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._detail = ElidedLabel(0.85)
        self._detail.setVisible(scale > 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 5, 10, 5)
        layout.setSpacing(0)
        for label in (self._caption, self._value, self._detail):
            layout.addWidget(label)

    def show_caption(self, text: str) -> None:
        self._caption.show_text(text)

    def show_value(self, text: str, detail: str = "", *, pale: bool = False) -> None:
        """pale: not to be relied on yet."""
        self._value.setText(text)
        self._value.setForegroundRole(_role(pale or text == MISSING))
        self._detail.show_text(detail)
        unsure = " (not checked yet)" if pale else ""
        self.setAccessibleName(f"{self._title}: {text}{unsure} {detail}".rstrip())

    @property
    def text(self) -> str:
        return self._value.text()

    @property
    def detail(self) -> str:
        return self._detail.whole_text

    @property
    def is_pale(self) -> bool:
        return self._value.foregroundRole() == _role(True)

    def paintEvent(self, event: QPaintEvent) -> None:
        _paint_card(self)


class VerdictCard(QFrame):
    """Whether the answer is right, what ran, and what is under way; a bar says it in colour."""

    def __init__(self) -> None:
        super().__init__(objectName="verdict_card")
        self._mark: Literal["right", "wrong"] | None = None
        self.setToolTip(VERDICT_TIP)
        self._verdict = QLabel(objectName="verdict")
        self._verdict.setFont(_scaled(self.font(), 1.1, QFont.Weight.DemiBold))
        self._verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._doing = ElidedLabel(0.9, Qt.AlignmentFlag.AlignRight)
        self._doing.setObjectName("doing")
        self._ran = ElidedLabel(0.9)
        self._ran.setObjectName("ran")
        line = QHBoxLayout()
        line.addWidget(self._verdict)
        line.addWidget(self._doing, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 5, 10, 5)
        layout.setSpacing(1)
        layout.addLayout(line)
        layout.addWidget(self._ran)

    def show_verdict(self, check: Check | None) -> None:
        self._show(verdict(check), None if check is None else "right" if check.ok else "wrong")

    def show_nothing(self) -> None:
        self._show("Open a picture to see how fast it is filtered.", None)
        self.show_ran("")

    def show_doing(self, text: str) -> None:
        self._doing.show_text(text)
        self._doing.setAccessibleName(f"Under way: {text or 'nothing'}")

    def show_ran(self, text: str) -> None:
        self._ran.show_text(text)
        self._ran.setAccessibleName(f"What ran: {text or 'nothing yet'}")

    def paintEvent(self, event: QPaintEvent) -> None:
        _paint_card(self, self._bar_colour())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._tint()

    def _show(self, text: str, mark: Literal["right", "wrong"] | None) -> None:
        self._mark = mark
        self._verdict.setText(text)
        self._verdict.setAccessibleName(f"Check: {text}")
        self._tint()
        self.update()

    def _bar_colour(self) -> QColor:
        if self._mark is None:
            return self.palette().color(QPalette.ColorRole.Mid)
        return verdict_colour(self._mark, self.palette())

    def _tint(self) -> None:
        """A wrong answer's verdict is red as well as said; any other has the colour of text."""
        palette = QPalette(self.palette())
        if self._mark == "wrong":
            palette.setColor(QPalette.ColorRole.WindowText, self._bar_colour())
        self._verdict.setPalette(palette)


class ElidedLabel(QLabel):
    """One line of small print, cut with an ellipsis where it is too long; whole in its tooltip."""

    def __init__(self, scale: float, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> None:
        super().__init__()
        self._whole = ""
        self.setAlignment(align | Qt.AlignmentFlag.AlignVCenter)
        self.setFont(_scaled(self.font(), scale))
        self.setForegroundRole(_role(True))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str) -> None:
        self._whole = text
        self._elide()

    @property
    def whole_text(self) -> str:
        return self._whole

    def sizeHint(self) -> QSize:
        return QSize(60, self.fontMetrics().height() + 1)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(
            self._whole, Qt.TextElideMode.ElideRight, self.width()
        )
        self.setText(shown)
        self.setToolTip(self._whole if shown != self._whole else "")


def _on_gpu(result: Result) -> bool:
    return any(ran.grid is not None for ran in result.ran)


def _how_measured(result: Result) -> str:
    """CPU, L2 cold, L2 warm, or the first run, which is slower than those to follow."""
    if not result.kernel.warmed_up:
        return "first run"
    return f"L2 {result.kernel.cache}" if result.kernel.cache else "CPU"


def _same_task(one: Result, other: Result) -> bool:
    a, b = one.job, other.job
    return a.picture is b.picture and a.border == b.border and np.array_equal(a.weights, b.weights)


def _time_or(ms: float | None, otherwise: str) -> str:
    return otherwise if ms is None else numbers.duration(ms)


def _paint_card(card: QWidget, bar: QColor | None = None) -> None:
    """A rounded card in the palette's colours, with a coloured bar at its left where wanted."""
    painter = QPainter(card)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(card.palette().color(QPalette.ColorRole.Midlight))
    painter.setBrush(card.palette().brush(QPalette.ColorRole.Base))
    painter.drawRoundedRect(card.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    if bar:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(bar)
        painter.drawRoundedRect(QRectF(5, 6, 4, card.height() - 12), 2, 2)


def verdict_colour(mark: Literal["right", "wrong"], palette: QPalette) -> QColor:
    """Green or red as colour-blind people can tell them apart, legible on `palette`'s cards."""
    on_dark = palette.color(QPalette.ColorRole.Base).lightness() < 128
    if mark == "right":
        return QColor("#2fcf9f" if on_dark else "#009e73")
    return QColor("#ff8a4c" if on_dark else "#c24400")


def _role(muted: bool) -> QPalette.ColorRole:
    return QPalette.ColorRole.PlaceholderText if muted else QPalette.ColorRole.WindowText


def _scaled(font: QFont, factor: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    scaled = numbers.with_tabular_digits(font)
    scaled.setPointSizeF(font.pointSizeF() * factor)
    scaled.setWeight(weight)
    return scaled


KERNEL_TIP = (
    "The filtering alone, without transfers: the median, then the two quartiles around it.\n"
    "On the GPU by CUDA events. “L2 cold”: the cache was emptied before each sample; "
    "“warm”: the picture may still be in it, which flatters small ones."
)
SPEEDUP_TIP = (
    "How many times quicker the kernel is than the CPU implementation named below it.\n"
    "Kernel against kernel: transfers are not in it, “Total” has them."
)
UPLOAD_TIP = (
    "Copying the picture to the GPU.\n“resident”: it was there already and was not sent again."
)
DOWNLOAD_TIP = "Copying the filtered picture back from the GPU."
TOTAL_TIP = "Upload, kernel and download together."
PIXEL_RATE_TIP = "Pixels of the picture filtered in a second of kernel time."
BYTE_RATE_TIP = (
    "The picture read once and written once, by kernel time.\n"
    "Effective: what a kernel that wastes no access would move, not what this one moved."
)
COMPILE_TIP = (
    "Compiling the kernel: once for each choice of settings; “cached” when it was compiled before."
)
VERDICT_TIP = (
    "Every answer is compared with a slow, exact calculation in 64-bit numbers.\n"
    "A speed counts only when the answer is right."
)
