"""Help pages, the search in them, and which of them tells of a part of the window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtWidgets import QMainWindow, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.engine.auto import AUTO
from kernels.engine.engine import Implementation, all_implementations
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung
from workbench.base.paths import asset
from workbench.charts.chart_view import ChartView
from workbench.charts.kinds import chart_kinds
from workbench.model.modes import MODES
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.controls.filter_controls import BORDER_TIPS
from workbench.panels.rung.idea_page import KINDS, STEPS, block_words, undescribed_words
from workbench.widgets.actions import MenuLine, menu_lines
from workbench.widgets.docks import Docks
from workbench.widgets.tile import ValueTile
from workbench.window.shortcuts import ELSEWHERE

START = "start"
# By the names of widgets; the nearest one around the widget counts.
TOPICS = {
    "Settings": "filters",
    "tool-row": "filters",
    "filter": "filters",
    "border": "filters#Borders",
    "pixel-type": "numbers#Pixel types",
    "matrix": "mode/weights",
    "Weights": "mode/weights",
    "cache": "numbers#L2 cache",
    "block-picker": "numbers#Block shape",
    "negative-display": "numbers#Negative values",
    "baseline": "numbers#Speed-up",
    "verdict-card": "numbers#Verdict",
    "status-line": "numbers",
    "line-verdict": "numbers#Verdict",
    "history-plot": "numbers#History",
    "Timing": "numbers",
    "Sweep": "mode/sweep",
    "Implementation": "mode/ladder",
    "Blocks": "mode/blocks",
    "Gallery": "files",
    "Kernel": "mode/kernel",
    "Pixel": "mode/pixel",
    "Anatomy": "mode/anatomy",
    "Analysis": "mode/analysis",
    "divider": "mode/wipe",
    "against": "mode/difference",
    "gain": "mode/difference",
    "next-differing": "mode/mismatch",
    "previous-differing": "mode/mismatch",
    "pin": "mode/pins",
    "device": "gpu",
}
RUNG = "implementation"  # its page depends on the choice
VIEWS = {
    "result": "mode/result",
    "side": "mode/side",
    "wipe": "mode/wipe",
    "difference": "mode/difference",
    "mismatch": "mode/mismatch",
}


def topic_of(widget: QWidget | None, state: State) -> str:
    """Return the page about `widget`, with "#section" where there is one."""
    while widget is not None:
        if isinstance(widget, ValueTile):
            return f"numbers#{widget.caption}"
        name = widget.objectName()
        if name == RUNG and is_own(state.implementation):
            return "mode/kernel"
        if name == RUNG:
            return f"rung/{state.implementation}"
        if isinstance(widget, ChartView):
            figure = widget.figure
            return f"chart/{figure.kind}" if figure and figure.kind else "charts"
        if isinstance(widget, CompareView):
            return VIEWS[state.view_mode]
        if name in TOPICS:
            return TOPICS[name]
        widget = widget.parentWidget()
    return START


MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*`|\\]|^#+ |^\s*[-:]+\s*$", re.MULTILINE)


@dataclass(frozen=True)
class HelpPage:
    """A page about one subject.

    key      the name in links: "chart/roofline"
    text     Markdown, without the title; links to other pages are "help:KEY" or "help:KEY#section"
    picture  the name of a screenshot that belongs to it; "" for none
    """

    key: str
    chapter: str
    title: str
    text: str
    picture: str = ""

    @cached_property
    def plain(self) -> str:
        """Return title and text as one reads them, without Markdown's marks."""
        return f"{self.title}\n{MARKS.sub(lambda found: found[1] or '', self.text)}"


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page that has all the words.

    where  the line that has the first word
    """

    page: HelpPage
    where: str


class Book:
    """All pages of the help, in their order."""

    def __init__(self, pages: Iterable[HelpPage]) -> None:
        self.pages = tuple(pages)
        self._by_key = {page.key: page for page in self.pages}

    @property
    def chapters(self) -> dict[str, tuple[HelpPage, ...]]:
        """Return the pages of each chapter, by its title, in order."""
        titles = dict.fromkeys(page.chapter for page in self.pages)
        return {title: tuple(p for p in self.pages if p.chapter == title) for title in titles}

    def page(self, key: str) -> HelpPage | None:
        """Return the page called `key`; None where there is none."""
        return self._by_key.get(key)

    def find(self, query: str) -> list[SearchHit]:
        """Return the pages that have every word of `query`, or words that begin so, the best first.

        Pages with words in the title come first, then those that have them most often.
        """
        words = [_start_of_word(word) for word in query.casefold().split()]
        if not words:
            return []
        ranked = []
        for number, page in enumerate(self.pages):
            text, title = page.plain.casefold(), page.title.casefold()
            counts = [len(word.findall(text)) for word in words]
            if all(counts):
                in_title = sum(word.search(title) is not None for word in words)
                ranked.append((-in_title, -sum(counts), number, page))
        ranked.sort(key=lambda entry: entry[:3])
        return [SearchHit(page, _line_with(words[0], page)) for *_, page in ranked]


def _start_of_word(word: str) -> re.Pattern[str]:
    """Return a pattern that finds `word` where a word begins, or an unusual character stands."""
    return re.compile((r"\b" if word[0].isalnum() else "") + re.escape(word))


def _line_with(word: re.Pattern[str], page: HelpPage) -> str:
    """Return the first line below the title that has `word`, from a little before it on."""
    for line in page.plain.split("\n")[1:]:
        if (found := word.search(line.casefold())) is not None:
            start = line.rfind(" ", 0, max(found.start() - 30, 0)) + 1
            return ("… " if start else "") + line[start:].strip()
    return ""


# {Pin this result} is the action's key; {{Pin this result}} says where it stands in the menus.
KEY, PLACE = re.compile(r"\{([^{}]+)\}"), re.compile(r"\{\{([^{}]+)\}\}")
FILE_LINK = re.compile(r"\[([^\]]+)\]\((?!help:)[^)\s]+\)")
# Characters that Markdown would take for marks.
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")

Lookup = Callable[[str], str]


def written(name: str, key_of: Lookup, place_of: Lookup) -> str:
    """Return the text of assets/help/NAME.md.

    key_of, place_of  give an action's key and its place in the menus, by its name; they raise
                      KeyError for others
    """
    text = asset(f"help/{name}.md").read_text(encoding="utf-8")
    text = PLACE.sub(lambda found: f"*{place_of(found[1])}*", text)
    return KEY.sub(lambda found: f"**{escaped(key_of(found[1]))}**", text)


def lesson(name: str) -> str:
    """Return the text of assets/help/NAME.md, which is also read outside of the program.

    Its title is left out, and so is where its links to other files lead.
    """
    text = asset(f"help/{name}.md").read_text(encoding="utf-8")
    return FILE_LINK.sub(r"\1", text.partition("\n\n")[2])


def escaped(text: str) -> str:
    """Return plain text as Markdown, line by line."""
    return SPECIAL.sub(r"\\\1", text).replace("\n", "  \n")


def link(title: str, key: str) -> str:
    """Return a Markdown link to the help's page `key`."""
    return f"[{escaped(title)}](help:{key})"


