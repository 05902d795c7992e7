"""A report of sessions, written into a folder: the page, LaTeX tables, CSV, and a PDF if wanted."""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from numpy.typing import NDArray

from kernels.core import safe_files
from kernels.core.errors import KernelError
from kernels.core.job import Progress
from kernels.core.plain_data import parse_toml
from kernels.sweeps.record import Session
from kernels.sweeps.session_csv import COLUMNS, Row, row_of, rows_csv
from workbench.base.disk import disk_in_words
from workbench.report.document import Document, composing
from workbench.report.pdf import pdf
from workbench.report.report_figures import ReportChart
from workbench.report.tables import Table, baseline_of

PAGE, TABLES, DATA, PAPER = "report.html", "tables.tex", "results.csv", "report.pdf"
# Columns that a session's own table, as a sweep writes it, cannot know: they take all records.
WORKED_OUT = ("baseline", "speed_up", "speed_up_low", "speed_up_high", "recorded")
MIN_WORDS = 6  # of a line in a column of words
# Nothing shows them, a terminal obeys them, and XML refuses them.
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Braces mean something in LaTeX.
LATEX: dict[str, Any] = {
    "variable_start_string": "<<(",
    "variable_end_string": ")>>",
    "block_start_string": "<<%",
    "block_end_string": "%>>",
}


class ReportError(KernelError):
    """There is nothing to report, or no place to write it; str(error) is one sentence."""


