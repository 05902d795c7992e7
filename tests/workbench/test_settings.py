"""The settings file: what comes back, and what becomes of a file that is no good."""

import json
from pathlib import Path

import pytest

from workbench.settings import DIRECTORY_VARIABLE, RECENT_FILES, Settings, default_path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new folder" / "settings.json"


def written(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Settings(path)


def test_values_come_back(path):
    first = Settings(path)
    assert first.complaint == ""
    first.set("theme", "dark")
    first.set("choices", {"ksize": 7})
    first.save()
    second = Settings(path)
    assert second.complaint == ""
    assert second.get("theme", "system") == "dark"
    assert second.get("choices", {}) == {"ksize": 7}
    assert second.get("folder", "here") == "here"


def test_a_value_of_another_type_is_none(path):
    settings = written(path, json.dumps({"version": 1, "theme": 3, "choices": []}))
    assert settings.get("theme", "system") == "system"
    assert settings.get("choices", {}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        "null",
        '"version"',
        "{}",
        '{"version": 1',
        b"\xff\xfe\x00",
        "[" * 100_000,
    ],
    ids=range(10),
)
def test_a_damaged_file_is_said_once_and_then_replaced(path, text):
    settings = written(path, text)
    assert settings.complaint == f"The settings in {path} could not be read; starting afresh."
    assert settings.get("theme", "system") == "system"
    settings.save()
    assert Settings(path).complaint == ""


@pytest.mark.parametrize("version", [2, 0, "1.0", None, [1]])
def test_settings_of_another_version_are_said_and_left_alone(path, version):
    settings = written(path, json.dumps({"version": version, "theme": "dark"}))
    assert settings.complaint == (
        f"The settings in {path} are from another version; starting afresh."
    )
    assert settings.get("theme", "system") == "system"


def test_a_folder_in_the_file_s_place_is_no_trouble(path):
    path.mkdir(parents=True)
    settings = Settings(path)
    assert "could not be read" in settings.complaint
    settings.save()
    assert path.is_dir()


def test_a_place_that_cannot_be_written_is_no_trouble(tmp_path):
    (tmp_path / "file").touch()
    Settings(tmp_path / "file" / "settings.json").save()
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_forgotten_values_are_gone_for_good(path):
    settings = Settings(path)
    settings.set("theme", "dark")
    settings.forget()
    settings.save()
    assert Settings(path).get("theme", "system") == "system"


def test_the_newest_recent_file_is_the_first_and_none_is_twice(path):
    settings = Settings(path)
    for name in ("a", "b", "a"):
        settings.add_recent_file(Path(name))
    settings.save()
    assert Settings(path).recent_files == [Path("a"), Path("b")]


def test_only_so_many_recent_files_are_kept(path):
    settings = Settings(path)
    for number in range(2 * RECENT_FILES):
        settings.add_recent_file(Path(f"{number}.png"))
    assert len(settings.recent_files) == RECENT_FILES
    assert settings.recent_files[0] == Path(f"{2 * RECENT_FILES - 1}.png")


def test_nonsense_among_the_recent_files_is_left_out(path):
    recent = [1, None, "", {}, *(f"{number}.png" for number in range(50))]
    settings = written(path, json.dumps({"version": 1, "recent": recent}))
    assert settings.recent_files == [Path(f"{number}.png") for number in range(RECENT_FILES)]


def test_the_environment_may_name_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    assert default_path() == tmp_path / "settings.json"
