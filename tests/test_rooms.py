"""The house: a room imports only rooms below it, and nothing goes in circles."""

import subprocess
import sys
from functools import cache

import pytest

from tests.conftest import ROOT
from tests.import_graph import circles, grouped, imports_of, modules_of, storeys
from tests.size import MAX_LINES, budgets

# From the ground up.  ARCHITECTURE.md says what each of them is for.
ROOMS = {
    "kernels": (
        *("core", "filters", "oracle", "cpu", "rungs", "cuda"),
        *("anatomy", "cuda_on_cpu", "cuda_child", "export", "engine", "pictures", "sweeps"),
    ),
    "workbench": (
        *("base", "widgets", "imaging", "model", "files", "batch"),
        *("session", "charts", "report", "panels", "window", "cli"),
    ),
}
MAX_FLOORS = 8
MODULES = modules_of(ROOT, ROOMS)


@cache
def imports():
    """Which module imports which: to read them all takes seconds, and every worker imports this."""
    return imports_of(MODULES)


def folder_of(module: str) -> str:
    """The folder that a module lies in; `__main__` counts by itself, as it stands on top of all."""
    if MODULES[module].name in ("__init__.py", "__main__.py"):
        return module
    return module.rpartition(".")[0]


def room_of(module: str) -> str:
    """The room of a module: "base" of workbench.base.numbers; empty for the package itself."""
    parts = folder_of(module).split(".")
    return parts[1] if len(parts) > 1 else ""


def test_no_file_and_no_folder_imports_itself_by_way_of_others():
    assert circles(imports()) == []
    assert circles(grouped(imports(), folder_of)) == []


@pytest.mark.parametrize("package", ROOMS)
def test_a_room_imports_only_rooms_below_it(package):
    height = {room: at for at, room in enumerate(ROOMS[package])}
    upwards = [
        (module, other)
        for module, others in imports().items()
        for other in others
        if module.startswith(package) and other.startswith(package)
        if room_of(module) in height and room_of(other) in height
        if height[room_of(other)] > height[room_of(module)]
    ]
    assert upwards == []


def floors(package: str) -> int:
    """How many rooms of a package stand one on another."""
    within = {
        module: {each for each in others if each.startswith(f"{package}.")}
        for module, others in imports().items()
        if room_of(module) in ROOMS[package] and module.startswith(package)
    }
    return storeys(grouped(within, room_of))


@pytest.mark.parametrize("package", ROOMS)
def test_a_package_has_few_floors(package):
    assert floors(package) <= MAX_FLOORS


@pytest.mark.parametrize("package", ROOMS)
def test_nothing_lies_loose_at_the_top(package):
    loose = {path.name for path in (ROOT / package).glob("*.py")}
    assert loose <= {"__init__.py", "__main__.py"}
    rooms = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    assert rooms == set(ROOMS[package])


def test_every_room_has_a_budget():
    """In ARCHITECTURE.md, in its order."""
    rooms = [f"{package}/{room}" for package, rooms in ROOMS.items() for room in rooms]
    assert [room for room in budgets() if room != "kernels/ladder"] == [*rooms, "packaging"]
    assert sum(budgets().values()) <= MAX_LINES


@pytest.mark.parametrize("room", ["model", "files", "batch"])
def test_what_is_chosen_and_the_files_import_without_qt(room):
    names = [name for name in MODULES if name.startswith(f"workbench.{room}")]
    program = (
        "import importlib, sys\n"
        "sys.modules['PySide6'] = None\n"
        f"for name in {names}: importlib.import_module(name)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


if __name__ == "__main__":
    folders = grouped(imports(), folder_of)
    print(f"{len(imports())} files: circles of {[len(each) for each in circles(imports())]}")  # noqa: T201
    print(f"{len(folders)} folders: circles of {[len(each) for each in circles(folders)]}, ")  # noqa: T201
    print(", ".join(f"{floors(package)} floors of rooms in {package}" for package in ROOMS))  # noqa: T201
