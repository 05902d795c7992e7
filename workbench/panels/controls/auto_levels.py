"""Display ▸ Stretch: levels that span the picture's own values."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from workbench.base.background import Background
from workbench.panels.controls.controls_panel import ControlPanel
from workbench.panels.controls.display_controls import stretched
from workbench.session.store import Store
from workbench.widgets.message_bar import MessageBar


class AutoLevels(QObject):
    """The search for levels that span the picture's values, run when the panel asks for it."""

    def __init__(
        self,
        store: Store,
        controls: ControlPanel,
        background: Background,
        messages: MessageBar,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._store, self._background, self._messages = store, background, messages
        controls.stretch_wanted.connect(self._stretch)

    @Slot()
    def _stretch(self) -> None:
        picture = self._store.state.picture

        def show(levels: tuple[float, float] | None) -> None:
            if self._store.state.picture is picture:  # another one may have been opened meanwhile
                self._store.update(levels=levels)

        if picture is not None:
            self._background.run(
                lambda: stretched(picture),
                show,
                lambda error: self._messages.show_message("error", str(error)),
            )
