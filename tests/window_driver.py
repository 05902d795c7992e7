"""The driver of screenshots and snapshots: leads the real window from mode to mode.

`python -m tests.window_driver OUT.png [IMAGE] --mode wipe,anatomy --at X,Y --zoom S` takes the
options of `workbench shot` as well.
"""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QColor, QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QLineEdit, QWidget

from kernels import filters
from kernels.filters import has_parameter
from workbench.base.paths import asset
from workbench.cli import argument_types as types
from workbench.cli import main as cli
from workbench.cli.draw_window import draw, settle, wait_for_baseline, wait_for_calm, wait_until
from workbench.cli.output import CommandError
from workbench.model import intents
from workbench.model.intents import swings_around_zero
from workbench.model.names import modes
from workbench.model.state import ViewMode
from workbench.panels.blocks.blocks_panel import BlocksPhase
from workbench.panels.compare.picture_layer import ViewTransform
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.compare.wipe_view import MAX_PINS
from workbench.panels.kernel.code_editor import CodeEditor
from workbench.window.main_window import MainWindow
from workbench.window.stage import MAX_BARS

Point = tuple[int, int]
RECORDED = "recorded/camerino_image_size.jsonl.gz"
STEPS_BEHIND = 12  # the barrier, to a line that reads the tile
SHOWN_KERNEL = "shared"  # the rung that a kernel to show begins with
SOUGHT = "bl"  # typed into the palette, to show that it finds by some letters
VALUES_SCALE = 64.0  # screen pixels per pixel, for values
GAIN = 8.0  # what a filter changes is faint, but where nothing of the picture is left


