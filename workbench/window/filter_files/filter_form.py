"""Form of the dialog: source and target, names, format and options."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from workbench.base.plain_text import tip_text
from workbench.files.format_names import EXTENSION_OF
from workbench.files.image_files import PICTURES_FILTER
from workbench.widgets.boxes import Form, HBox, VBox
from workbench.widgets.buttons import push_button
from workbench.widgets.drop_down import ElidingBox
from workbench.widgets.file_dialogs import ask_folder
from workbench.window.filter_files.filter_choice import FilterChoice

# Each is a field of FilterChoice, what the box says, and its tooltip.
TICKS = (
    ("recursive", "&Subfolders", "The pictures in folders below as well; each gets its like there"),
    ("replace", "Re&place files", "Write anew what is there already; else it is left alone"),
    (
        "reduce",
        "Re&duce where needed",
        "Round to 8 bits, and put what is transparent on white, where the format cannot hold it; "
        "else such a picture fails",
    ),
)
GPU_TIP = "Which of this computer's GPUs filters; several share the pictures, a process for each"
NAME_TIP = (
    "{stem} and {ext} are of the picture's name, {filter} and {size} the filter's; empty: as the "
    "picture"
)


class FilterForm(QWidget):
    """Widgets to edit a FilterChoice; of one large picture source and target only.

    Signals:
        chosen(choice): the FilterChoice after an edit.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._source = _line("folder-source", "Folder of the pictures", "Folder with the pictures")
        self._target = _line("folder-target", "Folder of the results", "Folder for the results")
        self._pattern = _line("folder-names", "Names of the results", NAME_TIP)
        self._pattern.setPlaceholderText("{stem}_{filter}")
        self._format = ElidingBox("folder-format", "Format", "Format of the results")
        self._format.addItem("As the picture", "")
        for name in EXTENSION_OF:
            self._format.addItem(name.upper(), name)
        self._devices = ElidingBox("folder-gpus", "GPU", GPU_TIP)
        self._devices_wanted = ""
        self._is_file = False
        self._choosing: list[QWidget] = []
        self._ticks = {name: _tick(name, text, tip) for name, text, tip in TICKS}
        self._arrange()
        self.show_devices(0)
        for line in (self._source, self._target, self._pattern):
            line.textChanged.connect(self._tell)
        self._format.currentIndexChanged.connect(self._tell)
        self._devices.currentIndexChanged.connect(self._tell)
        for tick in self._ticks.values():
            tick.toggled.connect(self._tell)

    def _arrange(self) -> None:
        form = self._form = Form(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.add("&From", self._with_button(self._source, "Choose…", "source"), self._source)
        form.add("&Into", self._with_button(self._target, "Choose…", "target"), self._target)
        names, row = QWidget(), HBox(margins=0, spacing=8)
        row.add((self._pattern, 1), self._format)
        VBox(names, 0).add(row)
        form.add("&Names", names, self._pattern)
        form.add("&GPU", self._devices)
        ticks = QWidget()
        line = HBox(ticks, 0, 18)
        line.add(*self._ticks.values(), 1)
        form.addRow("", ticks)
        self._of_folders = (names, ticks)

    @property
    def choice(self) -> FilterChoice:
        """The choices as they are now."""
        return FilterChoice(
            source=_folder(self._source),
            target=_folder(self._target),
            pattern=self._pattern.text(),
            format_name=self._format.currentData(),
            devices=self._devices.currentData(),
            is_file=self._is_file,
            **{name: tick.isChecked() for name, tick in self._ticks.items()},
        )

    def show_choice(self, choice: FilterChoice) -> None:
        """Show `choice` without a signal."""
        with QSignalBlocker(self):
            self._source.setText(choice.source)
            self._target.setText(choice.target)
            self._pattern.setText(choice.pattern)
            self._format.setCurrentIndex(self._format.findData(choice.format_name))
            for name, tick in self._ticks.items():
                tick.setChecked(getattr(choice, name))
            self._devices_wanted = choice.devices
            self._show_wanted_devices()
        self._is_file = choice.is_file
        for line in (self._source, self._target):
            line.setReadOnly(choice.is_file)
        for row in self._of_folders:
            self._form.setRowVisible(row, not choice.is_file)
        for button in self._choosing:
            button.setVisible(not choice.is_file)

    def show_devices(self, count: int) -> None:
        """Offer the GPUs of this computer where there are several, without a signal."""
        offered = [("As the window", "")]
        if count > 1:
            offered.append((f"All {count}, which share the pictures", "all"))
            offered += [(f"Number {number}", str(number)) for number in range(count)]
        with QSignalBlocker(self):
            self._devices.clear()
            for text, devices in offered:
                self._devices.addItem(text, devices)
            self._show_wanted_devices()
        self._form.setRowVisible(self._devices, count > 1)

    def _show_wanted_devices(self) -> None:
        """Choose the GPUs that the settings remember, if this computer has them."""
        self._devices.setCurrentIndex(max(self._devices.findData(self._devices_wanted), 0))

    def _tell(self) -> None:
        self.chosen.emit(self.choice)

    def _with_button(self, line: QLineEdit, text: str, name: str) -> QWidget:
        tip = "Choose the folder in a dialog"
        button = push_button(f"folder-choose-{name}", text, tip, f"Choose {line.accessibleName()}")
        button.setAutoDefault(False)  # Enter starts, wherever it is pressed
        button.clicked.connect(lambda: self._ask(line))
        self._choosing.append(button)
        both = QWidget()
        row = HBox(both, 0, 8)
        row.add((line, 1), button)
        return both

    def _ask(self, line: QLineEdit) -> None:
        begin = next((each for each in (line.text(), self._source.text()) if each), "")
        types = PICTURES_FILTER if line is self._source else ""
        if path := ask_folder(self, line.accessibleName(), str(Path(begin)), types):
            line.setText(str(path))


def _line(name: str, title: str, tip: str) -> QLineEdit:
    line = QLineEdit()
    line.setObjectName(name)
    line.setAccessibleName(title)
    line.setToolTip(tip_text(tip))
    return line


def _folder(line: QLineEdit) -> str:
    """Expand ~ in a path that was typed."""
    return os.path.expanduser(line.text().strip())  # noqa: PTH111 - "" is to stay so


def _tick(name: str, text: str, tip: str) -> QCheckBox:
    tick = QCheckBox(text)
    tick.setObjectName(f"folder-{name}")
    tick.setToolTip(tip_text(tip))
    return tick
