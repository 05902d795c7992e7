"""The lock files: whole, hashed, in step with pyproject.toml, and free of this or that machine."""

import re
import tomllib

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCKS = ["app", "test", "cuda12", "cuda13"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


@pytest.fixture(params=LOCKS)
def lock(request, root):
    """A lock's name and its text."""
    path = root / "packaging/lock" / f"{request.param}.txt"
    return request.param, path.read_text(encoding="utf-8")


def entries(text: str) -> list[str]:
    """The locked requirements, each with its hashes in one line."""
    joined = text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]


def environment(python: str) -> dict[str, str]:
    """The markers' values on Linux x86-64 under this Python."""
    return {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
    }


def pins(text: str, python: str) -> dict[str, str]:
    """Package -> version, as this Python would install them."""
    found: dict[str, str] = {}
    for entry in entries(text):
        requirement = Requirement(entry.split("--hash")[0])
        if requirement.marker is None or requirement.marker.evaluate(environment(python)):
            name = canonicalize_name(requirement.name)
            assert name not in found, f"{name} is pinned twice for {python}"
            found[name] = next(iter(requirement.specifier)).version
    return found


def declared(root, lock_name: str) -> list[Requirement]:
    """What pyproject.toml asks for: the lock of an extra holds the program's own needs too."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    texts = project["project"]["dependencies"] + project["dependency-groups"]["build"]
    if lock_name != "app":
        texts = texts + project["project"]["optional-dependencies"][lock_name]
    return [Requirement(text) for text in texts]


def test_every_pin_is_exact_and_hashed_and_no_host_or_path_is_named(lock):
    _, text = lock
    assert entries(text)
    for entry in entries(text):
        assert re.search(r"^[\w.-]+==[\w.]+ .*--hash=sha256:[0-9a-f]{64}", entry), entry
    assert not re.search(r"://|(?<![\w.])/\w|@\s|--(extra-)?index-url|--find-links", text)


@pytest.mark.parametrize("python", PYTHONS)
def test_the_pins_are_what_pyproject_asks_for(lock, root, python):
    name, text = lock
    pinned = pins(text, python)
    for requirement in declared(root, name):
        if requirement.marker is None or requirement.marker.evaluate(environment(python)):
            version = pinned.get(canonicalize_name(requirement.name))
            assert version is not None, f"{requirement} is not locked: make lock"
            assert requirement.specifier.contains(version), f"{requirement}: make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_the_locks_agree_with_each_other(root, python):
    texts = [
        (root / "packaging/lock" / f"{name}.txt").read_text(encoding="utf-8") for name in LOCKS
    ]
    app, *others = (pins(text, python) for text in texts)
    for other in others:
        assert app.items() <= other.items()
