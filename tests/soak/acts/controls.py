"""What is dragged, stepped, picked, pressed and typed."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTableView,
)

from tests.soak import finding
from tests.soak.acts.act import Act, one_of

TEXTS = (
    "3",
    "7",
    "31",
    "0.5",
    "-1",
    "1e9",
    "1/9",
    "nan",
    "",
    "16, 64",
    "a–ż \u200f",
    "0 1 0; 1 -4 1",
)


def _choose_slider(rng, stage):
    return one_of(rng, finding.widgets(QAbstractSlider)), [rng.random() for _ in range(5)]


def _do_slider(stage, name, shares):
    slider = finding.widgets(QAbstractSlider).get(name)
    for share in shares:
        if slider is None or not slider.isVisible():
            return
        slider.setValue(round(slider.minimum() + share * (slider.maximum() - slider.minimum())))
        yield 5
        slider = finding.widgets(QAbstractSlider).get(name)


def _choose_box(rng, stage):
    return one_of(rng, finding.widgets(QAbstractSpinBox)), rng.choice((-9, -1, 1, 1, 5))


def _do_box(stage, name, steps):
    if box := finding.widgets(QAbstractSpinBox).get(name):
        box.stepBy(steps)


def _choose_pick(rng, stage):
    return one_of(rng, finding.widgets(QComboBox)), rng.random()


def _do_pick(stage, name, share):
    combo = finding.widgets(QComboBox).get(name)
    if combo is None or combo.count() == 0:
        return
    row = int(share * combo.count())
    index = combo.model().index(row, 0)
    if combo.model().flags(index) & Qt.ItemFlag.ItemIsEnabled:
        combo.setCurrentIndex(row)
        combo.activated.emit(row)


def _choose_button(rng, stage):
    return (one_of(rng, finding.widgets(QAbstractButton)),)


def _do_button(stage, name):
    if button := finding.widgets(QAbstractButton).get(name):
        button.click()


def _choose_tab(rng, stage):
    return one_of(rng, finding.widgets(QTabBar)), rng.random()


def _do_tab(stage, name, share):
    if (bar := finding.widgets(QTabBar).get(name)) and bar.count():
        bar.setCurrentIndex(int(share * bar.count()))


def _choose_item(rng, stage):
    return one_of(rng, finding.widgets(QAbstractItemView)), rng.random(), rng.random()


def _do_item(stage, name, down, across):
    view = finding.widgets(QAbstractItemView).get(name)
    model = view.model() if view else None
    if model is None or not model.rowCount():
        return
    column = int(across * model.columnCount()) if isinstance(view, QTableView) else 0
    index = model.index(int(down * model.rowCount()), column)
    view.setCurrentIndex(index)
    if model.flags(index) & Qt.ItemFlag.ItemIsEnabled:
        view.clicked.emit(index)
        view.activated.emit(index)


def _choose_text(rng, stage):
    found = {**finding.widgets(QLineEdit), **finding.widgets(QPlainTextEdit)}
    return one_of(rng, found), rng.choice(TEXTS)


def _do_text(stage, name, text):
    edit = {**finding.widgets(QLineEdit), **finding.widgets(QPlainTextEdit)}.get(name)
    if edit is not None and not edit.isReadOnly():
        edit.setFocus()
        edit.selectAll()
        typed = QInputMethodEvent()
        typed.setCommitString(text or " ")
        QApplication.sendEvent(edit, typed)
        QTest.keyClick(edit, Qt.Key.Key_Return)


ACTS = {
    "slider": Act(8, _choose_slider, _do_slider),
    "box": Act(8, _choose_box, _do_box),
    "pick": Act(10, _choose_pick, _do_pick),
    "button": Act(12, _choose_button, _do_button),
    "tab": Act(4, _choose_tab, _do_tab),
    "item": Act(6, _choose_item, _do_item),
    "text": Act(6, _choose_text, _do_text),
}
