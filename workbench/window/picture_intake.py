"""Intake of what was opened, dropped or pasted: pictures, sessions, plans and kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QMimeData, QObject, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from kernels.core.finite import all_finite
from kernels.pictures.generated import PICTURES
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan_files import plan_of
from workbench.base import theme
from workbench.model import choices, intents
from workbench.model.state import Picture, State
from workbench.panels.sweep.sweep_menu import SweepMenu
from workbench.panels.timing.timing_views import NO_PICTURE, TimingViews
from workbench.session import clipboard
from workbench.session.opener import MISSING, LookedAt, Opener
from workbench.session.session_store import is_named_for_sweep, is_plan
from workbench.widgets.actions import Action
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.message_bar import Act, MessageBar
from workbench.window.open_menu import FOLDER
from workbench.window.talk import ENDING as TALK_ENDING
from workbench.window.window_parts import Parts

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel


EDGE_PX, INSET_PX, ROUND_PX = 4, 6, 10
VEIL_ALPHA = 40  # of 255
MAX_NAME = 60  # letters of a name on the sign


class DropTarget(QObject):
    """A watcher of what is dragged over a window.

    Signals:
        dropped(content): what was let go of over it.
    """

    dropped = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._sign: DropSign | None = None
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QDragEnterEvent):
            if clipboard.holds_picture(event.mimeData()):
                event.acceptProposedAction()
                self._show_sign(event.mimeData())
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._hide_sign()
        elif isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self._hide_sign()
            event.acceptProposedAction()
            self.dropped.emit(event.mimeData())
            return True
        return super().eventFilter(watched, event)

    def _show_sign(self, content: QMimeData) -> None:
        if self._sign is None:
            self._sign = DropSign(self._window)
        self._sign.show_words(words_for(content))

    def _hide_sign(self) -> None:
        if self._sign is not None:
            self._sign.hide()


class DropSign(QWidget):
    """A frame around the whole window, with what letting go would do."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("drop-sign")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._words = ""

    def show_words(self, words: str) -> None:
        """Show them over the window."""
        self._words = words
        self.setAccessibleName(words)
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colors = theme.colors(self.palette())
        accent = QColor(colors.accent)
        veil = QColor(accent)
        veil.setAlpha(VEIL_ALPHA)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(accent, EDGE_PX))
        painter.setBrush(veil)
        frame = QRectF(self.rect()).adjusted(INSET_PX, INSET_PX, -INSET_PX, -INSET_PX)
        painter.drawRoundedRect(frame, ROUND_PX, ROUND_PX)
        self._paint_words(painter, colors)

    def _paint_words(self, painter: QPainter, colors: theme.Colors) -> None:
        font = self.font()
        font.setPointSizeF(1.6 * font.pointSizeF())
        font.setBold(True)
        painter.setFont(font)
        text = painter.fontMetrics().boundingRect(self._words)
        card = QRectF(0, 0, text.width() + 48, text.height() + 28)
        card.moveCenter(QRectF(self.rect()).center())
        painter.setPen(QPen(QColor(colors.accent), 1.5))
        painter.setBrush(QColor(colors.panel))
        painter.drawRoundedRect(card, ROUND_PX, ROUND_PX)
        painter.setPen(QColor(colors.text))
        painter.drawText(card, Qt.AlignmentFlag.AlignCenter, self._words)


def words_for(content: QMimeData) -> str:
    """Return what dropping `content` would do, in a few words.

    Files go by their names: to look at one on a slow network would hold up who drags it.
    """
    paths = clipboard.files_in(content)
    if not paths:
        return "Open this picture"
    if len(paths) > 1:
        return f"Open {len(paths):,} files"
    return " ".join(filter(None, ("Open", _kind(paths[0]), _short(paths[0]))))


def _kind(path: Path) -> str:
    if is_own(path.name):
        return "kernel"
    return "session" if is_named_for_sweep(path) else ""


def _short(path: Path) -> str:
    name = path.name or str(path)
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1]}…"


RESTORED = ("picture", "pins", "against")  # of a screenshot
NOT_FINITE = (
    "It holds NaN, shown in magenta, or infinities, which not every implementation can filter."
)


