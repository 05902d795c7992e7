"""Commands keep what they write down away from the user's data."""

import pytest


@pytest.fixture(autouse=True)
def data(tmp_path_factory, monkeypatch):
    """The folder of the user's data, of one test alone."""
    made = tmp_path_factory.mktemp("data")
    monkeypatch.setenv("XDG_DATA_HOME", str(made))
    return made
