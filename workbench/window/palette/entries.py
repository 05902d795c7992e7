"""All entries of the palette: the menus, filters, implementations, and presets of sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtWidgets import QMainWindow

from kernels import filters
from kernels.core.device import Device, NoDevice
from kernels.sweeps.presets import presets
from workbench.model import intents
from workbench.panels.sweep.sweep_panel import SweepPanel
from workbench.session.store import Store
from workbench.session.worker import Worker
from workbench.widgets.docks import Docks
from workbench.widgets.menu_lines import MenuLine, menu_lines
from workbench.window.palette.fuzzy import Match, match

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
    window: QMainWindow, store: Store, worker: Worker, docks: Docks, sweep: SweepPanel
) -> list[PaletteEntry]:
    """Return all entries as things are now: the menus in order, then what is not in them.

    window  whose menus are meant
    worker  knows the device
    sweep   shows presets, once docks brought it forward
    """
    return [
        *(_of_menu(line) for line in menu_lines(window) if line.name != OWN_NAME),
        *_filters(store),
        *_implementations(store, worker.device),
        *_presets(docks, sweep),
    ]


def found(entries: Iterable[PaletteEntry], query: str) -> list[tuple[PaletteEntry, Match]]:
    """Return the entries that `query` finds, the best first; without words all, in their order."""
    pairs = []
    for entry in entries:
        if (how := match(query, entry.name)) is not None:
            pairs.append((entry, how))
        elif (how := match(query, f"{entry.name} {entry.where}")) is not None:
            places = tuple(at for at in how.places if at < len(entry.name))
            pairs.append((entry, Match(how.score / 2, places)))  # found by its menu: further down
    if query.strip():
        pairs.sort(key=lambda pair: (bool(pair[0].reason), -pair[1].score))
    return pairs


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


def _implementations(store: Store, device: Device | NoDevice | None) -> list[PaletteEntry]:
    state = store.state
    found = []
    for each in intents.choices():
        reason = intents.why_unavailable(state, each, device) or ""
        do = partial(store.choose, implementation=each.key)
        is_on = each.key == state.implementation
        where = "Runs on" if each.kind == "auto" else f"Runs on ▸ {_KINDS[each.kind]}"
        found.append(PaletteEntry(each.title, where, do, tip=each.idea, reason=reason, is_on=is_on))
    return found


_KINDS = {"cpu": "CPU", "cuda": "CUDA"}


def _presets(docks: Docks, sweep: SweepPanel) -> list[PaletteEntry]:
    def show(number: int) -> None:
        docks.bring_forward(sweep.DOCK.title)
        sweep.show_plan(presets()[number].plan)

    return [
        PaletteEntry(each.plan.title, "Sweep preset", partial(show, number), tip=each.plan.note)
        for number, each in enumerate(presets())
    ]
