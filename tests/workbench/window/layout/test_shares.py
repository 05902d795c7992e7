"""Most of the screen is the picture, on the screens that people have."""

import json
import subprocess
import sys

import pytest

SCREENS = (("1280x720", 1), ("1920x1080", 1.5))
# At least so much shows the picture, by the screen's size in device-independent pixels.
ALONE = {(1280, 720): 0.5, (1440, 900): 0.6, (1920, 1080): 0.6}
BESIDE = 0.45
BESIDE_SOURCE = 0.3  # what is looked at beside this panel is a kernel's text


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a first start finds on each of these screens, by size and scaling."""
    folder = tmp_path_factory.mktemp("homes")
    screens = {(size, scaling): f"{size},{scaling}" for size, scaling in SCREENS}
    program = [sys.executable, "-m", "tests.workbench.window.layout.shares"]
    subprocess.run([*program, str(folder), *screens.values()], check=True)
    return {key: json.loads((folder / name).read_text()) for key, name in screens.items()}


def test_the_picture_has_most_of_the_screen(found):
    for (size, scaling), seen in found.items():
        alone = seen["alone"]
        if tuple(alone["screen"]) in ALONE:
            assert alone["share"] >= ALONE[tuple(alone["screen"])], (size, scaling)
            for title, each in seen["beside"].items():
                least = BESIDE_SOURCE if title == "Kernel" else BESIDE
                assert each["share"] >= least, (size, scaling, title)


def test_nothing_is_out_of_reach(found):
    for key, seen in found.items():
        assert seen["alone"]["out"] == [], key
        for title, each in seen["beside"].items():
            assert each["out"] == [], (key, title)
