"""All pages of the help, made from the texts, tiles and menus of one window."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QMainWindow, QWidget

from kernels import filters
from kernels.core.borders import BORDERS
from workbench.model.modes import MODES
from workbench.panels.controls.filter_controls import BORDER_TIPS
from workbench.widgets.docks import Docks
from workbench.widgets.menu_lines import MenuLine, menu_lines
from workbench.widgets.tile import ValueTile
from workbench.window.help import charts, rungs
from workbench.window.help.book import Book, HelpPage
from workbench.window.help.shortcuts import ELSEWHERE
from workbench.window.help.texts import Lookup, escaped, lesson, sections, written

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
            *rungs.pages(text("rungs")),
            *charts.pages(text("charts")),
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
