"""The strip under the pictures: how long it took, how fast that is, whether it is right."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from kernels.core.job import Result
from kernels.core.verdict import Check
from workbench.base import numbers, theme
from workbench.base.numbers import GAP, MISSING
from workbench.base.plain_text import Label, tip_text
from workbench.model.speed_up import single_in_words, speed_up_of
from workbench.widgets.tile import TEXT, ElidedLabel, ValueTile, scaled_font

ACROSS, DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom

UNCHECKED = "not checked yet"
GAP_PX = 4  # between tiles: with more, they would not stand in one row at 1280 pixels


class TimingStrip(QWidget):
    """The strip of the newest Result as it is refined, and of what it is compared with.

    A speed (speed-up, MP/s, GB/s) counts only beside a passed check: until then it is pale, and
    beside a failed one there is none.  So is what comes from a single run, which has no speed-up.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("timing-strip")
        self.setAccessibleName("Timing")
        self._result: Result | None = None
        self._baseline: Result | None = None
        self._make_tiles()
        self._verdict = VerdictCard()
        self._lay_out()
        self.show_nothing()

    def show_result(self, result: Result) -> None:
        """Show the newest that is known of the newest job."""
        self._result = result
        self._refresh()

    def show_baseline(self, result: Result | None) -> None:
        """Set a CPU's Result to compare with; it counts only for the same work."""
        self._baseline = result
        self._refresh()

    def show_progress(self, doing: str | None) -> None:
        """Show what is under way, in the -ing form; None when nothing is."""
        self._verdict.show_doing(f"{doing} …" if doing else "")

    def show_nothing(self) -> None:
        """Clear all figures: there is no picture, or nothing is known of it."""
        self._show_empty("Open a picture to see how fast it is filtered.")

    def show_refused(self) -> None:
        """Clear all figures: the picture could not be filtered as chosen."""
        self._show_empty("Not filtered, so there is nothing to time.")

    def _show_empty(self, why: str) -> None:
        self._result = self._baseline = None
        self._why_empty = why
        self.show_progress(None)
        self._refresh()

    def _make_tiles(self) -> None:
        time, rate = f"8.88{GAP}ms", f"8.88{GAP}GB/s"
        self._kernel = _large("kernel", "Kernel", f"88.8{GAP}ms", KERNEL_TIP)
        self._speedup = _large("speedup", "Speed-up", "888.8×", SPEEDUP_TIP)
        self._upload = _small("upload", "Upload", "resident", UPLOAD_TIP)
        self._download = _small("download", "Download", time, DOWNLOAD_TIP)
        self._total = _small("total", "Total", time, TOTAL_TIP)
        self._pixel_rate = _small("pixel-rate", "Pixels", rate, PIXEL_RATE_TIP)
        self._byte_rate = _small("byte-rate", "Effective", rate, BYTE_RATE_TIP)
        self._compile = _small("compile", "Compile", time, COMPILE_TIP)

    def _lay_out(self) -> None:
        rows = (
            (self._upload, self._download, self._total),
            (self._pixel_rate, self._byte_rate, self._compile),
        )
        self._large, self._small = QHBoxLayout(), QGridLayout()
        self._large.addWidget(self._kernel, 5)
        self._large.addWidget(self._speedup, 4)
        for row, tiles in enumerate(rows):
            for column, tile in enumerate(tiles):
                self._small.addWidget(tile, row, column)
                self._small.setColumnStretch(column, 1)
        self._tiles = QBoxLayout(ACROSS)
        for part, stretch in ((self._large, 3), (self._small, 2)):
            part.setSpacing(GAP_PX)
            self._tiles.addLayout(part, stretch)
        self._tiles.setSpacing(GAP_PX)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(self._tiles)
        layout.addWidget(self._verdict)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return a narrow size, in which the small tiles stand below the large ones."""
        width = max(part.minimumSize().width() for part in (self._large, self._small))
        return QSize(width, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        beside = self._large.minimumSize().width() + self._small.minimumSize().width() + GAP_PX
        self._tiles.setDirection(ACROSS if beside <= self.width() else DOWN)

    def _refresh(self) -> None:
        if self._result is None:
            self._refresh_nothing()
            return
        self._refresh_kernel(self._result)
        self._refresh_transfers(self._result)
        self._refresh_speeds(self._result)
        self._verdict.show_check(self._result.check)
        self._verdict.show_ran(_ran(self._result))

    def _refresh_nothing(self) -> None:
        for tile in self.findChildren(ValueTile):
            tile.show_value(MISSING)
        self._verdict.show_nothing(self._why_empty)

    def _refresh_kernel(self, result: Result) -> None:
        kernel = result.kernel
        if kernel.is_single:
            detail = f"n{GAP}={GAP}1{f', {single_in_words(result)}' if kernel.ended else ''}"
        else:
            spread = numbers.duration_range(*kernel.quartiles_ms)
            detail = f"{spread}  ·  n{GAP}={GAP}{len(kernel.samples_ms)}"
        self._kernel.show_value(
            numbers.duration(kernel.median_ms),
            detail,
            note=_how_measured(result),
            unsure=_unsure(result),
            more=_why_single(result),
        )

    def _refresh_transfers(self, result: Result) -> None:
        on_gpu = any(ran.grid is not None for ran in result.ran)
        count = result.job.picture.nbytes
        for tile, ms, copy_ms, otherwise in (
            (self._upload, result.upload_ms, result.upload_copy_ms, "resident"),
            (self._download, result.download_ms, result.download_copy_ms, MISSING),
        ):
            tile.show_value(
                _time_or(ms, otherwise if on_gpu else MISSING),
                # Spoken, and in the tooltip: a small tile has no room for it.
                "" if ms is None else f"n{GAP}={GAP}1",
                more=_copied(count, copy_ms),
            )
        self._total.show_value(numbers.duration(result.total_ms))
        self._compile.show_value(_time_or(result.compile_ms, "cached" if on_gpu else MISSING))

    def _refresh_speeds(self, result: Result) -> None:
        check = result.check
        if check is not None and not check.ok:
            why = "the answer is wrong" if check.wrong else "the answer is not checked"
            self._pixel_rate.show_value(MISSING)
            self._byte_rate.show_value(MISSING)
            self._speedup.show_value(MISSING, why)
            return
        self._show_speed(self._pixel_rate, numbers.pixel_rate(result.megapixels_per_s), result)
        self._show_speed(self._byte_rate, numbers.byte_rate(result.effective_gb_s), result)
        self._refresh_speedup(result)

    def _refresh_speedup(self, result: Result) -> None:
        """Show the speed-up; pale until result and baseline have both been checked."""
        found, baseline = speed_up_of(result, self._baseline), self._baseline
        is_known = found.times != MISSING
        is_unchecked = is_known and None in (result.check, baseline and baseline.check)
        self._speedup.show_value(
            found.text,
            found.detail,
            note="checking" if is_unchecked else found.interval,
            unsure=UNCHECKED if is_unchecked else "",
            more=found.sentence,
        )

    def _show_speed(self, tile: ValueTile, text: str, result: Result) -> None:
        """Show a speed; pale until it has been checked, and where it is of a single run."""
        unsure = UNCHECKED if result.check is None else _unsure(result)
        note = "?" if unsure else ""  # a small tile has no room for words
        tile.show_value(text, note=note, unsure=unsure)


class VerdictCard(QFrame):
    """The card that says whether the answer is right, what ran, and what is under way."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("verdict-card")
        self.setProperty("card", True)
        self._check: Check | None = None
        self._verdict = Label()
        self._verdict.setObjectName("verdict")
        self._verdict.setMinimumWidth(120)  # long ones are cut in a narrow window
        self._verdict.setFont(scaled_font(1.1, QFont.Weight.DemiBold))
        self._verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._doing = ElidedLabel(0.9, Qt.AlignmentFlag.AlignRight)
        self._doing.setObjectName("doing")
        self._ran = ElidedLabel(0.9)
        self._ran.setObjectName("ran")
        self._lay_out()

    def show_check(self, check: Check | None) -> None:
        """Show the check's finding; None: the check is still to come."""
        self._show(verdict(check), check)
        allowed = ALLOWED_TIP.format(check.bound) if check and math.isfinite(check.bound) else ""
        self.setToolTip(tip_text(VERDICT_TIP + allowed))

    def show_nothing(self, why: str) -> None:
        """Show the sentence why there is nothing to check."""
        self._show(why, None)
        self.setToolTip(VERDICT_TIP)
        self.show_ran("")

    def show_doing(self, text: str) -> None:
        """Show what is under way; empty: nothing."""
        self._doing.show_text(text)
        self._doing.setAccessibleName(f"Under way: {text or 'nothing'}")

    def show_ran(self, text: str) -> None:
        """Show what ran; empty: nothing yet."""
        self._ran.show_text(text)
        self._ran.setAccessibleName(f"What ran: {text or 'nothing yet'}")

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._bar_color())
        painter.drawRoundedRect(QRectF(5, 6, 4, self.height() - 12), 2, 2)

    def _lay_out(self) -> None:
        # A long verdict leaves no room beside it.
        line = QHBoxLayout()
        line.addWidget(self._ran, 2)
        line.addWidget(self._doing, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 5, 10, 5)
        layout.setSpacing(1)
        layout.addWidget(self._verdict)
        layout.addLayout(line)

    def _show(self, text: str, check: Check | None) -> None:
        self._check = check
        self._verdict.setText(text)
        self._verdict.setAccessibleName(f"Check: {text}")
        is_wrong = check is not None and not check.ok
        self._verdict.setForegroundRole(QPalette.ColorRole.BrightText if is_wrong else TEXT)
        self.update()

    def _bar_color(self) -> QColor:
        colors = theme.colors(self.palette())
        if self._check is None:
            return QColor(colors.border)
        return QColor(colors.good if self._check.ok else colors.bad)


