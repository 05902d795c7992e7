"""Help pages, the search in them, and which of them tells of a part of the window."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtWidgets import QMainWindow, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.search import Named, beginning, find, search_words, telling
from kernels.engine.auto import AUTO
from kernels.engine.engine import all_implementations
from kernels.rungs.own_kernels import is_own
from workbench.base.columns import table
from workbench.base.paths import asset, asset_table
from workbench.charts.chart_view import ChartView
from workbench.charts.kinds import chart_kinds
from workbench.model.names import modes
from workbench.model.state import State
from workbench.panels.compare.compare_view import CompareView
from workbench.panels.controls.controls_panel import BORDER_TIPS
from workbench.panels.rung.rung_pages import KEY as RUNG_KEY
from workbench.panels.rung.rung_pages import escaped, link, words_on
from workbench.widgets.actions import MenuLine, menu_lines
from workbench.widgets.docks import Docks
from workbench.widgets.tile import ValueTile

START = "start"
RUNG = "implementation"  # its page depends on the choice


def topics() -> dict[str, str]:
    """Pages by the names of widgets; the nearest one around the widget counts."""
    return asset_table("help/topics.toml")


def topic_of(widget: QWidget | None, state: State) -> str:
    """Page about `widget`, with "#section" where there is one."""
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
            return f"mode/{state.view_mode}"
        if name in topics():
            return topics()[name]
        widget = widget.parentWidget()
    return START


MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*`|\\]|^#+ |^\s*[-:]+\s*$", re.MULTILINE)
HEADINGS = re.compile("^#+ (.*)", re.MULTILINE)


@dataclass(frozen=True)
class HelpPage:
    """A page about one subject."""

    key: str  # the name in links: "chart/roofline"
    chapter: str
    title: str
    text: str  # Markdown, without the title; links to pages are "help:KEY" or "help:KEY#section"
    picture: str = ""  # the name of a screenshot that belongs to it; "" for none

    @cached_property
    def plain(self) -> str:
        """Title and text without Markdown's marks."""
        return f"{self.title}\n{MARKS.sub(lambda found: found[1] or '', self.text)}"


class Book:
    """All pages of the help, in their order."""

    def __init__(self, pages: Iterable[HelpPage]) -> None:
        self.pages = tuple(pages)
        self._by_key = {page.key: page for page in self.pages}

    @property
    def chapters(self) -> dict[str, tuple[HelpPage, ...]]:
        """Pages of each chapter, by its title, in order."""
        titles = dict.fromkeys(page.chapter for page in self.pages)
        return {title: tuple(p for p in self.pages if p.chapter == title) for title in titles}

    def page(self, key: str) -> HelpPage | None:
        return self._by_key.get(key)

    def find(self, query: str) -> list[HelpPage]:
        """Find pages by title, synonyms and text, as `search.find` does; the best first.

        First those with the most of the words in their names, then in their headings, then in all.
        """
        found, is_right = find(query, self._named if query.strip() else ())
        patterns = [re.compile(beginning(w), re.I) for w in telling(search_words(query))]

        def fit(number: int) -> tuple[int, ...]:
            page, name = self.pages[number], self._named[number].name
            texts = (name, "\n".join(HEADINGS.findall(page.text)), page.plain)
            hits = [[len(each.findall(text)) for each in patterns] for text in texts]
            return (*(sum(map(bool, each)) for each in hits[:2]), min(hits[2], default=0))

        return [self.pages[at] for at in sorted(found, key=fit, reverse=True)] if is_right else []

    @cached_property
    def _named(self) -> list[Named]:
        table = asset_table("help/synonyms.toml")
        also = table["words"] | table["pages"]
        return [Named(f"{e.title} {also.get(e.title, '')}", e.plain) for e in self.pages]


# {Pin this result} is the action's key; {{Pin this result}} says where it stands in the menus.
KEY, PLACE = re.compile(r"\{([^{}]+)\}"), re.compile(r"\{\{([^{}]+)\}\}")
FILE_LINK = re.compile(r"\[([^\]]+)\]\((?!help:)[^)\s]+\)")

Lookup = Callable[[str], str]


def lesson(name: str) -> str:
    """Read assets/help/NAME.md, without its title and its links to other files."""
    text = asset(f"help/{name}.md").read_text(encoding="utf-8")
    return FILE_LINK.sub(r"\1", text.partition("\n\n")[2])


def sections(parts: dict[str, str]) -> str:
    """Headings, each with its text."""
    return "\n\n".join(f"## {escaped(title)}\n\n{text}" for title, text in parts.items())


RUNGS_CHAPTER = "Implementations"


def rung_pages(overview: str) -> list[HelpPage]:
    """Make the overview, a page about Auto, then one for each implementation in order.

    overview  the page written by hand
    """
    known = list(all_implementations())
    keys = {each.key: f"{RUNG_KEY}{each.key}" for each in known}
    ideas = table(("", "idea"), ((link(e.title, keys[e.key]), escaped(e.idea)) for e in known))
    auto = f"{escaped(AUTO.idea)}\n\nThe strip below the pictures tells its choice, and why."
    return [
        HelpPage("rungs", RUNGS_CHAPTER, "The ladder", f"{overview}\n\n{ideas}", "ladder"),
        HelpPage(f"{RUNG_KEY}auto", RUNGS_CHAPTER, AUTO.title, auto),
        *(HelpPage(keys[e.key], RUNGS_CHAPTER, e.title, words_on(e, known)) for e in known),
    ]


