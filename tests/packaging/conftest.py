"""What the packaging tests share."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's top folder."""
    return ROOT


def loaded(name: str) -> ModuleType:
    """A module of packaging/, which are scripts and no members of a package; fresh each time."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "packaging" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script(request: pytest.FixtureRequest) -> ModuleType:
    """The script that the test's module is named after."""
    return loaded(request.module.__name__.rpartition("test_")[2])


@pytest.fixture
def bootstrap() -> ModuleType:
    """`packaging/bootstrap.py`."""
    return loaded("bootstrap")