def verdict(check: Check | None) -> str:
    """Return the check's finding in the strip's few words."""
    if check is None:
        return "checking …"
    if not math.isfinite(check.bound):
        return f"✗ {check}"
    where = "all pixels" if check.is_full else f"{check.checked:,} of {check.total:,} pixels"
    if check.own_rounding:
        words = check.own_rounding.replace("own rounding", "rounding").replace(" of samples", "")
        return f"✓ verified {where}, {words}"
    if check.ok:
        allowed = " (allowed)" if check.max_error else ""
        return f"✓ verified {where}, max error {check.max_error:.3g}{allowed}"
    y, x, channel = check.worst
    return (
        f"✗ WRONG in {check.wrong:,} sample{'s' if check.wrong > 1 else ''}, max error "
        f"{check.max_error:.3g} at x {x}, y {y}, channel {channel}"
    )


def _large(name: str, caption: str, widest: str, tip: str) -> ValueTile:
    return ValueTile(name, caption, widest, tip, scale=2.3, detail=True)


def _small(name: str, caption: str, widest: str, tip: str) -> ValueTile:
    return ValueTile(name, caption, widest, tip, scale=1.1, detail=False)


def _ran(result: Result) -> str:
    """Return what Auto picked and why, what ran, launch by launch, and on which pixels."""
    launches = "  +  ".join(map(str, result.ran)) + f"  ·  {result.job.pixel_type}"
    if result.strips > 1:
        launches += f"  ·  in {result.strips} strips"
    if result.picked is None:
        return launches
    return f"{result.name} ({result.picked.why})  ·  {launches}"


