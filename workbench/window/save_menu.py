"""Menu lines that write results: save this one, or filter files in the background."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QImage
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QSpinBox, QWidget

from kernels.core.job import Result
from workbench.base import numbers
from workbench.base.background import waited
from workbench.base.plain_text import Label
from workbench.charts.canvas import make_plots
from workbench.files.formats import SAVE_FILTER, extension_for, extension_of
from workbench.files.picture_errors import ImageFileError
from workbench.imaging.display_mapping import BARE, Tone
from workbench.imaging.pictures import Picture
from workbench.model.step_files import part_in_words
from workbench.session.exporter import FILTERED, SHOWS, MakeImage, suggested_name
from workbench.session.store import Store
from workbench.widgets.actions import Action, Actions
from workbench.widgets.boxes import HBox, VBox
from workbench.widgets.buttons import described, push_button
from workbench.widgets.file_dialogs import PICTURE, ask_save_path, remember_folder, save_folder
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.remembering import Memory
from workbench.window.steps_menu import to_whole_list
from workbench.window.window_layout import Parts

if TYPE_CHECKING:
    from workbench.files.image_encoders import Fit
    from workbench.imaging.display import Display
    from workbench.panels.sweep.sweep_panel import SweepPanel
    from workbench.panels.timing.timing_panel import TimingPanel

WIDTH_PX = 460
QUALITY_TIP = "From 1, small and coarse, to 100, large and fine"


class QualityBox(QSpinBox):
    """A box of qualities; the one after "Lossless", which stands below 1, is the usual one."""

    def __init__(self, fit: Fit, quality: int | None, default: int) -> None:
        super().__init__()
        self._default = default
        self.setRange(0 if fit.format.can_be_lossless else 1, 100)
        self.setSpecialValueText("Lossless" if fit.format.can_be_lossless else "")
        self.setValue(quality or (0 if fit.format.can_be_lossless else default))

    def stepBy(self, steps: int) -> None:  # noqa: N802
        if self.value() == 0 and steps > 0:
            self.setValue(self._default)
        else:
            super().stepBy(steps)


class SaveDialog(QDialog):
    """A dialog that says what a format loses, offers one that does not, and asks for the quality.

    name     of the file
    more     said as well
    quality  to begin with; None: without loss, where the format can do that
    default  the quality to begin with where it cannot
    """

    agreed = Signal(object)  # (quality): save it so; None: without loss of quality
    other_wanted = Signal(str)  # (title): save it in the format of that title instead

    def __init__(
        self, name: str, fit: Fit, more: str, quality: int | None, default: int, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("save-dialog")
        self.setWindowTitle(f"Save {name}")
        self.setMinimumWidth(WIDTH_PX)
        self._fit = fit
        column = VBox(self, (24, 20, 24, 16), 12)
        if said := f"{fit}\n{more}".strip():
            column.addWidget(Label(said, name="save-said", wraps=True))
        box = QualityBox(fit, quality, default)
        self._quality = described(box, "save-quality", "Quality", QUALITY_TIP)
        if fit.format.has_quality and fit.why_not is None:
            label = Label("&Quality")
            label.setBuddy(self._quality)
            column.add(HBox(spacing=10).add(label, self._quality, 1))
        title, roles = self._fit.format.title, QDialogButtonBox.ButtonRole
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.rejected.connect(self.reject)
        if self._fit.why_not is None:
            tip = f"Write the file as {title}, with what is said above"
            save = push_button("save-agreed", f"&Save as {title}", tip)
            save.setDefault(True)
            save.clicked.connect(self._agree)
            buttons.addButton(save, roles.AcceptRole)
        if not self._fit.is_exact and self._fit.instead:
            other = self._fit.instead[0]
            tip = "Choose a name in a format that holds the picture as it is"
            button = push_button("save-other", f"Save as {other[0]}&{other[1:]} instead…", tip)
            button.clicked.connect(self.reject)
            button.clicked.connect(lambda: self.other_wanted.emit(other))
            buttons.addButton(button, roles.ActionRole)
        column.addWidget(buttons)

    def _agree(self) -> None:
        self.accept()
        self.agreed.emit(self._quality.value() or None if self._fit.format.has_quality else None)


ONE_PAGE = "{name} has {count:,} pages, of which one would be left: save under another name."


class SaveMenu(QObject):
    """A menu that asks for a name and, where the format loses something, whether it may."""

    to_file_wanted = Signal()  # all of a picture larger than memory is to be filtered, not the copy

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.window)
        self._store, self._live, self._exporter = parts.store, parts.live, parts.exporter
        self._settings, self._messages, self._parent = parts.settings, parts.messages, parts.window
        # Of results and screenshots, by their kinds and the folders of their pictures.
        self._folders: dict[tuple[str, Path | None], Path] = {}
        self._exporter.saved.connect(self._say_saved)

    def save_result(self) -> None:
        """Save the filtered picture at full resolution."""
        shown = self._store.state.picture
        if shown is not None and shown.large is not None:
            self.to_file_wanted.emit()
            return
        found = self._live.answer
        if isinstance(found, str):
            self._messages.show_message("info", found)
            return
        self._ask(*found, extension_for(found[0].path, found[1].picture))

    def ask_path(self, name: str, types: str, kind: str = PICTURE, part: str = "") -> Path | None:
        """Ask where to save a file of a kind, with `name` proposed; None: nowhere."""
        picture = self._store.state.picture
        own = picture.path.parent if picture is not None and picture.path is not None else None
        # Where those of this folder, or of this kind, were put before, or beside the picture.
        folder = self._folders.get((kind, own)) or save_folder(self._settings, kind, own)
        path = ask_save_path(self._parent, f"Save{part}", folder / name, types)
        if path is not None and picture is not None and waited(lambda: _is_stack(picture, path)):
            words = ONE_PAGE.format(name=path.name, count=picture.page.count)
            self._messages.show_message("error", words)
            return None
        if path is not None:
            self._folders[kind, own] = path.parent
            remember_folder(self._settings, kind, path)
        return path

    @Slot(object, str, object)
    def _say_saved(self, path: Path, part: str, size: int) -> None:
        def show_folder() -> None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

        sentence = f"Saved {path.name}, {numbers.file_size(size)}{part}."
        acts = [("Show &folder", show_folder), *to_whole_list(self._store, part)]
        self._messages.show_message("info", sentence, actions=acts)

    def _ask(self, picture: Picture, result: Result, shown: Display, extension: str) -> None:
        name = f"{suggested_name(picture, result)}{extension}"
        part = part_in_words(self._store.state)
        if (path := self.ask_path(name, SAVE_FILTER, part=part)) is None:
            return
        from workbench.files.image_encoders import fit_of  # imports imagecodecs, only when needed

        try:
            of = path, result.picture, picture.metadata, picture.white
            fit = waited(partial(fit_of, *of))  # which may look at all samples
        except ImageFileError as error:
            self._messages.show_error(error)
            return
        more = _unlike_shown(shown.tone, fit)
        if fit.is_exact and not fit.format.has_quality and not more:
            self._exporter.save_result(path, picture, result, part=part)
            return
        from workbench.files.image_encoders import JPEG_QUALITY

        kept = self._settings.get(f"quality-{fit.format.title}", 0)

        def save(quality: int | None) -> None:
            self._settings.set(f"quality-{fit.format.title}", quality or 0)
            self._exporter.save_result(path, picture, result, quality, reduce=True, part=part)

        name, again = f"{path.name}{part}", partial(self._ask, picture, result, shown)
        dialog = SaveDialog(name, fit, more, kept or None, JPEG_QUALITY, self._parent)
        dialog.agreed.connect(save)
        dialog.other_wanted.connect(lambda title: again(extension_of(title)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


AS_SHOWN = "Saved as the samples are: without {}. As shown: File ▸ Screenshot ▸ Filtered picture."


def _unlike_shown(tone: Tone, fit: Fit) -> str:
    """What is seen and not saved, in a sentence; an OpenEXR is shown with a gamma again."""
    has_gamma = tone.gamma != 1 and fit.format.family != "OpenEXR"
    seen = {"exposure": tone.ev, "gamma": has_gamma, "false colour": tone.is_false_colour}
    names = " and ".join(name for name, is_seen in seen.items() if is_seen)
    return AS_SHOWN.format(names) if names else ""


def _is_stack(picture: Picture, path: Path) -> bool:
    """Whether `path` is the file of `picture`, of whose pages one alone would be left."""
    with suppress(OSError):  # it is not there
        own = picture.path
        return picture.page.count > 1 and own is not None and path.samefile(own)
    return False


WHOLE = "This picture is in memory: File ▸ Save result as saves its result."


def filter_actions(service: LazyPanel[Any], store: Store) -> Actions:
    """Lines of the menu File that filter files.

    service  a FileFilter, made when it is first used
    """

    def why_not() -> str:
        picture, made = store.state.picture, service.made
        is_large = picture is not None and picture.large is not None
        return "" if is_large or (made is not None and not made.is_settled) else WHOLE

    return {
        "Filter to file…": Action(lambda: service.get().open_file(), why_not),
        "Filter a folder…": lambda: service.get().open_folder(),
    }


PNG_FILTER = "PNG (*.png)"


class Screenshots(QObject):
    """A menu that takes screenshots, with the settings inside, to be restored when dropped here.

    save_menu  asks where to save
    memory     says which settings to put inside
    """

    def __init__(
        self, parts: Parts, timing: LazyPanel[TimingPanel], save_menu: SaveMenu, memory: Memory
    ) -> None:
        super().__init__(parts.window)
        self._store, self._live, self._compare = parts.store, parts.live, parts.compare
        self._sweep, self._timing = parts.sweep, timing
        self._exporter, self._memory = parts.exporter, memory
        self._ask_path = partial(save_menu.ask_path, types=PNG_FILTER, kind="screenshot")
        self._messages, self._window = parts.messages, parts.window
        self._sweep.when_made(self._connect)

    def _connect(self, sweep: SweepPanel) -> None:
        copy = self._exporter.copy_image
        sweep.chart.copy_wanted.connect(lambda image: copy(image, "the chart"))
        sweep.chart.save_wanted.connect(self._save_chart)

    def actions(self) -> Actions:
        return {
            "Window…": partial(self._save, "window"),
            "Filtered picture…": self._save_filtered,
            "Comparison…": partial(self._save, "comparison"),
            "Chart…": partial(self._save, "chart"),
            "Copy result": self._copy_result,
            "Copy comparison": partial(self._copy, "comparison"),
            "Copy window": partial(self._copy, "window"),
            "Copy chart": partial(self._copy, "chart"),
        }

    def of_window(self) -> QImage:
        """Picture of the window, its charts brought up to date."""
        self._timing.if_made(lambda panel: panel.history.draw_now())
        self._sweep.if_made(lambda panel: panel.draw_now())
        make_plots(self._window)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        return self._window.grab().toImage()

    def _take(self, what: str) -> QImage | MakeImage | None:
        """Take a picture of the screen; None: there is none, and a message says so."""
        image: QImage | MakeImage | None = self.of_window() if what == "window" else None
        if what == "comparison":
            image = self._compare.comparison()
        elif what == "chart":
            image = self._sweep.get().grab_chart()
        if image is None or (not callable(image) and image.isNull()):
            self._messages.show_message("info", f"There is no {what} to show yet.")
            return None
        return image

    def _save(self, what: str) -> None:
        image, settings = self._take(what), self._memory.for_screenshot()
        if what == "window":
            settings = self._memory.for_window_screenshot()
        if what == "chart":  # it was measured with earlier settings
            settings |= self._sweep.get().conditions()
        if what == "comparison" and (found := self._live.of_view) is not None:
            what = f"{suggested_name(*found[:2])} comparison"
        if image is not None and (path := self._ask_path(f"{what}.png")):
            self._exporter.save_screenshot(path, image, settings)

    def _save_filtered(self) -> None:
        """Save the result as `_save` does; as exposed, or in all the bits that a PNG can hold."""
        if isinstance(found := self._live.answer, str):
            self._messages.show_message("info", found)
        elif path := self._ask_path(f"{suggested_name(*found[:2])}.png"):
            _, result, shown = found
            is_as_shown = result.picture.dtype.kind == "u" and shown.tone == BARE
            image = result.picture if is_as_shown else shown.images[0]
            settings = {**self._memory.for_screenshot(), SHOWS: FILTERED}
            self._exporter.save_screenshot(path, image, settings)

    def _save_chart(self, path: Path, content: QImage | str) -> None:
        if isinstance(content, str):
            self._exporter.save_text(path, content)
        else:
            settings = self._memory.for_screenshot() | self._sweep.get().conditions()
            self._exporter.save_screenshot(path, content, settings)

    def _copy(self, what: str) -> None:
        if (image := self._take(what)) is not None:
            self._exporter.copy_image(image, f"the {what}")

    def _copy_result(self) -> None:
        if isinstance(found := self._live.answer, str):
            self._messages.show_message("info", found)
        else:
            picture, result, shown = found
            part = part_in_words(self._store.state)
            self._exporter.copy_result(picture, result, shown.images[0], part)
