"""The screenshots of the papers and the help: one of every mode, made by the program, and small."""

import re
from io import BytesIO

import numpy as np
from PIL import Image

from tests import window_driver
from tests.window_driver import ENTER
from workbench.model.names import modes
from workbench.session.exporter import read_settings, save_png


def test_every_mode_can_be_entered_and_is_drawn(script):
    assert list(modes()) == list(ENTER) == list(script.WORDS)
    assert {path.name for path in script.DRAWN.iterdir()} == set(script.shots())


def test_each_shows_its_mode_in_its_size_and_theme(script):
    for name, words in script.shots().items():
        asked = window_driver.parse([name, "--size-px", script.SIZE, *words])
        path = script.DRAWN / name
        assert tuple(read_settings(path)["modes"]) == asked.mode, name
        with Image.open(path) as image:
            assert image.size == asked.size_px, name
            corner = np.asarray(image.convert("L"))[-4, 4]
        assert (corner < 128) == (asked.theme == "dark"), name


def test_readme_and_the_page_about_the_window_tell_of_every_mode(script):
    readme = script.README.read_text(encoding="utf-8")
    page = script.WINDOW_PAGE.read_text(encoding="utf-8")
    assert script.with_tables(readme, {"modes": script.lines()}) == readme, "run `make screenshots`"
    assert script.with_tables(page, {"modes": script.paragraphs()}) == page, (
        "run `make screenshots`"
    )
    named = set(re.findall(r"assets/screenshots/([\w.-]+)", readme + page))
    assert named == set(script.shots())


def test_fewer_colours_keep_the_settings(script, tmp_path, qapp):
    samples = np.random.default_rng(5).integers(0, 256, (40, 50, 3), np.uint8)
    save_png(tmp_path / "a.png", samples, {"filter": "box"})
    encoded = script.smaller((tmp_path / "a.png").read_bytes())
    (tmp_path / "b.png").write_bytes(encoded)
    assert read_settings(tmp_path / "b.png") == {"filter": "box"}
    with Image.open(BytesIO(encoded)) as image:
        assert (image.mode, image.size) == ("P", (50, 40))