def _how_measured(result: Result) -> str:
    """Return where it was measured: "CPU", "L2 cold" or "L2 warm"."""
    return f"L2 {result.kernel.cache}" if result.kernel.cache else "CPU"


def _unsure(result: Result) -> str:
    """Return why a time is not to be relied on; empty where it is."""
    return single_in_words(result) if result.kernel.is_single else ""


def _why_single(result: Result) -> str:
    if result.strips > 1:
        return (
            f"The sum of {result.strips} strips of the picture, which as a whole does not fit into "
            "the GPU's memory; each was timed once, after a warm-up. Transfers are sums, too."
        )
    if not result.kernel.is_single or not result.kernel.ended:
        return ""
    return "A single run, which anything may have disturbed: it is timed again when nothing waits."


def _copied(count: int, copy_ms: float | None) -> str:
    """Say how long the copies over the bus took in a transfer of `count` bytes."""
    if not copy_ms:
        return ""
    return (
        f"{numbers.byte_count(count)}, once (n = 1). The copies over the bus alone took "
        f"{numbers.duration(copy_ms)} by CUDA events, {numbers.byte_rate(count / 1e6 / copy_ms)}; "
        "the rest is the computer's own copying, and its waiting."
    )


def _time_or(ms: float | None, otherwise: str) -> str:
    return otherwise if ms is None else numbers.duration(ms)


KERNEL_TIP = (
    "The filtering alone, without transfers: the median, and below it the two quartiles and "
    "the number of samples, n.\n"
    "One run, n = 1, is pale, gives no speed-up, and is measured again when nothing waits.\n"
    "On the GPU by CUDA events. “L2 cold”: the cache was emptied before each sample; "
    "“warm”: the picture may still be in it, which flatters small ones."
)
SPEEDUP_TIP = (
    "How many times as fast the kernel is as the CPU implementation named below it, or how many "
    "times slower; beside the caption the 95 % interval of that ratio.\n"
    "Kernel against kernel: transfers are not in it; “Total” has them.\n"
    "“This is the baseline”: what ran is itself what others are compared with."
)
UPLOAD_TIP = (
    "Bringing the picture to the GPU, once, by the computer's clock: the CPU copies it piece by "
    "piece into page-locked memory, and the GPU fetches it from there.\n"
    "“resident”: it was there already and was not sent again."
)
DOWNLOAD_TIP = (
    "Bringing the filtered picture back from the GPU, once, by the computer's clock, into "
    "page-locked memory that was ready."
)
TOTAL_TIP = "Upload, kernel and download together: two single transfers and the kernel's median."
PIXEL_RATE_TIP = "Pixels of the picture filtered in a second of kernel time."
BYTE_RATE_TIP = (
    "The picture read once and written once, over the kernel time.\n"
    "Effective: what a kernel that wastes no access would move, not what this one moved."
)
COMPILE_TIP = (
    "Compiling the kernel for these settings, which is done once.\n"
    "“cached”: it had been compiled before."
)
VERDICT_TIP = (
    "Every answer is compared with a slow and exact calculation in 64-bit numbers.\n"
    "A speed counts only when the answer is right."
)
ALLOWED_TIP = (
    "\nHere 32-bit sums may be off by {:.3g}.  Rounded to whole numbers they may then differ by "
    "one, but only where the exact value lies that close to a half."
)
