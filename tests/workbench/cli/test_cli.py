"""The command line: what it understands, what it refuses, and what it imports."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from time import sleep
from types import SimpleNamespace

import pytest

from kernels import filters
from kernels.core.version import program_version
from kernels.engine.engine import all_implementations
from kernels.pictures import generated
from kernels.sweeps.plan_files import presets
from tests.made_up import H200
from workbench.base import qt_libraries
from workbench.cli import inventory, main
from workbench.cli.main import COMMANDS, WINDOW
from workbench.files import image_files

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="about Linux's displays")
HEAVY = ("PySide6", "pyqtgraph", "cupy", "numba", "cv2", "PIL", "tifffile")
NOT_FOR_FILES = ("PySide6", "pyqtgraph", "cupy", "numba", "requests", "pooch", "jinja2")


def imported_after(script, names, cwd=None):
    """Those of `names` that a process has imported after `script`."""
    script += f"\nprint([name for name in {names} if name in sys.modules])"
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=cwd
    )
    return said.stdout.splitlines()[-1]


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


@pytest.fixture
def found(capsys):
    """Runs a command without a GPU; gives what it prints, as data with --json."""

    def run(*words, code=0):
        assert main.main([*words, "--no-gpu"]) == code
        said = capsys.readouterr().out
        return json.loads(said) if "--json" in words else said

    return run


def test_filtering_files_imports_nothing_that_it_does_not_use(tmp_path):
    image_files.save(tmp_path / "a.png", generated.noise(20, 30, 3))
    how = "'--implementation', 'opencv', '--no-gpu'"
    script = (
        "import sys\nfrom workbench.cli.main import main\n"
        f"for words in (['apply', 'a.png', 'b.png'], ['batch', 'a.png', 'out']):\n"
        f"    assert main([*words, {how}]) == 0\n"
    )
    assert imported_after(script, NOT_FOR_FILES, tmp_path) == "[]"


def test_an_interrupt_of_the_imports_is_quiet():
    script = (
        "import signal\nimport sys\nfrom workbench.__main__ import start\n"
        "class Interrupted:\n    def find_spec(name, *_):\n"
        "        if name == 'workbench.cli.main':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted)\nsys.exit(start())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


HELPS = [["--help"], *([name, "--help"] for name in COMMANDS)]


@pytest.mark.parametrize(
    ("commands", "heavy"), [(HELPS, ("numpy", "kernels", *HEAVY)), ([["--version"]], HEAVY)]
)
def test_help_version_and_parsing_import_nothing_heavy(commands, heavy):
    script = (
        "import sys\nfrom workbench.cli.main import main, parse\n"
        f"parse(['a.png', '--sigma', '2'])\nfor words in {commands}:\n"
        "    try:\n        main(words)\n"
        "    except SystemExit as stop:\n        assert not stop.code\n"
    )
    assert imported_after(script, heavy) == "[]"


def test_every_command_has_a_help_and_stands_in_that_of_the_program(capsys):
    for words in (["--help"], *([name, "--help"] for name in COMMANDS)):
        with pytest.raises(SystemExit) as stop:
            main.parse(words)
        assert stop.value.code == 0
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said and f"workbench {name}" in said for name in COMMANDS)


def test_a_bare_word_that_is_no_file_was_meant_to_be_a_command(refused):
    assert "did you mean apply?" in refused("aply", "photo.png")
    assert "did you mean doctor?" in refused("doctro")
    assert "did you mean" not in refused("xyzzy")


def test_options_may_stand_between_the_files(tmp_path):
    words = ["a.png", "--size", "3", "b.png", "--border", "wrap", "out", "--block", "32x8"]
    arguments = main.parse(["apply", *words])
    assert [str(each) for each in arguments.inputs] == ["a.png", "b.png"]
    assert str(arguments.output) == "out"
    assert (arguments.size, arguments.border, arguments.block) == (3, "wrap", (32, 8))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("apply a.png", "OUT"),
        ("apply -a.png b.png", "write ./-a.png"),
        ("apply a b --colour", "--colour"),
        ("apply a b --siz 3", "--siz"),
        ("apply a b --size five", "--size takes an odd number such as 5, not 'five'"),
        ("apply a b --sigma x", "--sigma takes"),
        ("apply a b --size", "--size expected"),
        ("apply a b --no-gpu=no", "--no-gpu ignored"),
        ("apply a b --block 32", "32x8"),
        ("apply a b --block 0x8", "32x8"),
        ("apply a b --quality 101", "100"),
        ("apply a b --memory 0G", "500M"),
        ("apply a b --device 0,0", "--device takes"),
        ("apply a b --weights 1 --offset=1/0", "--offset takes"),
        ("batch a b --jobs 0", "from 1"),
        ("batch a b --verify 0", "a number such as 100"),
        ("apply a b --verify -1", "a number such as 100"),
        ("apply a b --weights 1 --offset=128", "-1 to 1"),
        ("apply a b --weights 1 --offset=half", "--offset takes"),
        ("batch a b --shard 5/4", "I/N"),
        ("batch a b --shard 2", "I/N"),
        ("batch a b --scheduler head", "tcp://head:8786"),
        ("sweep a --seconds nan", "--seconds takes"),
        ("list --device -1", "from 0"),
        ("list extra", "extra"),
        ("bench startup", "kernels, cpu or batch"),
        ("bench batch --runs 0", "from 1"),
        ("bench kernels --sizes 3;5", "--sizes takes"),
        ("tune --picture 512", "32x8"),
        ("tune --channels 1,5", "1, 2, 3 or 4, not '5'"),
        ("launch", "--implementation"),
        ("shot", "OUT.png"),
        ("shot a.png --theme x", "light or dark, not 'x'"),
        ("shot a.png --size-px 20000x9", "16384"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(words, complaint, refused):
    assert complaint in refused(*words.split())


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_an_empty_value_or_name_is_refused_of_every_option(command, refused):
    text = (COMMANDS[command] if command else WINDOW).options
    options = re.findall(r"^ +(--[\w-]+)", text, re.MULTILINE)
    assert "--help" not in options
    empty = [[f"{name}{end}"] for name in options for end in ("=", "=--")]
    for words in ([""], ["a", ""], ["", "--"], *empty):
        said = refused(*filter(None, [command]), *words)
        assert "there is no name or value in '" in said


@pytest.mark.parametrize(
    "words", [["apply", "{}", "b.png"], ["apply", "a.png", "{}"], ["check", "{}.cu"]]
)
def test_a_name_that_no_file_can_have_is_a_sentence(words, capsys):
    assert main.main([word.format("a" * 300) for word in words]) in (1, 2)
    said = capsys.readouterr().err
    assert said.startswith("workbench: ")
    assert said.count("\n") == 1


def test_ctrl_c_ends_quietly_and_leaves_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    image_files.save("first.png", generated.checkerboard())
    image_files.save("second.png", generated.noise(1500, 1500))

    def interrupt():
        while "\n" not in sys.stdout.getvalue():  # which says that the first is there
            sleep(0.01)
        signal.raise_signal(signal.SIGINT)  # it is at the second, for minutes

    words = ["--filter", "box", "--size", "127", "--implementation", "sequential", "--no-gpu"]
    thread = Thread(target=interrupt)
    thread.start()
    assert main.main(["apply", "first.png", "second.png", "out", *words]) == 130
    thread.join()
    said = capsys.readouterr()
    assert (said.out.count("\n"), said.err) == (1, "")
    assert [each.name for each in Path("out").iterdir()] == ["first.png"]


# -- list


def test_list_tells_programs_all_it_tells_people(found):
    listed = found("list", "--json")
    assert sorted(listed) == ["borders", "filters", "implementations", "presets", "steps"]
    by_key = {each["key"]: each for each in listed["filters"]}
    assert [each.key for each in filters.all_filters()] == list(by_key)
    unsharp = by_key["unsharp"]
    assert (unsharp["min_size"], unsharp["max_size"]) == (1, 127)
    assert {"name": "amount", "low": 0.0, "high": 10.0, "default": 1.0} in unsharp["parameters"]
    assert [each["key"] for each in listed["filters"] if each["takes_weights"]] == ["custom"]
    assert {"key": "mirror", "sketch": "d c b | a b c d | c b a"} in listed["borders"]
    here = {each["key"]: each["why_not"] for each in listed["implementations"]}
    assert list(here) == ["auto", *(each.key for each in all_implementations())]
    assert here["auto"] is here["opencv"] is None
    assert "--no-gpu" in here["shared"]
    assert [each["key"] for each in listed["presets"]] == [each.key for each in presets()]


def test_list_has_the_implementations_of_one_filter(found, capsys):
    listed = found("list", "--filter", "percentile", "--json")["implementations"]
    keys = [each["key"] for each in listed]
    on_cpu = ["sequential", "parallel", "opencv"]
    assert keys == ["auto", *on_cpu, "median_sort", "rank_bits", "rank_tile"]
    assert "the same as Percentile" in listed[3]["why_not"]
    for wrong, said in ((["medain"], "mean median"), (["median", "borders"], "leave it out")):
        assert main.main(["list", "--filter", *wrong]) == 2
        assert said in capsys.readouterr().err


def test_where_there_is_a_gpu_all_rungs_are_listed_without_a_reason():
    listed = inventory._implementations(SimpleNamespace(device=H200), None)
    assert [each["why_not"] for each in listed] == [None] * len(listed)
    assert len(listed) == 1 + len(all_implementations())


# -- doctor


def test_doctor_tells_programs_what_it_tells_people(found, monkeypatch):
    words, data = found("doctor"), found("doctor", "--json")
    assert all(name in words and value in words for name, value in data["facts"].items())
    assert data["facts"]["Filter Workbench"] == program_version()
    assert data["has_gpu"] is False
    assert "--no-gpu" in data["why_no_gpu"]
    assert data["why_no_window"] is None
    assert data["window"] in words
    monkeypatch.setattr(qt_libraries, "why_no_window", lambda _: "Qt needs a thing.")
    data = found("doctor", "--json", code=1)
    assert (data["why_no_window"], data["window"]) == ("Qt needs a thing.", None)


@needs_linux
@pytest.mark.parametrize(
    ("platform", "word"),
    [(None, "workbench.png"), ("offscreen", "unseen"), ("wayland", "can open")],
)
def test_doctor_says_where_the_window_opens(platform, word, found, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    if platform is not None:
        monkeypatch.setenv("QT_QPA_PLATFORM", platform)
    assert word in found("doctor").splitlines()[-1]


@needs_linux
def test_doctor_names_the_package_that_is_missing(found, monkeypatch):
    monkeypatch.setitem(qt_libraries.ALWAYS, "libnothere.so.7", "libnothere7")
    said = found("doctor", code=1)
    assert "libnothere.so.7" in said
    assert "apt-get install libnothere7" in said
