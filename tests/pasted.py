"""The tree with the rung and filter of docs/ in it: `python -m tests.pasted` runs all tests there.

As a plugin of pytest (`-p tests.pasted`) it leaves those that one file more can change and that
answer soon: the ones that name the new rung or filter, and of modules that ask for the list of
rungs, implementations or filters, all but what is of another one, builds device code, draws its
cases at random, opens a window or takes long by the table of durations: a test that asks for the
list itself may take much longer than one that only stands beside it.  What that leaves out, the
whole suite has.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
# Not the bytecode, nor the loops that numba compiled: they hold for the copy, too, and to make them
# again takes a quarter of its time.
GENERATED = (".git", ".venv", ".*_cache", ".hypothesis", "build", "dist")
UNFINISHED = ("*.pyc.*", "*.tmp.*")  # of what others write into __pycache__ just now
# Page, language, and where its first block goes.
EXAMPLES = (
    ("docs/adding-a-rung.md", "cuda", "kernels/ladder/27_two_sums.cu"),
    ("docs/adding-a-filter.md", "python", "kernels/filters/motion_blur.py"),
)
NEW = {"two_sums", "motion_blur"}
ASKS = re.compile(r"\b(ladder|all_implementations|all_filters|patterns)\(\)")
SLOW = {"qtbot", "build_cache"}
LONG_S, LONG_BESIDE_S = 2.0, 0.25  # of a test function, all of its cases together
# As on a computer without NVIDIA's compilers: with them it takes a minute.
TABLES = """
import sys
sys.path.insert(0, "packaging")
import ladder_tables
ladder_tables.compiler_versions = dict
sys.exit(ladder_tables.main())
"""


def paste_into(folder: Path) -> Path:
    """Copy the tree into `folder`, put the examples into it, write its tables; its root."""
    tree = folder / "tree"
    copytree(ROOT, tree, ignore=ignore_patterns(*GENERATED, *UNFINISHED))
    for beside, name in (
        (ROOT.parent / "shared", folder / "shared"),
        (ROOT / ".venv", tree / ".venv"),
    ):
        if beside.exists():
            name.symlink_to(beside)
    for page, language, path in EXAMPLES:
        text = (ROOT / page).read_text(encoding="utf-8")
        found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
        assert found is not None
        assert not (tree / path).exists()
        (tree / path).write_text(found[1], encoding="utf-8")
    subprocess.run([sys.executable, "-c", TABLES], cwd=tree, env=environment(tree), check=True)
    return tree


def environment(tree: Path) -> dict[str, str]:
    """Return this process's, with the tree in front of whatever is installed."""
    return {**os.environ, "PYTHONPATH": str(tree), "FILTER_WORKBENCH_PASTED": "1"}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules that ask for no list: to import them all takes longer than the rest."""
    if collection_path.name.startswith("test_") and not _asks(collection_path):
        return True
    return None  # whatever pytest says


def pytest_collection_modifyitems(items: list) -> None:
    """Leave those that one file more can change."""
    from kernels.engine.engine import all_implementations
    from kernels.filters import all_filters
    from tests.durations import durations

    known = {each.key for each in (*all_implementations(), *all_filters())} - NEW
    items[:] = [each for each in items if _may_change(each, known, durations())]


def _may_change(item, known: set[str], seconds: dict[str, float]) -> bool:
    words = set(re.findall(r"\w+", item.callspec.id)) if hasattr(item, "callspec") else set()
    if words & NEW:
        return True
    name = item.nodeid.partition("[")[0]
    limit_s = LONG_S if item.originalname in _askers(item.path) else LONG_BESIDE_S
    if words & known or seconds.get(name, 0.0) > limit_s:
        return False
    if SLOW & set(item.fixturenames) or hasattr(item.obj, "hypothesis"):
        return False
    return _asks(item.path)


def _asks(path: Path) -> bool:
    return bool(ASKS.search(path.read_text(encoding="utf-8")))


@cache
def _askers(path: Path) -> set[str]:
    """Return what of a module asks for a list, or names what does."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    parts: dict[str, str] = {}
    for node in ast.parse(text).body:
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda each: each.lineno)
        source = "\n".join(lines[first.lineno - 1 : node.end_lineno])
        targets = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        own = {each.id for each in targets if isinstance(each.ctx, ast.Store)}
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own = {node.name}
        parts |= dict.fromkeys(own, source)
    found = {name for name, source in parts.items() if ASKS.search(source)}
    while more := {
        name
        for name, source in parts.items()
        if name not in found and found & set(re.findall(r"\w+", source))
    }:
        found |= more
    return found


def main() -> int:
    with TemporaryDirectory() as folder:
        tree = paste_into(Path(folder))
        words = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile"]
        return subprocess.run([*words, *sys.argv[1:]], cwd=tree, env=environment(tree)).returncode


if __name__ == "__main__":
    sys.exit(main())
