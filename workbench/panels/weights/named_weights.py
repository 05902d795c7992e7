"""Named weights: TOML files in the user's folder, and their list."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from kernels import filters
from kernels.core import safe_files
from kernels.core.errors import BadJobError, KernelError
from kernels.core.plain_data import LimitedTomlError, parse_toml
from workbench.base.background import Background
from workbench.base.disk import disk_in_words
from workbench.base.paths import data_folder
from workbench.base.plain_text import tip_text
from workbench.base.table_text import as_text, read_table, shortest
from workbench.panels.weights.weights_draft import WeightsDraft, drawing_of
from workbench.widgets.boxes import Flow, HBox, VBox
from workbench.widgets.buttons import described, push_button
from workbench.widgets.drop_down import DropDown
from workbench.widgets.file_dialogs import ask_file, ask_save_path

MAX_FILE_BYTES = 1_000_000
MAX_NAME = 80
FILE_TYPES = "Weights (*.toml *.csv *.txt);;All files (*)"
SAVE_TYPES = "TOML, with name, divisor and offset (*.toml);;CSV (*.csv);;Text (*.txt)"


class WeightsFileError(KernelError):
    """A failure to read or write named weights; str(error) is one sentence."""


@dataclass(frozen=True, slots=True)
class Named:
    """Weights and their name."""

    name: str
    drawing: WeightsDraft


class WeightsLibrary:
    """The named weights in a folder, which is made when the first are saved.

    All methods touch the disk and raise WeightsFileError; none needs Qt.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_folder() / "weights"

    def all(self) -> tuple[tuple[Named, ...], tuple[str, ...]]:
        """The weights, sorted by name, and a sentence on each file that cannot be read."""
        found, broken = self._read()
        names = sorted(found, key=str.casefold)
        return tuple(found[name][0] for name in names), broken

    def save(self, named: Named) -> Named | None:
        """Save weights under their name, and return those that had it before, or None."""
        check_name(named.name)
        with disk_in_words(WeightsFileError, f"The folder {self._folder} cannot be made"):
            self._folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(named.name.encode()).hexdigest()[:8]
        plain = re.sub(r"[^a-z0-9]+", "-", named.name.lower()).strip("-")[:40]
        new = None, self._folder / f"{plain}-{digest}.toml"
        replaced, path = self._read()[0].get(named.name, new)
        write_file(path, named)
        return replaced

    def rename(self, old: str, new: str) -> None:
        """Give weights a new name, but never that of others."""
        check_name(new)
        known = self._read()[0]
        if new in known:
            sentence = f"There already are weights called “{new}”; choose another name."
            raise WeightsFileError(sentence)
        if old not in known:
            raise WeightsFileError(f"There are no weights called “{old}” any more.")
        self.save(Named(new, known[old][0].drawing))
        self.delete(old)

    def delete(self, name: str) -> None:
        """Remove the file of the weights with this name, if there is one."""
        if found := self._read()[0].get(name):
            with disk_in_words(WeightsFileError, f"“{name}” cannot be deleted"):
                found[1].unlink(missing_ok=True)

    def _read(self) -> tuple[dict[str, tuple[Named, Path]], tuple[str, ...]]:
        found: dict[str, tuple[Named, Path]] = {}
        broken = []
        for path in sorted(self._folder.glob("*.toml")):
            try:
                named = read_file(path)
            except WeightsFileError as error:
                broken.append(str(error))
            else:
                found.setdefault(named.name, (named, path))
        return found, tuple(broken)


