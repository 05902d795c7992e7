"""The papers: short where they should be, and every link and path in them leads somewhere."""

import re

import pytest

from tests.conftest import ROOT

FOLDERS = (".", "docs", "kernels", "packaging")
PAPERS = sorted(
    [
        ROOT / "assets" / "help" / "first-kernel.md",  # of the help, and read outside of it
        *(path for folder in FOLDERS for path in (ROOT / folder).glob("*.md")),
    ]
)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
PATH = re.compile(r"`((?:workbench|kernels|tests|packaging|assets|docs)/[\w./*-]*)`")


def anchors(text: str) -> set[str]:
    """The names that Markdown viewers give to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(page):
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for link in ("".join(found) for found in LINK.findall(text)):
        if ":" not in link:
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            assert target.exists(), link
            if anchor:
                assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_readme_is_short_and_leads_to_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{page.name})" in readme
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.parametrize("page", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_that_is_named_exists(page):
    if page.name == "CHANGELOG.md":
        pytest.skip("it tells of what was")
    examples = set(re.findall(r"For\s+example\s+`([^`]+)`", page.read_text(encoding="utf-8")))
    for path in set(PATH.findall(page.read_text(encoding="utf-8"))) - examples:
        assert any(ROOT.glob(path.rstrip("/"))), path
