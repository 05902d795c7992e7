"""The command line: what it understands, what it says when it does not, and what it imports."""

import json
import runpy
import signal
import subprocess
import sys

import pytest

from kernels import filters
from kernels.core.version import program_version
from kernels.engine.engine import all_implementations
from kernels.pictures import generated
from kernels.rungs.rung import BrokenRung
from kernels.sweeps.presets import presets
from tests.conftest import ROOT
from workbench.base import diagnostics, qt_libraries
from workbench.cli import main
from workbench.cli.main import COMMANDS
from workbench.files import image_files

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="about Linux's displays")
HEAVY = ("PySide6", "pyqtgraph", "cupy", "numba", "cv2", "PIL", "tifffile", "imageio")
NOT_FOR_FILES = ("PySide6", "pyqtgraph", "cupy", "numba", "requests", "pooch", "jinja2")


def workbench(*words, **options):
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        **options,
    )


@pytest.fixture
def refused(capsys):
    """What stderr says about words that are no command line."""

    def refused(*words):
        with pytest.raises(SystemExit) as stop:
            main.parse(words)
        assert stop.value.code == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        return said.err

    return refused


@pytest.mark.parametrize("words", [["apply", "a.png", "b.png"], ["batch", "a.png", "out"]])
def test_filtering_files_imports_nothing_that_it_does_not_use(tmp_path, words):
    image_files.save(tmp_path / "a.png", generated.noise(20, 30, 3))
    script = (
        "import sys\nfrom workbench.cli.main import main\n"
        f"assert main([*{words}, '--implementation', 'opencv', '--no-gpu']) == 0\n"
        f"print([name for name in {NOT_FOR_FILES} if name in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert said.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["apply", "--help"]])
def test_help_and_version_import_nothing_heavy(words):
    script = (
        "import sys\nfrom workbench.cli.main import main\n"
        f"try:\n    main({words})\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main.parse([command, "--help"])
    assert stop.value.code == 0
    assert f"workbench {command}" in capsys.readouterr().out


def test_version_is_the_package_s(capsys):
    with pytest.raises(SystemExit) as stop:
        main.parse(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"workbench {program_version()}\n"


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit):
        main.parse(["--help"])
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said for name in main.COMMANDS)


def test_words_that_are_no_command_are_pictures_for_the_window(tmp_path):
    picture = tmp_path / "photo.png"
    arguments = main.parse([str(picture), "--filter", "sobel_x"])
    assert arguments.command == "window"
    assert arguments.images == [picture]
    assert arguments.filter == "sobel_x"


def test_a_bare_word_that_is_no_file_was_meant_to_be_a_command(refused):
    assert "no command or file 'aply' (did you mean apply?)" in refused("aply", "photo.png")
    assert "no command or file 'doctro' (did you mean doctor?)" in refused("doctro")
    assert "no command or file 'xyzzy';" in refused("xyzzy")


def test_a_file_may_have_a_bare_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photo").touch()
    assert main.parse(["photo"]).command == "window"


def test_options_may_stand_between_the_files(tmp_path):
    arguments = main.parse(["apply", "a.png", "--size", "3", "b.png", "--border", "wrap", "out"])
    assert [str(each) for each in arguments.inputs] == ["a.png", "b.png"]
    assert str(arguments.output) == "out"
    assert (arguments.size, arguments.border) == (3, "wrap")


@pytest.mark.parametrize(
    "words", ["in.png -dash.png", "-dash.png out.png", "a.png b.png -dash.png"]
)
def test_a_name_that_begins_with_a_dash_is_refused_with_the_way_to_write_it(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main.parse(["apply", *words.split()])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("workbench apply: -dash.png is taken for an option")
    assert "./-dash.png" in said
    assert len(said.splitlines()) == 1


def test_a_block_shape_is_x_by_y():
    assert main.parse(["apply", "a", "b", "--block", "32x8"]).block == (32, 8)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["apply", "a.png"], "OUT"),
        (["apply", "a", "b", "--colour"], "--colour"),
        (["apply", "a", "b", "--siz", "3"], "--siz"),
        (["apply", "a", "b", "--size", "five"], "--size takes an odd number such as 5, not 'five'"),
        (["apply", "a", "b", "--sigma", "x"], "--sigma takes a number such as 1.5, not 'x'"),
        (["apply", "a", "b", "--size"], ": --size needs a value;"),
        (["apply", "a", "b", "--no-gpu=no"], "--no-gpu takes no value, not 'no'"),
        (["shot", "a.png", "--theme", "x"], "--theme takes system, light or dark, not 'x'"),
        (["apply", "a", "b", "--block", "32"], "two numbers with an x between"),
        (["apply", "a", "b", "--block", "0x8"], "such as 32x8, not '0x8'"),
        (["list", "--device", "-1"], "--device takes a whole number from 0 up, not '-1'"),
        (["list", "extra"], "extra"),
        (["bench", "startup"], "BENCH takes kernels, cpu or batch"),
        (["bench", "batch", "--runs", "0"], "from 1 up, not '0'"),
        (["bench", "kernels", "--sizes", "3;5"], "--sizes takes an odd number"),
        (["tune", "--picture", "512"], "two numbers with an x between"),
        (["tune", "--channels", "1,5"], "--channels takes 1, 2, 3 or 4, not '5'"),
        (["launch"], "--implementation"),
        (["shot"], "OUT.png"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(words, complaint, refused):
    assert complaint in refused(*words)


@pytest.mark.parametrize(
    "words", [["apply", "{}", "b.png"], ["apply", "a.png", "{}"], ["check", "{}.cu"]]
)
def test_a_name_that_no_file_can_have_is_refused_in_one_sentence(words, capsys):
    assert main.main([word.format("a" * 300) for word in words]) == 2
    said = capsys.readouterr().err
    assert said == f"workbench: No file can have a name as long as {'a' * 40}…; check it.\n"


def test_without_qt_there_is_a_sentence(tmp_path):
    code = (
        "import sys\nsys.modules['PySide6'] = None\n"
        "from workbench.cli.main import main\nsys.exit(main(['shot', 'a.png']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith("workbench: Qt does not load")


def test_a_reader_that_goes_away_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_quietly_and_leaves_no_file(tmp_path):
    image_files.save(tmp_path / "first.png", generated.checkerboard())
    image_files.save(tmp_path / "second.png", generated.noise(1500, 1500))
    words = ["--filter", "box", "--size", "127", "--implementation", "sequential", "--no-gpu"]
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "apply", "first.png", "second.png", "out", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert b"first.png" in process.stdout.readline()  # so it is at the second, for minutes
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == (b"", b"")
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["first.png"]


def test_list_shows_what_there_is_and_why_not():
    said = workbench("list", "--no-gpu")
    assert said.returncode == 0
    for word in ("gaussian", "--sigma", "laplacian_of_gaussian", "mirror", "sequential", "opencv"):
        assert word in said.stdout
    assert "Not here: global, constant, shared" in said.stdout
    assert "--no-gpu" in said.stdout


def test_list_draws_the_borders_by_their_definition(capsys):
    assert main.main(["list", "--no-gpu"]) == 0
    said = capsys.readouterr().out
    for line in ("zero     0 0 0 | a b c d | 0 0 0", "mirror   d c b | a b c d | c b a"):
        assert line in said


def test_list_tells_programs_all_it_tells_people(capsys):
    assert main.main(["list", "--no-gpu", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(found) == ["borders", "filters", "implementations", "presets"]
    by_key = {each["key"]: each for each in found["filters"]}
    assert [each.key for each in filters.all_filters()] == list(by_key)
    unsharp = by_key["unsharp"]
    assert (unsharp["min_size"], unsharp["max_size"]) == (1, 127)
    assert {"name": "amount", "low": 0.0, "high": 10.0, "default": 1.0} in unsharp["parameters"]
    assert [each["key"] for each in found["filters"] if each["takes_weights"]] == ["custom"]
    assert {"key": "mirror", "sketch": "d c b | a b c d | c b a"} in found["borders"]
    here = {each["key"]: each["why_not"] for each in found["implementations"]}
    assert list(here) == ["auto", *(each.key for each in all_implementations())]
    assert here["auto"] is here["opencv"] is None
    assert here["shared"].startswith("The GPU was switched off with --no-gpu.")
    assert [each["key"] for each in found["presets"]] == [each.key for each in presets()]


def test_list_tells_programs_the_one_list_that_is_named(capsys):
    assert main.main(["list", "borders", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["borders"]


def test_doctor_tells_programs_what_it_tells_people(capsys, monkeypatch):
    assert main.main(["doctor", "--no-gpu"]) == 0
    words = capsys.readouterr().out
    assert main.main(["doctor", "--no-gpu", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(name in words and value in words for name, value in found["facts"].items())
    assert found["facts"]["Filter Workbench"] == program_version()
    assert (found["has_gpu"], found["why_no_gpu"]) == (
        False,
        "The GPU was switched off with --no-gpu.",
    )
    assert found["why_no_window"] is None
    assert found["window"] in words
    monkeypatch.setattr(qt_libraries, "why_no_window", lambda _: "Qt needs a thing.")
    assert main.main(["doctor", "--no-gpu", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["why_no_window"], found["window"]) == ("Qt needs a thing.", None)


def test_doctor_names_rungs_that_cannot_be_used(capsys, monkeypatch):
    broken = BrokenRung("early", "01_early.cu", "01_early.cu, line 2: there is no field titel.")
    monkeypatch.setattr(diagnostics, "broken_rungs", lambda: (broken,))
    assert main.main(["doctor", "--no-gpu"]) == 0
    assert broken.reason in capsys.readouterr().out
    assert main.main(["doctor", "--no-gpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"]["Broken rungs"] == broken.reason


def test_doctor_names_versions_gpu_and_display(capsys, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert main.main(["doctor", "--no-gpu"]) == 0
    said = capsys.readouterr().out
    for word in (program_version(), "numba", "PySide6", "--no-gpu", "Qt platform"):
        assert word in said


@needs_linux
@pytest.mark.parametrize(
    ("platform", "sentence"),
    [
        (
            None,
            "No window opens, for lack of a display: `workbench` draws it into workbench.png.",
        ),
        ("offscreen", "The window opens unseen, as QT_QPA_PLATFORM=offscreen asks for"),
        ("wayland", "The window can open."),
    ],
)
def test_doctor_says_where_the_window_opens(platform, sentence, capsys, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    if platform is not None:
        monkeypatch.setenv("QT_QPA_PLATFORM", platform)
    assert main.main(["doctor", "--no-gpu"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(sentence)


@pytest.mark.skipif(sys.platform != "linux", reason="about Linux's libraries")
def test_doctor_names_the_package_that_is_missing(capsys, monkeypatch):
    monkeypatch.setitem(qt_libraries.ALWAYS, "libnothere.so.7", "libnothere7")
    assert main.main(["doctor", "--no-gpu"]) == 1
    said = capsys.readouterr().out
    assert "libnothere.so.7" in said
    assert "apt-get install libnothere7" in said


@pytest.mark.parametrize("words", [["list", "--no-gpu"], ["doctor", "--no-gpu"]])
def test_list_and_doctor_work_without_qt(words):
    script = (
        "import sys\nsys.modules['PySide6'] = None\n"
        f"from workbench.cli.main import main\nsys.exit(main({words}))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert said.stderr == ""
    assert ("Qt does not load" in said.stdout) == (words[0] == "doctor")
    assert said.returncode == (1 if words[0] == "doctor" else 0)


def test_the_setup_brings_the_libraries_that_the_program_asks_for():
    bootstrap = ROOT / "packaging" / "bootstrap.py"
    said = runpy.run_path(str(bootstrap), run_name="bootstrap")
    assert said["LIBRARIES"] == {**qt_libraries.ALWAYS, **qt_libraries.ON_X11}
