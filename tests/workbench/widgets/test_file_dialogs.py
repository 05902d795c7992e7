"""Qt's own file dialog cuts no column, and begins and ends as it is told."""

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QTreeView,
    QWidget,
)

from kernels.pictures.generated import noise
from tests.workbench.driving import child, click
from workbench.files.image_files import save
from workbench.widgets.file_dialogs import ask_file, ask_files, ask_folder, ask_save_path

TYPES = "PNG (*.png);;TIFF (*.tif *.tiff)"


def with_dialog(act, files):
    """Do `act` with the next file dialog once it is open and lists so many files."""

    def look():
        dialogs = [each for each in QApplication.topLevelWidgets() if isinstance(each, QFileDialog)]
        shown = [each for each in dialogs if each.isVisible()]
        if shown and rows(shown[0]) == files:
            act(shown[0])
            if shown[0].isVisible():
                shown[0].reject()  # or the test would wait for ever
        else:
            QTimer.singleShot(10, look)

    QTimer.singleShot(10, look)


def agree(dialog, name=""):
    if name:
        child(dialog, "fileNameEdit", QLineEdit).setText(name)
    buttons = dialog.findChild(QDialogButtonBox).buttons()
    click(next(each for each in buttons if each.text() in ("&Open", "&Save", "&Choose")))


def rows(dialog):
    table = dialog.findChild(QTreeView, "treeView")
    return table.model().rowCount(table.rootIndex())


@pytest.fixture
def parent(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


def test_what_is_chosen_comes_back(parent, tmp_path):
    for name in ("a.png", "b.png"):
        (tmp_path / name).touch()
    with_dialog(lambda dialog: agree(dialog, "a.png"), 2)
    assert ask_file(parent, "Open", str(tmp_path), TYPES) == tmp_path / "a.png"
    with_dialog(lambda dialog: agree(dialog, "b.png"), 2)
    assert ask_files(parent, "Open", str(tmp_path), TYPES) == [tmp_path / "b.png"]
    with_dialog(lambda dialog: agree(dialog), 0)
    assert ask_folder(parent, "Open", str(tmp_path)) == tmp_path


def test_a_name_is_proposed_and_its_type_chosen(parent, tmp_path):
    seen = []

    def look(dialog):
        seen.append((dialog.selectedFiles(), dialog.selectedNameFilter()))
        agree(dialog)

    with_dialog(look, 0)
    assert ask_save_path(parent, "Save", tmp_path / "c.tif", TYPES) == tmp_path / "c.tif"
    assert seen == [([str(tmp_path / "c.tif")], "TIFF (*.tif *.tiff)")]


def test_what_is_looked_for_in_a_folder_is_seen_in_grey_and_the_folder_is_taken(parent, tmp_path):
    (tmp_path / "below").mkdir()
    for name in ("a.png", "b.png", "notes.txt"):
        (tmp_path / name).touch()
    seen = {}

    def look(dialog):
        table = dialog.findChild(QTreeView, "treeView")
        for row in range(rows(dialog)):
            index = table.model().index(row, 0, table.rootIndex())
            seen[index.data()] = bool(index.flags() & Qt.ItemFlag.ItemIsEnabled)
        agree(dialog)

    with_dialog(look, files=3)
    assert ask_folder(parent, "Open a folder", str(tmp_path), "PNG (*.png)") == tmp_path
    assert seen == {"below": True, "a.png": False, "b.png": False}


def test_no_file_is_read_to_know_its_kind(parent, tmp_path):
    """As Qt would, on the GUI thread: of /proc/kmsg without end."""
    save(tmp_path / "a.png", noise(8, 8))
    (tmp_path / "a.png").rename(tmp_path / "unnamed")
    seen = []

    def look(dialog):
        table = dialog.findChild(QTreeView, "treeView")
        first = table.model().index(0, 0, table.rootIndex())
        seen.extend(first.siblingAtColumn(column).data() for column in (0, 2))
        assert not table.model().data(first, Qt.ItemDataRole.DecorationRole).isNull()

    with_dialog(look, files=1)
    assert ask_file(parent, "Open", str(tmp_path), "All files (*)") is None
    assert seen == ["unnamed", "File"]
