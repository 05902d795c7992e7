"""A thread of its own that compiles rungs to look at, only the newest of those requested."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from kernels.core.errors import CompileFailedError
from workbench.base.background import Background
from workbench.session.ptx import PtxRequest, RungCode, compile_request


class RungCompiler(QObject):
    """A compiler in the background that has no part in what runs, and needs no GPU.

    Signals:
        compiled(request, outcome): the RungCode, or the exception that says why there is none.
    """

    compiled = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = Background((CompileFailedError,), self)
        self._is_running = False
        self._waiting: PtxRequest | None = None

    @Slot(object)
    def request(self, request: PtxRequest) -> None:
        """Compile `request` next; one still waiting is forgotten."""
        self._waiting = request
        if not self._is_running:
            self._start()

    def close(self) -> None:
        """Let what is being compiled finish, and wait for the thread to end."""
        self._background.close()

    def _start(self) -> None:
        request, self._waiting = self._waiting, None
        if request is None:
            return
        self._is_running = True

        def tell(outcome: RungCode | Exception) -> None:
            self._is_running = False
            self.compiled.emit(request, outcome)
            self._start()

        self._background.run(lambda: compile_request(request), tell, tell, self._go_on)

    def _go_on(self) -> None:
        self._is_running = False
        self._start()
