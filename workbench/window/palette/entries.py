"""All entries of the palette: the menus, filters, implementations, and presets of sweeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMainWindow

from kernels import filters
from kernels.core.device import Device, NoDevice
from kernels.sweeps.presets import presets
from workbench.model import intents
from workbench.session.kernel_folder import KernelFolder
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.actions import MenuLine, menu_lines
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.palette.synonyms import SYNONYMS

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel

OWN_NAME = "All actions"  # the palette is not in the palette
# How a word of a query is found, the best first.
WHOLE, START, ELSEWHERE, INITIALS, LETTERS = range(5)
Rank = tuple[
    int, int, int, int
]  # not possible now, worst and sum of the kinds, letters of the name


@dataclass(frozen=True, slots=True, eq=False)
class PaletteEntry:
    """Something that can be done.

    where   the kind of thing it is: "File ▸ Screenshot", "Filter"
    keys    its shortcut, as it is written here
    tip     what it does, in a sentence
    reason  why it cannot be done now; empty if it can
    is_on   whether it is chosen already
    """

    name: str
    where: str
    do: Callable[[], object] = field(repr=False)
    keys: str = ""
    tip: str = ""
    reason: str = ""
    is_on: bool = False


def entries_of(
    window: QMainWindow,
    store: Store,
    worker: Worker,
    docks: Docks,
    sweep: LazyPanel[SweepPanel],
    kernel_folder: KernelFolder,
) -> list[PaletteEntry]:
    """Make all entries as things are now: the menus in order, then what is not in them.

    window  whose menus are meant
    worker  knows the device
    sweep   shows presets, once docks brought it forward
    """
    return [
        *(_of_menu(line) for line in menu_lines(window) if line.name != OWN_NAME),
        *_filters(store),
        *_implementations(store, worker.device, kernel_folder),
        *_presets(docks, sweep),
    ]


def ranks_of(entries: Sequence[PaletteEntry], query: str) -> list[Rank | None]:
    """Rank of each entry for `query`, the best smallest; None: not found.

    Each word of the query is a word of the name, or its beginning; the beginning of another word
    for it; initials and what follows them; or, if nothing else is found, letters in order.
    """
    words = [_patterns(word) for word in query.casefold().split()]
    if not words:
        return [(0, 0, 0, 0) for _ in entries]
    ranks = [_rank(words, entry) for entry in entries]
    is_found = any(rank is not None and rank[1] < LETTERS for rank in ranks)
    return [
        None if rank is not None and is_found and rank[1] == LETTERS else rank for rank in ranks
    ]


def _patterns(word: str) -> list[re.Pattern[str]]:
    """Patterns of a word of a query, by WHOLE to LETTERS."""
    letters = [re.escape(letter) for letter in word]
    start = (r"\b" if word[0].isalnum() else "") + re.escape(word)
    return [
        *(re.compile(rf"{start}\b"), re.compile(start), re.compile(start)),
        *(re.compile(r"\b" + r"(?:|.*?\b)".join(letters)), re.compile(".*?".join(letters))),
    ]


def _rank(words: Sequence[Sequence[re.Pattern[str]]], entry: PaletteEntry) -> Rank | None:
    name = entry.name.casefold()
    more = f"{name} {entry.where} {' '.join(SYNONYMS.get(entry.name, ()))}".casefold()
    texts = (name, name, more, name, more)
    kinds = [
        next((kind for kind, text in enumerate(texts) if patterns[kind].search(text)), None)
        for patterns in words
    ]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    return bool(entry.reason), max(known), sum(known), len(name)


def _of_menu(line: MenuLine) -> PaletteEntry:
    action = line.action
    reason = "" if action.isEnabled() else "It cannot be done now."
    tip = action.toolTip() if action.toolTip() != line.name else ""
    return PaletteEntry(
        line.name,
        " ▸ ".join(line.path),
        action.trigger,
        line.keys,
        tip,
        reason,
        is_on=action.isCheckable() and action.isChecked(),
    )


def _filters(store: Store) -> list[PaletteEntry]:
    state = store.state

    def choose(key: str) -> None:
        store.choose(filter=key)

    return [
        PaletteEntry(
            each.title, "Filter", partial(choose, each.key), is_on=each.key == state.filter
        )
        for each in filters.all_filters()
    ]


def _implementations(
    store: Store, device: Device | NoDevice | None, kernel_folder: KernelFolder
) -> list[PaletteEntry]:
    state = store.state
    found = []
    for each in (*intents.choices(), *kernel_folder.all):
        reason = intents.why_unavailable(state, each, device) or ""
        do = partial(store.choose, implementation=each.key)
        is_on = each.key == state.implementation
        where = "Runs on" if each.kind == "auto" else f"Runs on ▸ {_KINDS[each.kind]}"
        found.append(PaletteEntry(each.title, where, do, tip=each.idea, reason=reason, is_on=is_on))
    return found


_KINDS = {"cpu": "CPU", "cuda": "CUDA", "own": "Yours"}


def _presets(docks: Docks, sweep: LazyPanel[SweepPanel]) -> list[PaletteEntry]:
    def show(number: int) -> None:
        docks.bring_forward(sweep.dock.title)
        sweep.get().show_plan(presets()[number].plan)

    return [
        PaletteEntry(each.plan.title, "Sweep preset", partial(show, number), tip=each.plan.note)
        for number, each in enumerate(presets())
    ]
