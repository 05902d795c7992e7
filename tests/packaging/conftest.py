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


@pytest.fixture
def bootstrap() -> ModuleType:
    """`packaging/bootstrap.py`, which is a script and no member of a package; fresh each time."""
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "packaging/bootstrap.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