def sections(parts: dict[str, str]) -> str:
    """Return headings, each with its text."""
    return "\n\n".join(f"## {escaped(title)}\n\n{text}" for title, text in parts.items())


RUNGS_CHAPTER = "Implementations"
# By the form of a rung's weights, as in `kernels.rungs.operands.FORMS`.
WEIGHTS = {
    "global": "The weights lie in global memory, as the picture does.",
    "constant": "The weights lie in constant memory, which answers a whole warp at once where all "
    "its lanes ask for the same one.",
    "separable": "The weights are taken apart into a column and a row: 2·K products instead of K².",
    "byte_band": "The weights are taken apart into a column and a row; the row comes as a band "
    "matrix of halves, word by word as the lanes of a warp hold it.",
    "digit_bands": "The weights are taken apart into a column and a row; the row comes as a band "
    "matrix of 8-bit digits, the column as one of halves, word by word as the lanes of a warp hold "
    "them.",
    "low_rank": "The weights are taken apart into a few columns and rows that add up to them: as "
    "many as their rank.",
    "fixed_point": "The weights come as integers of one to three bytes, as many as they need, "
    "which tensor cores multiply.",
    "uniform": "All weights are one number, so that a sum is updated, not begun anew.",
    "spectrum": "The weights come as their Fourier transform, which a picture's is multiplied by.",
    "spectrum_and_roots": "The weights come as their Fourier transform, which a picture's is "
    "multiplied by, and the roots of unity that it takes.",
    "bands": "The weights come as band matrices of halves, which tensor cores multiply.",
    "thin_bands": "The weights' column and row come as band matrices of halves, which tensor cores "
    "multiply.",
}
NUMBER = re.compile(r"\{[^}]*\}")


