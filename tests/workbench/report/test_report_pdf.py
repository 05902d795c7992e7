"""The report as a PDF: every page numbered and marked, text that is text, nothing lost."""

import re
import shutil
import subprocess
import unicodedata
from dataclasses import replace

import pytest

from tests.made_sessions import LAPTOP, PLANS, a_session
from tests.workbench.report.reading_pages import read_page
from tests.workbench.report.written import write_report
from workbench.report.document import composing
from workbench.report.pdf import pdf
from workbench.report.writing import PAGE, PAPER

pytestmark = pytest.mark.skipif(
    not shutil.which("pdftotext"), reason="needs pdftotext (poppler-utils)"
)


def said_by(program, *arguments):
    ended = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=100)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode("utf-8")


def pages_of(path):
    """The text of each page, a line a line of print."""
    return said_by("pdftotext", "-layout", path, "-").split("\f")[:-1]


def written(folder, *sessions):
    path = write_report(sessions, folder, as_pdf=True)
    assert path == folder / PAPER
    return path


def in_one_line(text):
    return " ".join(unicodedata.normalize("NFKC", text).split())  # without ligatures


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One that came with the program, one that did not, refusals, transfers."""
    sessions = [
        replace(a_session("sizes"), is_shipped=True),
        a_session("sizes", LAPTOP),
        a_session("pays_off"),
    ]
    return written(tmp_path_factory.mktemp("report"), *sessions)


def test_it_is_a4_with_its_fonts_and_every_page_is_numbered(report):
    facts = said_by("pdfinfo", report)
    assert "(A4)" in facts
    assert "JavaScript:      no" in facts
    _, _, *fonts = said_by("pdffonts", report).splitlines()
    assert fonts
    for each in fonts:
        assert re.search(r"yes (yes|no)\s+yes", each)  # embedded, and its letters are known
    pages = pages_of(report)
    assert len(pages) >= 8
    for number, text in enumerate(pages, start=1):
        assert f"{number} / {len(pages)}" in text.splitlines()[-1]
        assert "Filter Workbench 0.1.0" in text.splitlines()[-1]
        assert text.splitlines()[0].rstrip().endswith("Intel Core i7-1260P")


def test_it_says_what_the_page_says_under_the_same_numbers(report):
    page = read_page((report.parent / PAGE).read_text(encoding="utf-8"))
    text = in_one_line(" ".join(pages_of(report)))
    labels = [each.words.split(".")[0] for each in page.all("caption")]
    assert labels == sorted(labels, key=lambda each: int(each.split()[1]))
    titles = [each.words for each in page.all("p") if each.attributes.get("class") == "title"]
    for label in (*labels, *(re.match(r"Figure \d+(?: \(recorded\))?\. ", t)[0] for t in titles)):
        assert text.count(label.strip()) >= 1
    for each in page.all("h2", "h3"):
        assert in_one_line(each.words) in text


def test_no_unit_is_torn_and_no_note_begins_a_page(report):
    for page in pages_of(report):
        assert "(MP/\n" not in re.sub(" +", "", page)
        assert not re.search(r"\(MP/(?!\u2060?s\))", page)
        body = [line.strip() for line in page.splitlines()[1:] if line.strip()]
        assert not re.match(r"\d+\. [A-Z]|Interval: ", body[0]), body[0]


def test_wherever_a_part_ends_the_next_one_is_whole(tmp_path):
    *_, document = composing([a_session("sizes")], {}, written=0.0)
    key, path = document.sections[0].key, tmp_path / "two.pdf"
    for count in range(36, 54, 2):
        words = count * "<p>words</p>"
        path.write_bytes(pdf(f'<body>{words}<section id="{key}"><p>next</p></section>', document))
        pages = pages_of(path)
        assert " ".join(pages).count("words") == count, count
        assert sum("next" in page for page in pages) == 1, count
        assert len(pages) <= 2, count


def test_no_row_is_torn_and_no_column_of_words_is_narrow(tmp_path):
    plan = replace(PLANS["pictures"], channels=(1,), implementations=("shared", "separable"))
    pages = pages_of(written(tmp_path, a_session(plan)))
    rows = [page.split("Limited by")[1].splitlines() for page in pages if "Limited by" in page]
    assert len(rows) > 1
    for page in rows:
        launches = [line for line in page if "convolve" in line or "registers, " in line]
        assert "convolve, grid" in launches[0]  # and not the rest of a row of the page before
        assert "convolve" not in launches[-1]
    launched = [line for page in rows for line in page if "convolve" in line]
    assert all(re.search(r"convolve, grid [0-9×]+, block [0-9×]+, ", line) for line in launched)
    assert all("Its 64 warps are all taken." in line for line in launched)


def test_no_heading_stands_alone_and_no_short_table_is_parted(tmp_path):
    *_, document = composing([a_session("sizes")], {}, written=0.0)
    table = f"<table><caption>Table 1</caption>{'<tr><td>row</td></tr>' * 6}<tr><td>last</table>"
    for count in range(24, 36):  # so that each of its lines would end a page
        words, path = count * "<p>words</p>", tmp_path / f"{count}.pdf"
        end = f"<h3>Tables</h3><div>{table}</div><p class='note'>one</p><p class='note'>noted</p>"
        path.write_bytes(pdf(f"<body>{words}{end}</body>", document))
        (page,) = [page for page in pages_of(path) if "Tables" in page]
        said = page.split()
        assert said.index("Tables") < said.index("last") < said.index("noted"), count
