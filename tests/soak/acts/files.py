"""Files and the clipboard."""

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage

from tests.soak.acts.act import Act, one_of, trigger
from tests.workbench.driving import drop_data

CELLS = "1\t2\t1\n2\t4\t2\n1\t2\t1\n"


def _choose_file(rng, stage):
    return one_of(rng, stage.files), rng.choice(("open", "drop", "dialog"))


def _do_file(stage, name, how):
    path = stage.files[name]
    if how == "open":
        stage.window.intake.open_paths([path])
    elif how == "drop":
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        drop_data(stage.window, data)
    else:
        stage.dialogs.next_to_open = path
        trigger(stage, "Open…")
        stage.dialogs.next_to_open = None


def _choose_clipboard(rng, stage):
    return rng.choice(("picture", "file", "cells", "words", "nothing", "deep")), rng.choice(
        ("Paste picture", "")
    )


def _do_clipboard(stage, what, then):
    clipboard = QGuiApplication.clipboard()
    if what == "picture":
        image = QImage(40, 30, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.darkCyan)
        clipboard.setImage(image)
    elif what == "deep":
        image = QImage(33, 21, QImage.Format.Format_RGBA64)
        image.fill(Qt.GlobalColor.darkMagenta)
        clipboard.setImage(image)
    elif what == "file":
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(stage.files["rgb8.png"]))])
        clipboard.setMimeData(data)
    elif what == "nothing":
        clipboard.clear()
    else:
        clipboard.setText(CELLS if what == "cells" else "no cells at all")
    if then:
        trigger(stage, then)


ACTS = {
    "file": Act(8, _choose_file, _do_file),
    "clipboard": Act(4, _choose_clipboard, _do_clipboard),
}
