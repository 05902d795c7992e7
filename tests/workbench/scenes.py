"""Everything that a window can show, one after another: modes, panels, messages, dialogs, windows.

Each scene is put up by what the window itself calls, and nothing is measured: what it takes stands
there at once.
"""

from time import monotonic

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QTableWidget

from kernels.core.device import NoDevice, Occupancy
from kernels.core.timing import Timing
from kernels.engine.job_comparison import CandidateState, Snapshot
from kernels.pictures.generated import scene
from tests.made_sessions import PLANS, a_session
from tests.made_up import PASSED
from tests.workbench.driving import PATIENCE_MS, answers, child, pick, trigger
from workbench.charts.canvas import Canvas
from workbench.charts.chart_view import ChartView
from workbench.imaging.pictures import Picture
from workbench.model.state import Step
from workbench.model.step_files import select
from workbench.panels.anatomy.launch_parts import LaneGrid
from workbench.panels.blocks.candidates import field_of
from workbench.panels.blocks.rows import rows_of, sentence_of
from workbench.panels.compare.picture_view import PictureView
from workbench.panels.sweep.compare_dialog import CompareDialog
from workbench.panels.timing.history_plot import HistoryPlot
from workbench.panels.weights.weights_summary import ResponseView

# What has to say in words what it draws.
CHARTS = (Canvas, ChartView, HistoryPlot, LaneGrid, PictureView, ResponseView)
ANALYSES = ("histogram", "similarity")
PROJECTOR_PX = (1280, 720)
ERROR = (
    "The picture cannot be filtered with this block shape: 64×32 is 2048 threads, and a block of "
    "this device has 1024 at most."
)


def prepare(window):
    """A picture that is filtered on the GPU, and sessions to draw."""
    until(lambda: window.device is not None)
    # A child process would look for the GPU that is made up, and not find it.
    window.kernel.when_made(lambda pane: pane.show_device(NoDevice("It is made up.")))
    window.opener.opened.emit(Picture("scene.png", scene()[::2, ::2].copy()))
    settle(window)
    window.store.choose(implementation="shared")
    pick(child(window, "filter", QComboBox), "unsharp")
    settle(window)
    for plan in ("sizes", "ksizes"):
        window.sessions.begin(a_session(PLANS[plan]), None)


def all_scenes(window):
    """Yields a name and the window to look at, which stays so until the next is asked for."""
    for part in (_modes, _steps, _sweep, _rung, _panels, _messages, _dialogs, _windows):
        for name, root in part(window):
            rest()
            yield name, root


def until(condition):
    """Let the window work until it is so."""
    end = monotonic() + PATIENCE_MS / 1000
    while not condition():
        _wait(5)
        assert monotonic() < end, "it does not come"


def _wait(ms):
    """As QTest.qWait, but that holds Python's lock: the window's threads would stand still."""
    loop = QEventLoop()
    QTimer.singleShot(ms, loop.quit)
    loop.exec()


def settle(window):
    until(lambda: window.live.result and answers(window.live.result, window.store.state))


def rest():
    """Let what was asked for be laid out and drawn."""
    for _ in range(6):  # what is laid out anew may have others do so
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()
    for _ in range(3):  # a last message may have changed a text: laid out, with no message after it
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)


def _modes(window):
    show = window.store.update
    yield "result", window
    show(view_mode="side")
    yield "side by side", window
    for divider in ("upright", "level"):
        show(view_mode="wipe", divider=divider)
        yield f"wipe, {divider}", window
    for mode in ("difference", "mismatch"):
        show(view_mode=mode)
        until(lambda mode=mode: not window.analysis_thread.is_under_way(mode))
        yield mode, window
    show(view_mode="result")
    for _ in range(2):
        window.inspection.pin()
    yield "pins", window
    for _ in range(2):
        window.inspection.unpin()


def _steps(window):
    before = window.store.state
    steps = (Step("unsharp", 5, mix=0.5), Step("sobel_x", 3, is_on=False), Step("edges", 7))
    window.store.update(**select((*steps, Step()), 2))
    settle(window)
    yield "steps", window
    window.store.update(**select(2 * (*steps, Step()), 0))  # as many as there may be
    settle(window)
    yield "eight steps", window
    window.store.restore(before)
    settle(window)