class PictureIntake(QObject):
    """A link that takes what the opener opened to the store.

    Signals:
        restoring(kept): picture and pins of a screenshot are to be brought back: a snapshot.

    kernels     of the user's own, which settings may name
    timing      forgets what was measured of the picture before
    sweep       takes the plan inside a screenshot
    sweep_menu  opens sessions and plans
    background  reads that plan
    settings    remember the recent files

    Signals:
        talk_wanted(path): the steps in this file are to be presented.
        kernel_wanted(path): the kernel in this file is to be shown.
    """

    restoring = Signal(object)
    talk_wanted = Signal(object)
    kernel_wanted = Signal(object)

    def __init__(
        self, parts: Parts, timing: TimingViews, sweep: LazyPanel[SweepPanel], sweep_menu: SweepMenu
    ) -> None:
        super().__init__(parts.window)
        self._store, self._worker, self._opener = parts.store, parts.worker, parts.opener
        self._timing, self._sweep, self._sweep_menu = timing, sweep, sweep_menu
        self._kernels, self._background = parts.kernels, parts.reading
        self._settings, self._messages = parts.settings, parts.messages
        self._told = ""  # the remarks shown about the last picture
        self._news = ""  # of those that it was found among
        self._offers: list[Act] = []  # of what came with it
        self._store.changed.connect(self._store_again)
        self._opener.gathered.connect(self._take_news)
        self._opener.opened.connect(self._take_picture)
        self._opener.stored.connect(self._take_stored)
        self._opener.not_stored.connect(self._keep_as_it_is)
        self._opener.restored.connect(self._take_settings)
        self._opener.offered.connect(self._take_offer)

    def actions(self) -> list[Action]:
        """Return the line of the menu."""
        return [
            Action(
                *("&Edit", "&Paste picture", self.paste, ("Ctrl+V",)),
                "Open what the clipboard holds: a picture, or a file.",
                separator=True,
            )
        ]

    def open_paths(self, paths: list[Path]) -> None:
        """Open the sessions, plans and kernels among `paths`, and the first picture, or a folder's.

        The others are a step away.  Without a picture among them, the start picture is opened.
        """
        if others := [path.absolute() for path in paths if not _is_for_a_panel(path)]:
            self._opener.look_at(others, self._open_named)
        else:
            self._opener.open_start_picture()
        for path in paths:
            self._take_for_a_panel(path)  # its errors are shown after the picture came

    def _open_named(self, found: LookedAt) -> None:
        """Open what was named, pictures as such even where they hold settings."""
        if len(found.others) == 1 and not found.is_folder:
            self._opener.open_file(found.others[0])
        elif found.others:
            self._opener.open_together(found.others)
        else:
            self._opener.open_start_picture()
        self._open_sessions(found)

    @Slot()
    def paste(self) -> None:
        """Open the content of the clipboard."""
        self.take_content(QGuiApplication.clipboard().mimeData())

    def take_content(self, content: QMimeData | None) -> None:
        """Open the picture in `content`, or the files that it names.

        Of the files these are all sessions, plans and kernels, and the first of the others, from
        which one can walk on.
        """
        if paths := clipboard.files_in(content):
            if others := [path for path in paths if not self._take_for_a_panel(path)]:
                self._opener.look_at(others, self._open_dropped)
        else:
            self._opener.open_content(content)

    def _open_dropped(self, found: LookedAt) -> None:
        """Open what was dropped or pasted; one picture alone may bring settings."""
        if len(found.others) == 1:
            self._opener.open_dropped(found.others[0])
        elif found.others:
            self._opener.open_together(found.others)
        self._open_sessions(found)

    def _open_sessions(self, found: LookedAt) -> None:
        for path in found.sessions:
            self._sweep_menu.open_session(path)

    def _take_for_a_panel(self, path: Path) -> bool:
        """Open `path` if its name is that of a session, plan, table or kernel; return whether.

        It goes by the name alone: a file on a slow drive would hold up the window.
        """
        if is_own(path.name):
            self.kernel_wanted.emit(path)
        elif path.name.lower().endswith(TALK_ENDING):
            self.talk_wanted.emit(path)
        elif is_plan(path):
            self._sweep_menu.open_plan(path)
        elif is_named_for_sweep(path):
            self._sweep_menu.open_session(path)  # for a table this explains the mistake
        return _is_for_a_panel(path)

    # -- pictures

    @Slot(str)
    def _take_news(self, sentence: str) -> None:
        self._news = sentence

    @Slot(object)
    def _take_picture(self, picture: Picture) -> None:
        self._timing.show_empty(NO_PICTURE)
        changes = intents.with_picture(picture)
        if self._worker.device is not None:
            state = replace(self._store.state, **changes)  # it may need another implementation
            changes["implementation"] = intents.implementation_for(state, self._worker.device)
        self._store.update(**changes)
        if not picture.is_stored_as(self._store.state.pixel_type):  # the type was chosen meanwhile
            self._opener.store_again(picture)
        if picture.path is not None:
            self._settings.add_recent_file(picture.path)
            self._settings.set(FOLDER, str(picture.path.parent))
        self._messages.clear("error")
        self._messages.dismiss(self._told)  # it was about the picture before
        self._tell_remarks(picture)

    @Slot(object, object)
    def _store_again(self, old: State, new: State) -> None:
        """Store the picture in another pixel type, where that was chosen."""
        self._opener.pixel_type = new.pixel_type
        if new.pixel_type != old.pixel_type and new.picture is not None:
            self._opener.store_again(new.picture)

    @Slot(object)
    def _take_stored(self, picture: Picture) -> None:
        """Show the picture in its new pixel type, if it is still the one in view."""
        shown = self._store.state.picture
        if shown is not None and picture.as_in_file is shown.as_in_file:
            self._store.update(**intents.with_picture(picture))
            self._tell_remarks(picture)

    @Slot(object, str)
    def _keep_as_it_is(self, picture: Picture, sentence: str) -> None:
        """Put the choice back to the pixel type of the picture, and say why that stays."""
        if self._store.state.picture is picture:
            is_original = picture.original is None
            self._store.update(pixel_type=None if is_original else str(picture.samples.dtype))
        self._messages.show_message("error", sentence)

    def _tell_remarks(self, picture: Picture) -> None:
        # The opener has computed this already.
        is_finite = all_finite(picture.samples)
        remarks = picture.remarks if is_finite else (*picture.remarks, NOT_FINITE)
        news, self._news = self._news, ""
        said = f"{picture.name}: {' '.join(remarks)}" if remarks else ""
        offers, self._offers = self._offers, []
        if told := f"{news} {said}".strip():
            self._told = told
            self._messages.show_message("info", told, actions=offers, stays=bool(offers))

    # -- settings

    @Slot(object, str)
    def _take_offer(self, data: dict[str, Any], name: str) -> None:
        """Offer the settings with which the picture that comes next was made."""

        def accept() -> None:
            self._messages.clear()
            self._choose(data, name)

        self._news = f"{name} is a filtered picture and holds its settings."
        self._offers = [("&Use its settings", accept)]

    @Slot(object, str)
    def _take_settings(self, data: dict[str, Any], name: str) -> None:
        """Apply the settings that a screenshot holds, as far as they make sense here."""
        missing = data.get(MISSING)
        gone = f"{missing}, which it shows, is not there any more." if missing else ""
        self._choose(data, name, gone or "To see the image itself: File ▸ Open.")
        if isinstance(plan := data.get("plan"), str):
            self._background.run(  # TOML takes a while
                partial(plan_of, plan, f"The plan inside {name}"),
                lambda plan: self._sweep.get().show_plan(plan),
                lambda error: self._messages.show_message("error", str(error)),
            )
        if data.get("picture"):
            now = {"settings": {"choices": choices.to_data(self._store.state)}}
            kept = {name: data[name] for name in RESTORED if data.get(name)}
            self.restoring.emit({**now, **kept})
        elif (built_in := data.get("built_in")) in list(PICTURES):
            self._opener.open_built_in(built_in)

    def _choose(self, data: dict[str, Any], name: str, more: str = "") -> None:
        """Choose the settings that came with `name`, and say so; `more` follows."""
        changes = choices.from_data(data, self._store.state)
        sentence = f"Settings restored from {name}. {more}".strip()
        if reason := self._why_not_here(changes.get("implementation")):
            del changes["implementation"]
            sentence = f"Settings restored from {name}, except the implementation: {reason}"
        elif reason := self._why_another_text(data):
            sentence = f"{sentence} {reason}"
        self._store.choose(**changes)
        self._messages.show_message("info", sentence)

    def _why_another_text(self, data: dict[str, Any]) -> str | None:
        """Return that a kernel of the user's own is not what it was; None where it is, or none."""
        name, text_sha256 = data.get("implementation"), data.get(choices.TEXT)
        if not isinstance(name, str) or not isinstance(text_sha256, str):
            return None
        return self._kernels.why_another(name, text_sha256)

    def _why_not_here(self, key: str | None) -> str | None:
        device = self._worker.device
        if key is not None and is_own(key) and (reason := self._kernels.why_gone(key)):
            return reason
        if key is None or device is None:  # checked once the GPU was found
            return None
        return intents.why_not_here(intents.implementation(key), device)


