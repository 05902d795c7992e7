"""All entries of the palette: the menus, filters, implementations, and presets of sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from workbench.widgets.docks import Docks
from workbench.widgets.lazy_panel import LazyPanel
from workbench.widgets.menu_lines import MenuLine, menu_lines
from workbench.window.palette.fuzzy import LETTERS, START, Match, match
from workbench.window.palette.synonyms import synonyms_of

if TYPE_CHECKING:
    from workbench.panels.sweep.sweep_panel import SweepPanel

OWN_NAME = "All actions"  # the palette is not in the palette


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
    """Return all entries as things are now: the menus in order, then what is not in them.

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


def found(entries: Iterable[PaletteEntry], query: str) -> list[tuple[PaletteEntry, Match]]:
    """Return the entries that `query` finds, the best first; without words all, in their order.

    Entries with its letters anywhere are left out where others have its words.
    """
    pairs = [(entry, how) for entry in entries if (how := _match(query, entry)) is not None]
    if not query.strip():
        return pairs
    if any(how.kind > LETTERS for _, how in pairs):
        pairs = [(entry, how) for entry, how in pairs if how.kind > LETTERS]
    pairs.sort(key=lambda pair: (bool(pair[0].reason), -pair[1].kind, -pair[1].score))
    return pairs


def _match(query: str, entry: PaletteEntry) -> Match | None:
    """Return how `query` finds an entry: by its name, else by its menu or other words for it."""
    by_name = match(query, entry.name)
    if by_name is not None and by_name.kind > LETTERS:
        return by_name
    more = match(query, f"{entry.name} {entry.where} {' '.join(synonyms_of(entry.name))}")
    if more is None or (by_name is not None and more.kind <= by_name.kind):
        return by_name
    places = tuple(at for at in more.places if at < len(entry.name))
    return Match(more.score / 2, places, min(more.kind, START))  # further down


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