CHARTS_CHAPTER = "Charts"


def chart_pages(overview: str) -> list[HelpPage]:
    """Make the page about reading any chart, then one for each kind.

    overview  the page written by hand
    """
    kinds, title = chart_kinds(), "How to read a chart"
    rows = ((link(each.title, f"chart/{each.key}"), escaped(each.tip)) for each in kinds)
    text = f"{overview}\n\n{table(('chart', 'shows'), rows)}"
    common = f"What all charts have in common: {link(title, 'charts')}."
    return [
        HelpPage("charts", CHARTS_CHAPTER, title, text, "sweep"),
        *(
            HelpPage(
                *(f"chart/{each.key}", CHARTS_CHAPTER, each.title),
                f"*{escaped(each.tip)}.*\n\n{escaped(each.reading)}\n\n{common}",
            )
            for each in kinds
        ),
    ]


FIRST, MODES_CHAPTER, NUMBERS = "First steps", "Ways to look and work", "Numbers"


def book_of(docks: Docks, window: QMainWindow) -> Book:
    """Make all pages, as the menus and panels of `window` are now."""
    lines = menu_lines(window)
    by_name = {line.action.objectName().removesuffix("…"): line for line in lines}

    def line(name: str) -> MenuLine:
        return by_name[name.removesuffix("…")]

    def text(name: str) -> str:
        """Read assets/help/NAME.md, with the keys and places of the actions that it names."""
        read = asset(f"help/{name}.md").read_text(encoding="utf-8")
        places = PLACE.sub(
            lambda found: f"*{escaped(' ▸ '.join((*line(found[1]).path, found[1])))}*", read
        )
        return KEY.sub(lambda found: f"**{escaped(line(found[1]).keys)}**", places)

    keys, hand = f"{_keys(lines)}\n\n{text('keys')}", asset_table("help/pages.toml")
    return Book(
        [
            *(HelpPage(key, FIRST, title, text(key)) for key, title in hand["alone"].items()),
            HelpPage("first-kernel", FIRST, "Your first kernel", lesson("first-kernel")),
            *(
                HelpPage(
                    *(f"mode/{key}", MODES_CHAPTER, mode.title),
                    f"{mode.words}\n\n{text(key) if key in hand['with_more'] else ''}".strip(),
                    key,
                )
                for key, mode in modes().items()
            ),
            HelpPage("numbers", NUMBERS, "What each number means", _numbers(docks, text)),
            HelpPage("filters", NUMBERS, "Filters and borders", _filters(text("filters"))),
            *rung_pages(text("rungs")),
            *chart_pages(text("charts")),
            HelpPage("files", "Files and keys", "Files", text("files")),
            HelpPage("folder", "Files and keys", "Filter a folder", text("folder")),
            HelpPage("keys", "Files and keys", "All actions and their keys", keys),
        ]
    )


def _numbers(docks: Docks, text: Lookup) -> str:
    """Tooltips of every tile, and of the controls that figures depend on.

    Where a tooltip may say why something is not possible now, What's This has the other.
    """
    pages = asset_table("help/pages.toml")
    panels = [docks.panel(title).get() for title in pages["told_in"]]
    told = {tile.caption: tile.tip for each in panels for tile in each.findChildren(ValueTile)}
    parts = {part.objectName(): part for each in panels for part in each.findChildren(QWidget)}
    of = {title: parts[name] for title, name in pages["told_of"].items()}
    told |= {title: part.whatsThis() or part.toolTip() for title, part in of.items()}
    return f"{sections({title: escaped(tip) for title, tip in told.items()})}\n\n{text('numbers')}"


def _filters(more: str) -> str:
    every = table(
        ("filter", "sizes", "may be set"),
        (
            (each.title, each.sizes_in_words, ", ".join(p.title for p in each.parameters) or "–")
            for each in filters.all_filters()
        ),
    )
    borders = "\n".join(f"- **{name.capitalize()}**: {_border(name)}" for name in BORDERS)
    return f"{more}\n\n{every}\n\n## Borders\n\n{borders}"


def _border(name: str) -> str:
    shown, words = BORDER_TIPS[name].split("\n", 1)
    return f"`{shown}` {escaped(words)}"


def _keys(lines: list[MenuLine]) -> str:
    parts: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        name = line.action.objectName().removesuffix("…") or line.name
        tip = line.action.whatsThis() or line.action.toolTip()
        if line.action.whatsThis() or line.keys:  # not a file's name or the like
            says = f": {escaped(' '.join(tip.split()))}" if tip not in (name, line.name) else ""
            where = escaped(": ".join((*line.path[1:], name)))
            parts.setdefault(line.path[0], []).append((escaped(line.keys), f"**{where}**{says}"))
    return sections({title: table(("key", "action"), rows) for title, rows in parts.items()})
