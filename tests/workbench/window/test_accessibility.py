"""The real window in every mode, with every panel and dialog, is for everybody."""

import os
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.conftest import ROOT
from tests.workbench import accessibility, scenes
from tests.workbench.engines import MadeUpGpu
from workbench.base import theme

SIZE = 1280, 800


def findings(window, checks):
    """What the checks find in any scene, each once, after the scene's name."""
    found = {}
    for name, root in scenes.all_scenes(window):
        for check in checks:
            for complaint in check(root):
                found.setdefault(complaint, f"{name}: {complaint}")
    return list(found.values())


def test_everything_has_a_name_room_and_contrast_and_is_reached_by_tab(qapp, make_window):
    theme.apply(qapp, "light")
    window = make_window(MadeUpGpu)
    window.resize(*SIZE)
    scenes.prepare(window)
    checks = (
        accessibility.nameless,
        lambda root: accessibility.undescribed(root, scenes.CHARTS),
        accessibility.small,
        accessibility.clipped,
        accessibility.Colours().pale,
        accessibility.Keyboard().complaints,
    )
    assert findings(window, checks) == []
    assert window.width() == SIZE[0]  # nothing has pushed it wider


@pytest.mark.nightly
def test_it_is_as_readable_after_the_desktop_went_dark(qapp, make_window):
    theme.apply(qapp, "system")
    window = make_window(MadeUpGpu)
    window.resize(*SIZE)
    scenes.prepare(window)
    checks = accessibility.Colours().pale, accessibility.Keyboard().complaints
    try:
        QApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
        assert theme.colors(window.palette()) == theme.DARK
        assert findings(window, checks) == []
    finally:
        theme.apply(qapp, "light")


@pytest.mark.nightly
@pytest.mark.parametrize(("scale", "points"), [("1.25", "8"), ("2", "14")])
def test_nothing_is_clipped_and_all_is_sharp_with_other_letters_and_scaling(
    scale, points, tmp_path, build_cache
):
    assert audited(scale, points, tmp_path, build_cache) == ""


def audited(scale, points, folder, builds):
    """What a process of its own, as scaling is chosen once at its start, says of its window."""
    (folder / "cuda-on-cpu").symlink_to(builds)
    done = subprocess.run(
        [sys.executable, "-m", "tests.workbench.window.scaled", points, str(folder)],
        cwd=ROOT,
        env={**os.environ, "QT_SCALE_FACTOR": scale},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