def _sweep(window):
    window.docks.bring_forward("Sweep")
    window.sweep.get().draw_now()
    yield "sweep", window
    window.sweep.get().show_choice(False)
    yield "sweep, chart", window
    window.sweep.get().restore({})
    window.docks["Sweep"].hide()


def _rung(window):
    window.docks.bring_forward("Implementation")
    for tab in ("ladder", "source", "ptx", "idea"):
        window.rung.get().show_tab(tab)
        yield f"rung, {tab}", window
    window.docks["Implementation"].hide()


def _panels(window):
    for title in ("Gallery", "Blocks", "Pixel", "Anatomy", "Analysis", "Weights", "Kernel"):
        window.docks.bring_forward(title)
        rest()
        if title == "Blocks":
            _show_blocks(window)
            yield "blocks, bars", window
            child(window, "blocks-map").click()
        elif title == "Kernel":
            until(lambda: window.kernel.get().is_tried)
        elif title == "Analysis":
            until(lambda: not any(map(window.analysis_thread.is_under_way, ANALYSES)))
        yield title.lower(), window
        if title == "Kernel":
            window.kernel.get().show_code(True)
            until(lambda: window.kernel.get().is_tried)
            yield "kernel, instructions", window
            window.kernel.get().show_code(False)
        if title == "Weights":
            before = window.weights.get().drawing
            child(window, "weights-grid").typed.emit([(0, 0)], "x")
            yield "weights, one of them none", window
            window.weights.get().draw(before)
        if title == "Blocks":
            child(window, "blocks-bars").click()
        window.docks[title].hide()
    window.docks["Sweep"].show()


def _show_blocks(window):
    """A comparison that is over: two equal ones, others after them, one that is wrong."""
    panel, state = window.blocks.get(), window.store.state
    field = field_of(state, window.device, None, panel.picks.shapes)
    times = [0.1, 0.1, *(0.12 + 0.05 * n for n in range(len(field.able) - 2))]
    standings = tuple(
        CandidateState(
            Timing((ms, ms, ms)),
            (0.9 * ms, ms, 1.1 * ms),
            PASSED,
            is_over=True,
            occupancy=Occupancy(4, 32, 64, "Registers keep more from fitting."),
        )
        for ms in times
    )
    groups = ((0, 1), *((n,) for n in range(2, len(times))))
    jobs = tuple(each.job for each in field.able)
    rows = rows_of(field, Snapshot(jobs, standings, groups), state.block_xy)
    panel.show_rows(rows, sentence_of(rows, is_over=True))


def _messages(window):
    window.messages.show_message("error", ERROR, "in detail")
    yield "error", window
    child(window.messages, "details").click()
    yield from _dialog(window, "details")
    window.messages.clear("error")
    window.messages.show_message("warning", "The settings were damaged; they are as at first.")
    yield "warning", window
    window.messages.clear("warning")


def _dialogs(window):
    for name in ("About and diagnostics", "All actions…"):
        trigger(window, name)
        yield from _dialog(window, name)
    CompareDialog(window.sessions.shown, window.reading, window.exporter, window).open()
    until(lambda: child(window, "compare-table", QTableWidget).rowCount() > 0)
    yield from _dialog(window, "compare")
    trigger(window, "Help")
    yield from _dialog(window, "help")
    trigger(window, "Filter a folder…")
    yield from _dialog(window, "filter a folder")


def _dialog(window, name):
    (dialog,) = (each for each in window.findChildren(QDialog) if each.isVisible())
    yield name, dialog
    dialog.close()
    rest()


def _windows(window):
    trigger(window, "Chart in a window")
    rest()
    yield "chart", window.docks["Sweep"]
    trigger(window, "Chart in a window")
    rest()
    size = window.size()
    window.presenter.toggle()
    window.showNormal()
    window.resize(*PROJECTOR_PX)
    settle(window)
    yield "stage", window
    window.store.update(view_mode="wipe")
    yield "stage, wipe", window
    window.presenter.toggle()
    window.resize(size)
    rest()