def rung_pages(overview: str) -> list[HelpPage]:
    """Make the overview, a page about Auto, then one for each implementation in order.

    overview  the page written by hand
    """
    known = list(all_implementations())
    rows = "\n".join(
        f"| {link(each.title, rung_key(each))} | {escaped(each.idea)} |" for each in known
    )
    table = f"| | idea |\n|---|---|\n{rows}"
    auto = (
        f"{escaped(AUTO.idea)}\n\nWhat it picked, and why, stands in the strip below the pictures."
    )
    return [
        HelpPage("rungs", RUNGS_CHAPTER, "The ladder", f"{overview}\n\n{table}", "ladder"),
        HelpPage("rung/auto", RUNGS_CHAPTER, AUTO.title, auto),
        *(
            HelpPage(rung_key(each), RUNGS_CHAPTER, each.title, _text(each, known))
            for each in known
        ),
    ]


def rung_key(implementation: Implementation) -> str:
    """Return the key of the page about an implementation."""
    return f"rung/{implementation.key}"


def _text(each: Implementation, known: Sequence[Implementation]) -> str:
    own_kind = [other for other in known if other.kind == each.kind]
    place = f"{KINDS[each.kind]} · {STEPS[each.kind]} {own_kind.index(each) + 1} of {len(own_kind)}"
    parts = [f"*{place}*", f"**{escaped(each.idea)}**"]
    if isinstance(each, Rung):
        parts += _of_rung(each, known)
    if isinstance(each, BrokenRung):
        parts.append(escaped(each.reason))
    parts.append(f"On the command line and in files it is called `{each.key}`.")
    return "\n\n".join(parts)


def _of_rung(rung: Rung, known: Sequence[Implementation]) -> list[str]:
    before = [other for other in known if other.key == rung.after]
    then = [other for other in known if isinstance(other, Rung) and other.after == rung.key]
    parts = [
        escaped(" ".join(rung.lesson.split())),
        f"It changes one thing about {_links(before)}." if before else "",
        f"Changed further by {_links(then)}." if then else "",
        WEIGHTS[rung.weights],
        escaped(block_words(rung)),
        _launches(rung),
        f"It needs compute capability {rung.capability[0]}.{rung.capability[1]} or higher."
        if rung.capability > (0, 0)
        else "",
        "Its error is far above that of float32, within a bound of its own; Auto never picks it."
        if rung.reduced_precision
        else "",
        "It refuses pictures that hold NaN or infinity, which it would spread beyond the filter's "
        "reach."
        if rung.finite_only
        else "",
        escaped(undescribed_words(rung)),
    ]
    if rung.requires:
        reasons = "\n".join(f"- {escaped(NUMBER.sub('…', why))}" for _, why in rung.requires)
        parts.append(f"It refuses some jobs, and says why (… stands for a number):\n\n{reasons}")
    return [part for part in parts if part]


def _launches(rung: Rung) -> str:
    if len(rung.passes) == 1:
        return ""
    names = ", ".join(f"`{each.library or each.function}`" for each in rung.passes)
    return f"It takes {len(rung.passes)} launches: {names}."


def _links(implementations: Sequence[Implementation]) -> str:
    return ", ".join(link(each.title, rung_key(each)) for each in implementations)


CHARTS_CHAPTER = "Charts"


def chart_pages(overview: str) -> list[HelpPage]:
    """Make the page about reading any chart, then one for each kind.

    overview  the page written by hand
    """
    kinds = chart_kinds()
    rows = "\n".join(
        f"| {link(each.title, f'chart/{each.key}')} | {escaped(each.tip)} |" for each in kinds
    )
    table = f"| chart | shows |\n|---|---|\n{rows}"
    return [
        HelpPage(
            "charts", CHARTS_CHAPTER, "How to read a chart", f"{overview}\n\n{table}", "sweep"
        ),
        *(
            HelpPage(
                f"chart/{each.key}",
                CHARTS_CHAPTER,
                each.title,
                f"*{escaped(each.tip)}.*\n\n{escaped(each.reading)}\n\n"
                f"What all charts have in common: {link('How to read a chart', 'charts')}.",
            )
            for each in kinds
        ),
    ]


