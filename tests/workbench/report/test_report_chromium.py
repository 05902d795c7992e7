"""The report in a real browser: silent, without a network, on wide and narrow screens and paper."""

import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from tests.made_sessions import H200, LAPTOP, a_session
from tests.workbench.report import chromium
from tests.workbench.report.chromium import visit
from tests.workbench.report.reading_pages import read_page
from tests.workbench.report.written import write_report

pytestmark = pytest.mark.skipif(bool(chromium.why_not()), reason=chromium.why_not())
LIGHT, DARK = "--blink-settings=preferredColorScheme=1", "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Two machines, transfers, published figures, refusals, folded tables."""
    sessions = [
        a_session("sizes"),
        a_session("sizes", LAPTOP),
        *(a_session(name, H200) for name in ("pays_off", "sizes_and_kernels")),
    ]
    return write_report(sessions, tmp_path_factory.mktemp("report"))


@pytest.mark.nightly
def test_it_is_silent_needs_no_network_and_keeps_its_headings(report, tmp_path):
    seen = visit(report, tmp_path, "--dump-dom")
    assert seen.console == []
    assert seen.fetched == []
    page = read_page(seen.dom)
    levels = [int(each.tag[1]) for each in page.all("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.all("svg")


@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize(("scheme", "is_dark"), [(LIGHT, False), (DARK, True)])
@pytest.mark.nightly
def test_it_fits_and_follows_the_scheme(report, tmp_path, width, scheme, is_dark):
    shot = tmp_path / "shot.png"
    seen = visit(report, tmp_path, scheme, f"--screenshot={shot}", width=width, height=3000)
    assert seen.console == []
    picture = np.asarray(Image.open(shot).convert("RGB"))
    assert picture.shape[:2] == (3000, width)
    paper = picture[0, 0].astype(int)
    assert (paper.mean() < 64) == is_dark
    margins = picture[:, [*range(12), *range(width - 12, width)]].astype(int)
    assert np.abs(margins - paper).max() == 0  # nothing runs out of the page
    assert (np.abs(picture.astype(int) - paper).max(axis=2) > 100).mean() > 0.02


@pytest.mark.nightly
def test_it_prints_light_on_several_pages_also_from_a_dark_screen(report, tmp_path):
    paper = tmp_path / "report.pdf"
    visit(report, tmp_path, DARK, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    data = paper.read_bytes()
    assert data.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", data)) >= 5
    assert len(data) > 50_000
