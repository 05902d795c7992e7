"""A heading that folds begins where what is below it does, and says which way it is."""

from PySide6.QtWidgets import QWidget

from workbench.base import theme
from workbench.widgets.boxes import VBox
from workbench.widgets.fold_button import FoldButton

MAX_INDENT_PX = 6  # its frame, and what a letter leaves free beside it


def test_its_words_begin_at_its_edge_and_are_whole(qapp, qtbot):
    theme.apply(qapp, "light")
    window = QWidget()
    qtbot.addWidget(window)
    fold = FoldButton("fold", "A tip.", "Fold")
    VBox(window, 0).addWidget(fold)
    for is_open, arrow in ((True, "▾"), (False, "▸")):
        fold.show_fold("What to measure", is_open)
        assert fold.text() == f"{arrow} What to measure"
    window.resize(400, 60)
    window.show()
    image = fold.grab().toImage()
    back = image.pixelColor(0, image.height() // 2)
    inked = [
        x
        for x in range(image.width())
        if any(image.pixelColor(x, y) != back for y in range(image.height()))
    ]
    assert inked[0] <= MAX_INDENT_PX
    assert inked[-1] < image.width() - 1
