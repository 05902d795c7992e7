"""The ladder without a GPU: what was recorded on a GPU stands there, marked, and why no more."""

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QTextBrowser

from kernels.pictures.generated import scene
from kernels.rungs.rung import ladder
from tests.made_up import implementations
from tests.workbench.driving import child, pick, ready, settle, show_picture, until
from workbench.base.numbers import GAP
from workbench.model.rung_times import recorded_times

GPU = recorded_times().device


@pytest.fixture
def window(qtbot, make_window):
    """Without a GPU, on the picture of the first start, with a rung to look at."""
    window = ready(qtbot, make_window(), scene())
    window.docks.enter("Implementation")
    pick(child(window, "rung-shown", QComboBox), "shared")
    until(qtbot, lambda: "Recorded on an" in said(window))
    return window


def said(window):
    return child(window, "rung-idea-page", QTextBrowser).toPlainText().replace(GAP, " ")


def recorded(window, key):
    """The recorded time of a rung at the present job."""
    known = recorded_times().of_work(window.live.result.job)
    return f"{known[key].median_ms * 1000:.1f} µs"


def lines(window):
    window.rung.get().show_tab("ladder")
    ladder = window.rung.get().ladder
    tips = [bar.text.replace(GAP, " ") for bar in ladder.chart.figure.body.bars]
    pairs = zip(ladder.places, tips, strict=True)
    return {line.implementation.key: (line, tip) for line, tip in pairs}


def test_without_a_gpu_rungs_have_recorded_times_and_the_cpus_can_be_measured(window):
    time = recorded(window, "shared")
    assert f"Needs an NVIDIA GPU. Recorded on an {GPU}, L2 cold: {time}" in said(window)
    assert "blocks 32×8" in said(window)
    assert "Not measured yet" not in said(window)
    assert not child(window, "ladder-reason").isVisible()
    found = lines(window)
    known = recorded_times().of_work(window.live.result.job)
    assert len(known) > 15
    orders = {rung.key for rung in ladder() if rung.filter != "weights"}
    assert set(found) == set(implementations()) - orders
    alike = (rung.key for rung in ladder() if rung.key not in orders)
    for key, (line, tip) in ((key, found[key]) for key in alike):
        assert (line.median_ms is not None) == (key in known)
        assert (f"Recorded on an {GPU}" in tip) == (key in known)
    assert found["shared"][0].ratio == pytest.approx(
        known[found["shared"][0].before.key].median_ms / known["shared"].median_ms
    )
    caption = child(window, "ladder-caption", QLabel).text()
    assert caption.startswith("With Gaussian blur 5×5")
    assert caption.endswith(f"recorded on an {GPU}, L2 cold, the same work on another picture.")
    assert child(window, "ladder-measure", QPushButton).isEnabled()
    able = [key for key, (line, _) in found.items() if line.reason is None]
    assert able == [key for key, each in implementations().items() if each.kind == "cpu"]


def test_without_a_row_of_recorded_times_none_is_announced(qtbot, window):
    settle(qtbot, window, lambda: pick(child(window, "filter", QComboBox), "edges"))
    assert not any(line.time and line.time.where for line, _ in lines(window).values())
    assert child(window, "ladder-caption", QLabel).text().endswith("border clamp.")


def test_the_caption_names_the_gpu_whose_times_these_are(qtbot, window):
    """The ladder's file is of one GPU, the recorded sessions, which know other jobs, of another."""
    window.store.update(filter="gaussian", ksize=5)
    show_picture(qtbot, window, np.zeros((2048, 2048, 1), np.float32))
    line, tip = lines(window)["shared"]
    caption = child(window, "ladder-caption", QLabel).text()
    assert line.median_ms is not None
    assert "the same work" in caption
    gpu = tip.partition("Recorded on an ")[2].partition(",")[0]
    assert f"recorded on an {gpu}, L2 cold" in caption
