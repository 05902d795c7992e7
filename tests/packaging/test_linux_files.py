"""The desktop entry and the AppStream description: one id, one set of facts, and valid."""

import configparser
import shutil
import subprocess
import tomllib
from xml.etree import ElementTree

import pytest

ID = "io.github.filter_workbench.FilterWorkbench"


@pytest.fixture
def desktop(root):
    """The desktop entry's keys."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str
    parser.read(root / f"packaging/linux/{ID}.desktop", encoding="utf-8")
    return parser["Desktop Entry"]


@pytest.fixture
def metainfo(root):
    """The AppStream component."""
    return ElementTree.parse(root / f"packaging/linux/{ID}.metainfo.xml").getroot()


def test_one_id_everywhere_and_the_command_is_the_entry_point(desktop, metainfo, root):
    assert desktop["Icon"] == ID
    assert metainfo.findtext("id") == ID
    assert metainfo.findtext("icon") == ID
    assert metainfo.findtext("launchable") == f"{ID}.desktop"
    named = (root / "workbench/window/app.py").read_text(encoding="utf-8")
    assert f'APPLICATION_ID = "{ID}"' in named
    assert "setDesktopFileName(APPLICATION_ID)" in named
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    command = desktop["Exec"].split()[0]
    assert command in project["scripts"]
    assert metainfo.findtext("provides/binary") == command


def test_both_name_the_same_kinds_of_picture(desktop, metainfo):
    offered = set(desktop["MimeType"].strip(";").split(";"))
    assert offered == {kind.text for kind in metainfo.iter("mediatype")}


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (["desktop-file-validate"], f"{ID}.desktop"),
        (["appstreamcli", "validate", "--no-net"], f"{ID}.metainfo.xml"),
    ],
)
def test_the_validators_agree(root, command, file):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    ended = subprocess.run(
        [*command, root / "packaging/linux" / file], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