def check_name(name: str) -> None:
    """Reject a name that is too long or cannot be read, with WeightsFileError."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise WeightsFileError(f"A name has 1 to {MAX_NAME} characters that can be seen.")


def read_file(path: Path) -> Named:
    """Read weights from a .toml of ours, or from rows of numbers. Raises WeightsFileError."""
    with disk_in_words(WeightsFileError, f"{path.name} cannot be read"):
        if not path.is_file():
            raise WeightsFileError(f"{path.name} is not a file.")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise WeightsFileError(f"{path.name} is too large to hold weights.")
        data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
        if path.suffix.lower() == ".toml":
            return _from_toml(parse_toml(text, path.name), path.stem)
        return Named(path.stem, WeightsDraft(read_table(text)))
    except UnicodeDecodeError as error:
        raise WeightsFileError(f"{path.name} is not a text file.") from error
    except LimitedTomlError as error:
        raise WeightsFileError(str(error)) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        sentence = f"{path.name} holds no weights as this program writes them."
        raise WeightsFileError(sentence) from error
    except (BadJobError, WeightsFileError) as error:
        sentence = re.sub("[ ;]+[Nn]othing was changed", "", str(error)).rstrip(".")
        raise WeightsFileError(f"{path.name}: {sentence}.") from error


def write_file(path: Path, named: Named) -> None:
    """Write a .toml with the cells as typed, or numbers as .csv or .txt.

    Raises WeightsFileError, and then leaves the folder as it was.
    """
    drawing, matrix = named.drawing, named.drawing.matrix
    if matrix is None or drawing.added is None:
        raise WeightsFileError("Not all cells are numbers yet, so there are no weights to save.")
    if path.suffix.lower() == ".toml":
        # Spaces separate the numbers, so none may be within one: 1 / 9 becomes 1/9.
        rows = [" ".join("".join(cell.split()) for cell in row) for row in drawing.cells]
        more = {"divisor": drawing.divisor, "offset": drawing.offset}
        text = tomli_w.dumps({"name": named.name, **more, "rows": rows})
    else:
        cells = tuple(tuple(map(shortest, row)) for row in matrix)
        text = as_text(cells, "," if path.suffix.lower() == ".csv" else " ") + "\n"
    writing = disk_in_words(WeightsFileError, f"{path.name} cannot be written")
    with writing, safe_files.replacing(path) as file:
        file.write(text.encode())


def _from_toml(data: dict[str, Any], stem: str) -> Named:
    name, divisor = data.get("name", stem), str(data.get("divisor", "1"))
    offset = str(data.get("offset", "0"))
    rows = [row if isinstance(row, str) else " ".join(map(str, row)) for row in data["rows"]]
    table = "\n".join(rows)
    drawing = WeightsDraft(read_table(table), divisor, offset)
    is_complete = drawing.divided_by is not None and drawing.added is not None
    if not isinstance(name, str) or "[" in table or not is_complete:
        raise ValueError(data)
    check_name(name)
    return Named(name, drawing)


SIZE_CHANGED = "{} takes {}, so the size changed."


class PresetBox(DropDown):
    """List of filters; names one while the grid holds its weights."""

    def __init__(self) -> None:
        tip = "Load a filter's weights at this size, or at the nearest size that it has."
        super().__init__("weights-preset", "Start from a filter's weights", tip)
        for each in filter(lambda each: each.has_weights, filters.all_filters()):
            if each.key != "custom":
                self.addItem(each.title, each.key)
        self.setCurrentIndex(-1)
        self.setPlaceholderText("Choose…")
        self.setMinimumContentsLength(7)  # room for the placeholder

    def show_drawing(self, drawing: WeightsDraft) -> None:
        """Drop the choice where something else is drawn."""
        key = self.currentData()
        if key is not None and drawing != preset(key, drawing.size)[0]:
            self.setCurrentIndex(-1)


def preset(key: str, size: int) -> tuple[WeightsDraft, str]:
    """A filter's weights at its size nearest to `size`, and a sentence on them, or ""."""
    chosen = filters.get(key)
    nearest = chosen.nearest_size(size)
    words = SIZE_CHANGED.format(chosen.title, chosen.sizes_in_words) if nearest != size else ""
    if chosen.gradient:
        words = f"{chosen.title} also computes a gradient; these are its weights alone."
    return drawing_of(chosen.weights(nearest)), words


TITLE = "Named weights"


