"""The parts of a window that its services share."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QMainWindow

from workbench.base.background import Background
from workbench.base.settings import Settings
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.sweep.shown_sessions import Sessions
from workbench.session.exporter import Exporter
from workbench.session.kernel_folder import KernelFolder
from workbench.session.live import Live
from workbench.session.opener import Opener
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.docks import Docks
from workbench.widgets.message_bar import MessageBar
from workbench.window.undo_history import UndoHistory
from workbench.window.window_layout import WindowLayout


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parts of one window.

    window   parent of services and dialogs; its menus are meant where menus are
    reading  runs what reads files off this thread
    kernels  of the user
    """

    window: QMainWindow
    settings: Settings
    store: Store
    undo: UndoHistory
    worker: Worker
    live: Live
    reading: Background
    opener: Opener
    exporter: Exporter
    sessions: Sessions
    kernels: KernelFolder
    compare: CompareView
    docks: Docks
    layout: WindowLayout
    messages: MessageBar