class WindowDriver:
    """A window that is led from mode to mode.

    window
    shown  what is to be looked at: the window, or one of its own that it opened
    """

    def __init__(
        self, window: MainWindow, at: Point | None = None, scale: float | None = None
    ) -> None:
        """Drive `window`.

        at     the pixel (x, y) to look at; None: the picture's middle
        scale  screen pixels per pixel, in modes that look closely; None: what suits each
        """
        self.window = window
        self._at, self._scale = at, scale
        self._kernel = ""  # the text that modes change
        self.shown: QWidget = window

    def enter(self, name: str) -> None:
        """Enter the mode `name`, one of `names.modes()`, beside those entered before.

        Raises CommandError with the sentence that the window would show.
        """
        self.shown = self.window
        self.window.messages.clear("info")  # it has been read, and stands over the pictures
        ENTER[name](self)

    def leave(self) -> None:
        """Close what was opened over the window or beside it."""
        if self.window.presenter.show is not None:
            self.window.presenter.show.end()
        for dialog in self.dialogs():
            dialog.close()

    def dialogs(self) -> list[QWidget]:
        """The windows that lie over the window, or beside it."""
        children = self.window.findChildren(QWidget)
        return [each for each in children if each.isWindow() and each.isVisible()]

    def wait_for_trial(self) -> None:
        """Wait until the kernel in the panel Kernel was tried."""
        page = self.window.kernel.get()
        wait_until(self.window, lambda: page.is_tried)

    # -- the modes

    def _look(self, mode: ViewMode) -> None:
        self.window.store.update(view_mode=mode)
        self._wait_for_steps(mode)

    def _zoom_in(self, scale: float) -> None:
        """Zoom in as the wheel would."""
        x, y = self._pixel()
        view = self.window.compare.findChild(PictureView)
        assert view is not None
        view.moved.emit(ViewTransform(self._scale or scale, (x + 0.5, y + 0.5)))

    def _pin(self) -> None:
        """Pin this result, and those with the next larger weights that the filter takes."""
        window = self.window
        state = window.store.state
        chosen = filters.get(state.filter)
        is_drawn = has_parameter(chosen, "matrix")  # then there is no larger one
        larger = [] if is_drawn else [size for size in chosen.sizes if size > state.ksize]
        if not larger:
            raise CommandError(
                f"--mode pins shows larger weights beside these, and {chosen.title} has none; "
                "choose another filter, or a smaller --size."
            )
        for size in larger[:MAX_PINS]:
            window.inspection.pin()
            result = settle(window, partial(window.store.update, ksize=size))
            wait_until(window, partial(self._is_checked, size))  # what settled may be of before
            wait_for_baseline(window, result)

    def _is_checked(self, ksize: int) -> bool:
        """True if the newest result is of this size, and the last word on it.

        Then it may be pinned.
        """
        result = self.window.live.result
        return result is not None and result.job.ksize == ksize and result.check is not None

    def _subtract(self) -> None:
        store = self.window.store
        store.update(gain=None if swings_around_zero(store.state) else GAIN)
        self._look("difference")

    def _analyse(self) -> None:
        self.window.docks.bring_forward("Analysis")
        self._wait_for_steps("histogram", "similarity")

    def _explain_pixel(self) -> None:
        self._point()
        self.window.explanation.explain_pixel()
        self._zoom_in(VALUES_SCALE)
        self.window.pixel.get().ask_view()

    def _take_apart(self) -> None:
        self._point()
        self.window.explanation.show_anatomy()
        if self._scale is not None:
            self._zoom_in(self._scale)

    def _climb(self) -> None:
        ended: list[bool] = []
        worker = self.window.worker
        worker.sweep.ended.connect(lambda _error, is_complete: ended.append(is_complete))
        self.window.sweep_controller.toggle_ladder()
        self.window.docks.bring_forward("Implementation")
        wait_until(self.window, lambda: bool(ended))

    def _compare_blocks(self) -> None:
        window, over = self.window, (BlocksPhase.DONE, BlocksPhase.IDLE)
        window.docks.enter("Blocks")
        blocks = window.blocks.get()
        wait_until(window, lambda: bool(blocks.rows) and blocks.phase in over)

    def _edit_weights(self) -> None:
        self.window.docks.bring_forward("Weights")

    def _write_kernel(self) -> None:
        """Open the panel on the kernel that was named, or one that works, and have it tried."""
        window = self.window
        window.docks.enter("Kernel")
        page = window.kernel.get()
        if self._kernel:  # as it was before another mode changed it
            self._rewrite(lambda _: self._kernel)
        elif page.path is None:
            page.files.begin_new(SHOWN_KERNEL)
        self._kernel = self._editor.toPlainText()
        self.wait_for_trial()

    def _write_error(self) -> None:
        """Leave out what ends the kernel's last statement."""
        self._write_kernel()
        self._rewrite(lambda text: text[: text.rfind(";")] + text[text.rfind(";") + 1 :])
        self.wait_for_trial()
        editor = self._editor
        editor.go_to_mark(next(iter(sorted(editor.marked_lines())), 0) + 1)

    def _find_race(self) -> None:
        """Leave out the barriers, and look for what comes of that."""
        self._write_kernel()
        self._rewrite(lambda text: text.replace("__syncthreads();", "// __syncthreads();"))
        self.wait_for_trial()
        self.window.kernel.get().find_bug()
        self.wait_for_trial()

    def _rewrite(self, change: Callable[[str], str]) -> None:
        editor = self._editor
        editor.replace_text(change(editor.toPlainText()))

    @property
    def _editor(self) -> CodeEditor:
        editor = self.window.findChild(CodeEditor, "kernel-source")
        assert editor is not None
        return editor

    def _step_through(self) -> None:
        """Go to where the threads first read the tile that they have staged together."""
        self._write_kernel()
        page = self.window.kernel.get()
        page.step_through()
        wait_until(self.window, lambda: page.is_stepping or page.is_tried)
        page.walk(page.steps.go_to_barrier, 1)
        for _ in range(STEPS_BEHIND):
            page.walk(page.steps.go_on, 1)

    def _open_recorded(self) -> None:
        self.window.sweep_menu.open_session(asset(RECORDED))
        self.window.docks.bring_forward("Sweep")
        wait_until(self.window, lambda: bool(self.window.sessions.shown))

    def _present(self) -> None:
        """Show the last step, the top of the ladder, with those before it as bars."""
        window, size = self.window, self.window.size()
        window.presenter.toggle()
        show = window.presenter.show
        assert show is not None
        window.showNormal()
        window.resize(size)
        for number in range(len(show.steps))[-MAX_BARS:]:
            show.go_to(number)
            wait_until(window, self._is_answered)
        assert window.live.result is not None
        wait_for_baseline(window, window.live.result)

    def _is_answered(self) -> bool:
        """True if the last result for the state is known: that with its check."""
        result = self.window.live.result
        if result is None or result.check is None:
            return False
        return intents.is_answer(result, self.window.store.state)

    def _find(self) -> None:
        self._trigger("All actions…")
        line = self.window.findChild(QLineEdit, "palette-line")
        assert line is not None
        line.setText(SOUGHT)

    def _help(self) -> None:
        before = self.dialogs()
        self._trigger("Help")
        (self.shown,) = (each for each in self.dialogs() if each not in before)

    # -- how

    def _pixel(self) -> Point:
        picture = self.window.store.state.picture
        assert picture is not None
        height, width = picture.samples.shape[:2]
        x, y = self._at or (width // 2, height // 2)
        if x >= width or y >= height:
            raise CommandError(f"--at {x},{y} is beyond the picture, {width}×{height} pixels.")
        return x, y

    def _point(self) -> None:
        """Point as the pointer would."""
        x, y = self._pixel()
        self.window.compare.pointed.emit((x + 0.5, y + 0.5))

    def _wait_for_steps(self, *names: str) -> None:
        analysis_thread = self.window.analysis_thread
        wait_until(self.window, lambda: not any(map(analysis_thread.is_under_way, names)))

    def _trigger(self, name: str) -> None:
        action = self.window.findChild(QAction, name)
        assert action is not None, name
        action.trigger()


ENTER: dict[str, Callable[[WindowDriver], None]] = {
    "result": lambda visit: visit.window.store.update(view_mode="result"),
    "wipe": lambda visit: visit._look("wipe"),
    "side": lambda visit: visit.window.store.update(view_mode="side"),
    "difference": WindowDriver._subtract,
    "values": lambda visit: visit._zoom_in(VALUES_SCALE),
    "pins": WindowDriver._pin,
    "analysis": WindowDriver._analyse,
    "mismatch": lambda visit: visit._look("mismatch"),
    "pixel": WindowDriver._explain_pixel,
    "anatomy": WindowDriver._take_apart,
    "ladder": WindowDriver._climb,
    "blocks": WindowDriver._compare_blocks,
    "weights": WindowDriver._edit_weights,
    "kernel": WindowDriver._write_kernel,
    "error": WindowDriver._write_error,
    "race": WindowDriver._find_race,
    "stepping": WindowDriver._step_through,
    "sweep": WindowDriver._open_recorded,
    "presenter": WindowDriver._present,
    "palette": WindowDriver._find,
    "help": WindowDriver._help,
}


SHADOW_PX, SHADOW_ALPHA = 10, 7


def picture_of(visit: WindowDriver, modes: Sequence[str], size: tuple[int, int]) -> QImage:
    """Enter `modes` in turn, and draw the window or what it opened, `size` pixels large."""
    QGuiApplication.styleHints().setCursorFlashTime(0)  # or a text cursor is there only at times
    for mode in modes:
        visit.enter(mode)
    if visit.shown is visit.window:
        return _with_dialogs(wait_for_calm(visit.window, visit.window), visit)
    visit.shown.resize(*size)
    return wait_for_calm(visit.window, visit.shown)


def _with_dialogs(image: QImage, visit: WindowDriver) -> QImage:
    """Paint the dialogs that lie over the window in its middle, as a desktop puts them."""
    painter = QPainter(image)
    for dialog in visit.dialogs():
        corner = QPoint(image.width() - dialog.width(), image.height() - dialog.height()) / 2
        box = dialog.rect().translated(corner)
        for reach in range(SHADOW_PX, 0, -1):
            painter.setPen(QColor(0, 0, 0, SHADOW_ALPHA))
            painter.setBrush(QColor(0, 0, 0, SHADOW_ALPHA))
            painter.drawRoundedRect(box.adjusted(-reach, -reach, reach, reach), reach, reach)
        painter.drawPixmap(corner, dialog.grab())
    painter.end()
    return image


def parse(words: Sequence[str]) -> Namespace:
    """Parse a command line of this program."""
    parser = argparse.ArgumentParser(prog="python -m tests.window_driver", allow_abbrev=False)
    known = types.several(types.one_of(*modes()))
    at = types.matching(r"(\d{1,5}),(\d{1,5})", "X,Y", lambda x, y: (int(x), int(y)))
    parser.add_argument("--mode", type=known, default=())
    parser.add_argument("--at", type=at)
    parser.add_argument("--zoom", type=types.positive_number)
    own, rest = parser.parse_known_args(words)
    return Namespace(**vars(cli.parse(["shot", *rest])), **vars(own))


def main(words: Sequence[str]) -> int:
    arguments = parse(words)

    def look(window: MainWindow) -> QImage:
        visit = WindowDriver(window, arguments.at, arguments.zoom)
        try:
            return picture_of(visit, arguments.mode, arguments.size_px)
        finally:
            visit.leave()

    return cli.exit_code_of(lambda: draw(arguments, look, arguments.mode), "a screenshot")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