FIRST, MODES_CHAPTER, NUMBERS = "First steps", "Ways to look and work", "Numbers"
# Pages written by hand that stand alone, and modes whose few words are followed by such a page.
ALONE = {"start": "What this program is for", "words": "Words", "gpu": "Without a GPU"}
WITH_MORE = (
    *("result", "difference", "analysis", "mismatch", "pixel", "anatomy", "blocks", "presenter"),
    *("weights", "kernel", "sweep"),
)
TOLD_IN = ("Timing", "Analysis", "Settings")  # panels that the page about numbers tells of
# Further subjects of that page, told by the tooltips of these widgets.
TOLD_OF = {
    "Verdict": "verdict-card",
    "L2 cache": "cache",
    "Block shape": "block-picker",
    "Negative values": "negative-display",
    "Pixel types": "pixel-type",
}


def book_of(docks: Docks, window: QMainWindow) -> Book:
    """Return all pages, as the menus and panels of `window` are now."""
    lines = menu_lines(window)
    by_name = {line.action.objectName().removesuffix("…"): line for line in lines}

    def key_of(name: str) -> str:
        return by_name[name.removesuffix("…")].keys

    def place_of(name: str) -> str:
        line = by_name[name.removesuffix("…")]
        return escaped(" ▸ ".join((*line.path, name)))

    def text(name: str) -> str:
        return written(name, key_of, place_of)

    return Book(
        [
            *(HelpPage(key, FIRST, title, text(key)) for key, title in ALONE.items()),
            HelpPage("first-kernel", FIRST, "Your first kernel", lesson("first-kernel")),
            *_modes(text),
            HelpPage(
                "numbers", NUMBERS, "What each number means", _numbers(docks, text("numbers"))
            ),
            HelpPage("filters", NUMBERS, "Filters and borders", _filters(text("filters"))),
            *rung_pages(text("rungs")),
            *chart_pages(text("charts")),
            HelpPage("files", "Files and keys", "Files", text("files")),
            HelpPage("folder", "Files and keys", "Filter a folder", text("folder")),
            HelpPage("keys", "Files and keys", "All actions and their keys", _keys(lines)),
        ]
    )


def _modes(text: Lookup) -> list[HelpPage]:
    found = []
    for key, mode in MODES.items():
        more = f"\n\n{text(key)}" if key in WITH_MORE else ""
        found.append(HelpPage(f"mode/{key}", MODES_CHAPTER, mode.title, mode.words + more, key))
    return found


def _numbers(docks: Docks, more: str) -> str:
    """Return the tooltips of every tile, and of the controls that figures depend on."""
    panels = [docks.panel(title).get() for title in TOLD_IN]
    told = {tile.caption: tile.tip for each in panels for tile in each.findChildren(ValueTile)}
    parts = {part.objectName(): part for each in panels for part in each.findChildren(QWidget)}
    told |= {title: parts[name].toolTip() for title, name in TOLD_OF.items()}
    return f"{sections({title: escaped(tip) for title, tip in told.items()})}\n\n{more}"


def _filters(more: str) -> str:
    rows = [
        f"| {escaped(each.title)} | {escaped(each.sizes_in_words)} | "
        f"{escaped(', '.join(p.title for p in each.parameters) or '–')} |"
        for each in filters.all_filters()
    ]
    table = "\n".join(("| filter | sizes | may be set |", "|---|---|---|", *rows))
    borders: Mapping[str, str] = {name.capitalize(): _border(name) for name in BORDERS}
    return f"{more}\n\n{table}\n\n{sections({'Borders': ''})}\n\n{_nested(borders)}"


def _border(name: str) -> str:
    shown, words = BORDER_TIPS[name].split("\n", 1)
    return f"`{shown}` {escaped(words)}"


def _nested(parts: Mapping[str, str]) -> str:
    return "\n".join(f"- **{escaped(title)}**: {words}" for title, words in parts.items())


def _keys(lines: list[MenuLine]) -> str:
    """List every line of the menus, with its key and what it does."""
    parts: dict[str, list[str]] = {}
    for line in lines:
        name = line.action.objectName().removesuffix("…") or line.name
        if line.action.objectName() or line.keys:  # not a file's name or the like
            tip = line.action.statusTip() or line.action.toolTip()
            says = f": {escaped(tip)}" if tip not in (name, line.name) else ""
            where = ": ".join((*line.path[1:], name))
            row = f"| {escaped(line.keys)} | **{escaped(where)}**{says} |"
            parts.setdefault(line.path[0], []).append(row)
    parts["Mouse and elsewhere"] = [
        f"| {escaped(keys)} | {escaped(what)} |" for keys, what in ELSEWHERE
    ]
    return sections(
        {
            title: "\n".join(("| key | action |", "|---|---|", *rows))
            for title, rows in parts.items()
        }
    )
