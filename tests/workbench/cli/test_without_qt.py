"""Pictures are read, filtered and written where neither Qt nor libGL is installed."""

import json
import os
import shlex
import site
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtGui import QColorSpace

from kernels import Engine
from kernels.pictures.generated import noise
from tests.conftest import ROOT
from tests.workbench.window.copying.test_copying import CHOICES
from workbench.files import image_files
from workbench.model import intents
from workbench.model.state import State
from workbench.window.copy_as import command_line, python

QT = ("PySide6", "shiboken6", "pyqtgraph")

# Says at the end which of them was loaded all the same: "libGL" is a part of a file's name.
BEGINNING = """
import atexit, pathlib, sys
def tell():
    maps = pathlib.Path("/proc/self/maps")
    loaded = maps.read_text() if maps.exists() else ""
    for name in ("libGL", "libEGL", "libOpenGL", "Qt6"):
        if name in loaded:
            print("LOADED", name, file=sys.stderr)
atexit.register(tell)
"""
# (folder, program) each; says as JSON what came of them.
EACH = """
import contextlib, io, json, os, traceback
outcomes = []
for folder, program in {!r}:
    os.chdir(folder)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(compile(program, "<program>", "exec"), {{"__name__": "__main__"}})
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
            code = 1
    said = [each.buffer.getvalue().decode() for each in (out, err)]
    outcomes.append(dict(zip(("returncode", "stdout", "stderr"), (code, *said))))
print(json.dumps(outcomes))
"""
KINDS = [
    *((f"a.{extension}", "uint8", 3) for extension in ("png", "jpg", "tif", "webp", "bmp")),
    *(("a.png", "uint16", channels) for channels in (1, 2, 3, 4)),
    ("a.ppm", "uint16", 3),
    ("a.tif", "float32", 4),
    ("a.tif", "float16", 1),
]


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """A folder of packages as pip would leave it: all that are installed here, but for Qt."""
    folder = tmp_path_factory.mktemp("packages")
    for installed in map(Path, site.getsitepackages()):
        for each in installed.iterdir() if installed.is_dir() else ():  # Debian names some to be
            is_qt = each.name.lower().startswith(tuple(name.lower() for name in QT))
            if not is_qt and each.suffix != ".pth" and not (folder / each.name).exists():
                (folder / each.name).symlink_to(each)
    return folder


@pytest.fixture
def without_qt(packages, tmp_path):
    """Runs Python in a folder of pictures, where Qt cannot be imported; gives what came of it."""

    def run(*words, program=None):
        return run_without_qt(packages, tmp_path, program or command(*words))

    return run


@pytest.fixture(scope="module")
def all_without_qt(packages, tmp_path_factory):
    """Runs one program after the other in one process, each in a folder of its own."""

    def run(programs):
        said = run_without_qt(packages, tmp_path_factory.getbasetemp(), EACH.format(programs))
        assert (said.returncode, said.stderr) == (0, "")
        return [SimpleNamespace(**each) for each in json.loads(said.stdout)]

    return run


def command(*words):
    return f"import sys\nfrom workbench.cli.main import main\nsys.exit(main({list(words)!r}))"


def run_without_qt(packages, folder, program):
    path = os.pathsep.join(map(str, (ROOT, packages)))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-S", "-c", BEGINNING + program],  # -S: without what is installed
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows asks before it links")


@pytest.fixture(scope="module")
def applied(all_without_qt, tmp_path_factory):
    """{(name, pixel type, channels): (folder, what came of filtering it there)}."""
    folders = [tmp_path_factory.mktemp("applied") for _ in KINDS]
    programs = []
    for folder, (name, pixel_type, channels) in zip(folders, KINDS, strict=True):
        image_files.save(folder / name, noise(20, 30, channels, pixel_type))
        words = ("apply", name, target_of(name), "--filter", "sharpen", "--json", "--no-gpu")
        programs.append((str(folder), command(*words)))
    return dict(zip(KINDS, zip(folders, all_without_qt(programs), strict=True), strict=True))


def target_of(name):
    return f"b{Path(name).suffix}"


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "pixel_type", "channels"), KINDS)
def test_apply_reads_and_writes_every_kind_of_file(applied, name, pixel_type, channels):
    folder, said = applied[name, pixel_type, channels]
    assert (said.returncode, said.stderr) == (0, "")
    found = json.loads(said.stdout)
    assert found["check"]["ok"]
    assert (found["pixel_type"], found["channels"]) == (pixel_type, channels)
    assert image_files.load(folder / target_of(name)).samples.dtype == pixel_type


def test_colour_profiles_are_applied(without_qt, tmp_path):
    import tifffile

    icc = bytes(QColorSpace(QColorSpace.NamedColorSpace.DisplayP3).iccProfile().data())
    samples = noise(20, 30, 3, "uint16")
    tifffile.imwrite(tmp_path / "p3.tif", samples, photometric="rgb", iccprofile=icc)
    said = without_qt("apply", "p3.tif", "out.tif", "--filter", "identity", "--no-gpu")
    assert (said.returncode, said.stderr) == (0, "")
    assert "to sRGB" in said.stdout
    np.testing.assert_array_equal(
        image_files.load(tmp_path / "out.tif").samples,
        image_files.load(tmp_path / "p3.tif").samples,
    )
    assert not np.array_equal(image_files.load(tmp_path / "p3.tif").samples, samples)


def words_of(state):
    """The arguments of the copied command."""
    return shlex.split(command_line(state))[1:]


def test_a_copied_script_and_command_run(all_without_qt, tmp_path):
    image_files.save(tmp_path / "a.png", noise(20, 30, 3))
    choices = CHOICES["custom"]
    loaded = image_files.load(tmp_path / "a.png").stored_as(choices.get("pixel_type"))
    state = State(picture=loaded, **choices)
    copied = python(state) + "\nimport numpy; numpy.save('filtered.npy', filtered)\n"
    by_words = command(*words_of(state), "--no-gpu")
    script, by_command = all_without_qt([(str(tmp_path), copied), (str(tmp_path), by_words)])
    answer = Engine(use_gpu=False).run(intents.job_for(state)).picture
    assert (script.returncode, script.stderr) == (0, "")
    assert "verified" in script.stdout
    np.testing.assert_array_equal(np.load(tmp_path / "filtered.npy"), answer)
    assert (by_command.returncode, by_command.stderr) == (0, "")
    written = tmp_path / words_of(state)[2]
    np.testing.assert_array_equal(image_files.load(written).samples, answer)


def test_sessions_are_compared(without_qt):
    session = str(ROOT / "assets" / "recorded" / "camerino_image_size.jsonl.gz")
    said = without_qt("compare", session, session)
    assert (said.returncode, said.stderr) == (0, "")


def test_there_is_no_qt_and_what_needs_a_window_says_so_in_a_sentence(without_qt):
    find = f"print([name for name in {QT!r} if importlib.util.find_spec(name)], flush=True)\n"
    said = without_qt(program=f"import importlib.util\n{find}{command('shot', 'out.png')}")
    assert (said.returncode, said.stdout) == (1, "[]\n")
    lines = [line for line in said.stderr.splitlines() if not line.startswith("LOADED")]
    assert len(lines) == 1  # beside those of the look for what Qt needs
    assert lines[0].startswith("workbench: Qt ")