class LibraryBox(QFrame):
    """The list of the user's WeightsLibrary."""

    def __init__(
        self,
        background: Background,
        drawn: Callable[[], WeightsDraft],
        draw: Callable[[Named], None],
        say: Callable[[str, bool], None],
    ) -> None:
        """Make the list and its buttons.

        drawn, draw  return the weights to save, and show others in the cells
        say          shows an outcome in words, and whether it is bad
        """
        super().__init__()
        self.setAccessibleName(TITLE)
        self.setProperty("card", True)
        self._library, self._background = WeightsLibrary(), background
        self._drawn, self._draw, self._say = drawn, draw, say
        self._lost: Named | None = None  # deleted or replaced last
        tip = "Enter saves. Weights of that name are replaced; Restore undoes it."
        self._name = QLineEdit(placeholderText="A name for these weights")
        described(self._name, "weights-name", "Name to save under", tip)
        self._name.returnPressed.connect(self._save)
        tip = "Enter or a double click uses them; F2 renames, Delete deletes."
        self._list = described(QListWidget(), "weights-list", TITLE, tip)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._list.setMinimumHeight(80)
        self._list.itemActivated.connect(lambda row: self._draw(row.data(Qt.ItemDataRole.UserRole)))
        self._list.itemChanged.connect(self._rename)
        self._list.currentRowChanged.connect(lambda _: self._enable())
        here = Qt.ShortcutContext.WidgetShortcut
        delete = QShortcut(QKeySequence.StandardKey.Delete, self._list, context=here)
        delete.activated.connect(self._delete)
        self._save_button, *others = (
            small_button(text, tip, do, f"{text.removesuffix('…')} named weights")
            for text, tip, do in (
                ("Save", "Save these weights under this name.", self._save),
                ("Use", "Use the chosen weights.", self._use),
                ("Rename", "Rename the chosen weights (F2).", self._edit),
                ("Delete", "Delete the chosen weights; Restore brings them back.", self._delete),
                ("Restore", "Bring back what was deleted or replaced last.", self._restore),
                ("Import…", "Load weights from a .toml, .csv or .txt file.", self._import),
                ("Export…", "Save these weights as .toml, .csv or .txt.", self._export),
            )
        )
        *self._of_chosen, self._restore_button = others[:4]
        below, line = QWidget(), HBox(spacing=6).add((self._name, 1), self._save_button)
        below.setLayout(Flow(6, *others))
        VBox(self).add(line, (self._list, 1), below)
        self._enable()

    def refresh(self, choose: str = "") -> None:
        """Read the folder again, and choose the weights of that name."""
        self._do(self._library.all, lambda found: self._show(found[0], found[1], choose))

    def _save(self) -> None:
        self._keep(Named(self._name.text().strip(), self._drawn()))

    def _restore(self) -> None:
        if self._lost is not None:
            self._keep(self._lost)

    def _keep(self, chosen: Named) -> None:
        def kept(replaced: Named | None) -> None:
            words, lost = f"Saved “{chosen.name}”.", self._lost
            self._lost = None if chosen is lost else lost
            if replaced not in (None, chosen):
                self._lost = replaced
                words = f"Replaced “{chosen.name}”; Restore brings back what it was."
            self._did(words, chosen.name)

        self._do(lambda: self._library.save(chosen), kept)

    def _use(self) -> None:
        if (item := self._list.currentItem()) is not None:
            self._list.itemActivated.emit(item)

    def _edit(self) -> None:
        if (item := self._list.currentItem()) is not None:
            self._list.setFocus()
            self._list.editItem(item)

    def _rename(self, item: QListWidgetItem) -> None:
        chosen, new = item.data(Qt.ItemDataRole.UserRole), item.text().strip()
        old = chosen.name
        if new == old:
            return
        # Done at once, so that the next action finds it under its new name.
        item.setData(Qt.ItemDataRole.UserRole, replace(chosen, name=new))
        self._do(
            lambda: self._library.rename(old, new),
            lambda _: self._did(f"“{old}” is called “{new}” now.", new),
            lambda: self.refresh(old),  # shows the old name again
        )

    def _delete(self) -> None:
        if (item := self._list.currentItem()) is None:
            return
        chosen: Named = item.data(Qt.ItemDataRole.UserRole)

        def deleted(_: Any) -> None:
            self._lost = chosen
            self._did(f"Deleted “{chosen.name}”; Restore brings it back.")

        self._do(lambda: self._library.delete(chosen.name), deleted)

    def _import(self) -> None:
        if path := ask_file(self, "Import weights", "", FILE_TYPES):
            self.open_file(path)

    def open_file(self, path: Path) -> None:
        def read(chosen: Named) -> None:
            self._name.setText(chosen.name)
            self._draw(chosen)

        self._do(lambda: read_file(path), read)

    def _export(self) -> None:
        proposed = Path(f"{self._name.text().strip().replace('/', '-') or 'weights'}.toml")
        if path := ask_save_path(self, "Export weights", proposed, SAVE_TYPES):
            self.write_to(path)

    def write_to(self, path: Path) -> None:
        """Write what is drawn to a file, in the format that its ending says."""
        chosen = Named(self._name.text().strip() or path.stem, self._drawn())
        saved = f"Saved {path}."
        self._do(lambda: write_file(path, chosen), lambda _: self._say(saved, False))

    def _do(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        def fail(error: Exception) -> None:
            self._say(str(error), True)
            failed()

        self._background.run(work, done, fail)

    def _did(self, sentence: str, choose: str = "") -> None:
        self._say(sentence, False)
        self.refresh(choose)

    def _show(self, found: tuple[Named, ...], broken: tuple[str, ...], choose: str) -> None:
        with QSignalBlocker(self._list):
            self._list.clear()
            for chosen in found:
                size = chosen.drawing.size
                item = QListWidgetItem(chosen.name)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
                item.setData(Qt.ItemDataRole.UserRole, chosen)
                item.setToolTip(tip_text(f"{chosen.name}, {size}×{size}"))
                self._list.addItem(item)
                if chosen.name == choose:
                    self._list.setCurrentItem(item)
        self._enable()
        if broken:
            more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
            self._say(f"{broken[0]}{more}", True)

    def _enable(self) -> None:
        for button in self._of_chosen:
            button.setEnabled(self._list.currentItem() is not None)
        self._restore_button.setEnabled(self._lost is not None)


def small_button(text: str, tip: str, do: Callable[[], object], title: str = "") -> QPushButton:
    """A button of the panel; `title` is as of `push_button`."""
    name = f"weights-{text.removesuffix('…').lower()}"
    made = push_button(name, text, tip, title, look="compact")
    made.clicked.connect(lambda _: do())
    return made