def _is_for_a_panel(path: Path) -> bool:
    return is_named_for_sweep(path) or is_own(path.name)


def ask_about_large_pictures(opener: Opener, messages: MessageBar) -> None:
    """Ask before a picture that takes much memory is opened, and let the user stop it meanwhile."""

    def ask(sentence: str, go_on: Callable[[], None]) -> None:
        asked[:] = [sentence]
        leave = ("Leave it", lambda: messages.clear("warning"))
        messages.show_message("warning", sentence, actions=[("Open it", go_on), leave])

    def tell(sentence: str, stop: Callable[[], None]) -> None:
        if messages.kind == "warning" and messages.sentence not in asked:
            return  # that waits to be read; the view says what is being opened as well

        def end() -> None:
            stop()
            leave_off()

        messages.show_message("info", sentence, actions=[("Stop", end)], stays=True)
        said.append(sentence)

    def go_on_telling(sentence: str) -> None:
        if said:
            messages.reword(said[-1], sentence)
            said.append(sentence)

    def leave_off() -> None:
        if messages.sentence in said:  # no other message meanwhile
            messages.clear("info")
        said.clear()

    said: list[str] = []
    asked: list[str] = []
    opener.asked.connect(ask)
    opener.began.connect(tell)
    opener.went_on.connect(go_on_telling)
    opener.busy.connect(lambda name: None if name else leave_off())
