"""A snapshot of what a window shows: plain data, enough to bring it back."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.background import Background
from workbench.files.picture_refs import PictureRef
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.compare.inspection import Inspection
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.session.kernel_folder import KernelFolder
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import MessageBar
from workbench.window.restoring.pin_notes import PinNotes
from workbench.window.restoring.remembering import Memory
from workbench.window.undo.undo_history import UndoHistory

if TYPE_CHECKING:
    from workbench.panels.pixel.pixel_panel import PixelPane
    from workbench.panels.sweep.sweep_panel import SweepPanel
    from workbench.panels.weights.weights_panel import WeightsPanel
    from workbench.window.presenter.presenter import Presenter


@dataclass(frozen=True, slots=True)
class SnapshotContents:
    """The parts of a window whose contents outlive a crash, and those that bring them back.

    background  reads files
    messages    say what became of it
    """

    store: Store
    worker: Worker
    live: Live
    opener: Opener
    kernels: KernelFolder
    background: Background
    messages: MessageBar
    undo_history: UndoHistory
    inspection: Inspection
    compare: CompareView
    pixel: LazyPanel[PixelPane]
    sessions: Sessions
    sweep: LazyPanel[SweepPanel]
    weights: LazyPanel[WeightsPanel]
    presenter: Presenter
    memory: Memory


def taken(shown: SnapshotContents, pins: PinNotes) -> dict[str, Any]:
    """Return a snapshot, fit for JSON, quickly: of the picture only where it came from."""
    state = shown.store.state
    ref = PictureRef.of(state.picture) if state.picture else None
    pixel, sweep, weights = shown.pixel.made, shown.sweep.made, shown.weights.made
    drawing = weights.editor.drawing if weights is not None and weights.isVisible() else None
    return {
        "settings": shown.memory.for_settings(),
        "picture": ref.to_data() if ref else None,
        "levels": state.levels,
        "pins": pins.choices(),
        "against": shown.inspection.against,
        "view": shown.compare.choices(),
        "pixel": pixel.pixel if pixel is not None else None,
        "sessions": [str(each.path) for each in shown.sessions.shown if each.path],
        "chart": sweep.chart.kind_key if sweep is not None else None,
        "weights": asdict(drawing) if drawing is not None else None,
    }