def writing(
    sessions: Sequence[Session],
    target: Path,
    pictures: Mapping[str, NDArray[Any]] | None = None,
    *,
    as_pdf: bool = False,
    draw: Callable[[ReportChart], str] = ReportChart.svg,
) -> Iterator[Progress | list[Path]]:
    """Write the report a step at a time; the last thing yielded are the paths, its own the last.

    target    the page, or the PDF alone; tables and CSV are called likewise, but beside "report"
    pictures  by name, (H, W, C): those of the sessions' cells that are at hand, for the examples
    as_pdf    the page and its PDF
    draw      draws a chart, which only the GUI thread may

    Raises ReportError.
    """
    if not sessions:
        raise ReportError("There is no session to report on; name one, or run `workbench sweep`.")
    records = [record for session in sessions for record in session.records]
    if not any(record.verified for record in records):
        objections = (record.objection for record in records if record.objection)
        why = next(objections, "nothing was measured yet.")
        raise ReportError(f"There is no verified time to report on: {why}")
    beside = "" if target.stem == Path(PAGE).stem else f"{target.stem}-"
    _refuse_others(target, [target.with_name(beside + name) for name in (TABLES, DATA)])
    for step in composing(sessions, pictures or {}, time.time()):
        if isinstance(step, Progress):
            yield step
        else:
            document = step
    svgs: dict[str, str] = {}
    for chart in document.charts:
        yield Progress("drawing the charts")
        svgs[chart.key] = draw(chart)
    yield Progress(f"writing {PAGE}")
    template = environment().get_template("report.html.j2")
    is_page = target.suffix.lower() != Path(PAPER).suffix
    whole = {"title": document.title, "version": document.version, "labels": document.labels}
    whole |= {"tables": beside + TABLES, "data": beside + DATA}
    text = CONTROLS.sub("", template.render(document=document, svgs=svgs, **whole))
    makers: dict[str, Callable[[], bytes]] = {
        beside + TABLES: lambda: tables(document).encode("utf-8"),
        beside + DATA: lambda: results_csv(sessions).encode("utf-8"),
    }
    if is_page:
        makers[target.name] = lambda: text.encode("utf-8")
    if as_pdf or not is_page:
        makers[f"{target.stem}.pdf"] = lambda: pdf(text, document)
    made: dict[str, bytes] = {}
    for name, make in makers.items():
        yield Progress(f"writing {name}")
        made[name] = make()
    folder = target.parent
    with disk_in_words(ReportError, f"Cannot write the report into {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        safe_files.replace_all({folder / name: data for name, data in made.items()})
    yield [folder / name for name in makers]  # the PDF last, where there is one


def _refuse_others(target: Path, beside: Sequence[Path]) -> None:
    """Refuse to write over files beside a report where there was none that they could be of."""
    reports = (target.with_suffix(Path(each).suffix) for each in (PAGE, PAPER))
    there = next(filter(os.path.lexists, beside), None)
    if there is not None and not any(map(os.path.lexists, reports)):
        raise ReportError(f"{there} is there already: choose another name or folder.")


def results_csv(sessions: Sequence[Session]) -> str:
    """Write a row for each record: the columns of a session's CSV, then WORKED_OUT.

    A speed-up is that of the report's tables, against the implementation named as `baseline`, with
    its interval; `recorded` is "yes" where the session came with the program.
    """
    return rows_csv((*COLUMNS, *WORKED_OUT), chain.from_iterable(map(_rows, sessions)))


def _rows(session: Session) -> Iterator[Row]:
    baseline = baseline_of(session)
    for record in session.records:
        row = row_of(session, record) | {"recorded": "yes" if session.is_shipped else "no"}
        if baseline and (found := baseline.speed_up(record)):
            low, high = found.interval or (None, None)
            row |= {"baseline": baseline.key, "speed_up": found.ratio}
            row |= {"speed_up_low": low, "speed_up_high": high}
        yield row


@cache
def environment(*, is_latex: bool = False) -> Environment:
    """Jinja's environment: HTML is escaped, an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(LATEX if is_latex else {}),
    )
    made.filters.update(css=_in_css, tex=escaped, together=together)
    return made


def _in_css(text: str) -> str:
    """Escape text for a string of CSS: nothing ends the string, the rule or the sheet."""
    return re.sub("[^0-9A-Za-z]", lambda found: f"\\{ord(found[0]):06x}", text)


def together(text: str) -> str:
    """Join the first words of a sentence, so that no column of sentences is narrower."""
    return text.replace(" ", "\u00a0", MIN_WORDS - 1)


def tables(document: Document) -> str:
    """Render every table in LaTeX, for \\input."""
    template = environment(is_latex=True).get_template("tables.tex.j2")
    return template.render(document=document, tables=document.tables, layout_of=layout_of)


# In LaTeX text is escaped whatever stands in it, and columns are as wide as an A4 page allows.

FILE = Path(__file__).with_name("latex.toml")
SPECIAL: dict[str, str] = parse_toml(FILE.read_text("utf-8"), FILE.name)
SHIFTS = {"<super>": r"\textsuperscript", "<sub>": r"\textsubscript"}
LATIN_ENDS = 0x180  # what every LaTeX since 2018 can print without a package
MAX_WORD = 24  # letters; what is longer may be broken there

PAGES_PT = 455.0, 700.0  # 16 cm: A4 with margins of 2.5 cm; and the same turned
SIZES = ((9.0, 11.0), (8.0, 9.5), (7.0, 8.5))  # letters and lines
GAP_PT = 6.0  # between two columns
LETTER_EM, WIDE_EM = 0.58, 0.25  # what a letter takes, and a wide one more


def escaped(text: str) -> str:
    """Escape text; letters beyond LaTeX's become their code point, long words may be broken."""
    words = unicodedata.normalize("NFC", text).split(" ")
    return " ".join(
        r"\allowbreak{}".join("".join(map(_escaped, part)) for part in _pieces(word))
        for word in words
    )


def _pieces(word: str) -> list[str]:
    return [word[at : at + MAX_WORD] for at in range(0, len(word), MAX_WORD)]


@cache
def _escaped(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    if character.isspace():
        return " "
    if not character.isprintable():
        return ""
    if ord(character) < LATIN_ENDS and not unicodedata.decomposition(character).startswith("<"):
        return character
    plain = "".join(
        SPECIAL.get(each, each)
        for each in unicodedata.normalize("NFKD", character).replace("\u2044", "/")
        if not unicodedata.combining(each)
    )
    if not plain.isascii():
        return f"(U+{ord(character):04X})"
    shift = SHIFTS.get(unicodedata.decomposition(character).partition(" ")[0])
    return f"{shift}{{{plain}}}" if shift else plain


def layout_of(table: Table) -> tuple[float, float, str, bool]:
    """Choose the largest letters in which words stay whole; else a page that is turned.

    Returns the size of letters and lines in points, the argument of \\begin{longtable}, and
    whether the page is turned.
    Columns whose cells are broken get their shares of the spare room.
    """
    room, gaps = [*_widths_em(table)], GAP_PT * len(table.columns)
    for page_pt, letters in product(PAGES_PT, SIZES):
        least = [letters[0] * word for word, _ in room]
        wanted = [letters[0] * (cell - word) for word, cell in room]
        if (spare := page_pt - gaps - sum(least)) >= 0:
            break
    share = min(1.0, spare / sum(wanted)) if any(wanted) and spare > 0 else 0.0
    squeezed = min(1.0, (page_pt - gaps) / sum(least))
    columns = (
        rf">{{\{'raggedleft' if column.is_number else 'raggedright'}\arraybackslash}}"
        rf"p{{{squeezed * have + share * more:.1f}pt}}"
        for column, have, more in zip(table.columns, least, wanted, strict=True)
    )
    between = f"@{{\\hspace{{{GAP_PT:g}pt}}}}"
    return (*letters, f"@{{}}{between.join(columns)}@{{}}", page_pt > PAGES_PT[0])


def _widths_em(table: Table) -> Iterator[tuple[float, float]]:
    """Yield for each column the width of its longest word and that of its widest cell, or more."""
    for at, column in enumerate(table.columns):
        cells = [row.cells[at] for row in table.rows]
        # LaTeX breaks between words and after hyphens.
        words = " ".join((column.title, *cells)).replace("-", "- ").split(" ")
        word = max(_em(piece) for each in words for piece in _pieces(each) or [""])
        widest = max(map(_em, cells), default=0.0)
        begins = (" ".join(cell.split(" ")[:MIN_WORDS]) for cell in cells)
        least = max(word, widest if column.is_number else max(map(_em, begins), default=0.0))
        yield least, max(least, widest)


def _em(text: str) -> float:
    wide = sum(each.isupper() or each in "mw—…%×" for each in text)
    return LETTER_EM * len(text) + WIDE_EM * wide
