"""`workbench sweep`: into a folder, killed and resumed, with a GPU that is made up and without."""

import csv
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kernels.core.errors import DeviceLostError, SessionFileError
from kernels.core.job import Progress
from kernels.core.version import program_version
from kernels.pictures import generated
from kernels.sweeps import estimate
from kernels.sweeps.estimate import ROUNDS
from kernels.sweeps.plan_files import plan_of
from kernels.sweeps.plan_keys import KEYS
from kernels.sweeps.record import Measurement
from kernels.sweeps.session_files import SessionFile, read_session
from tests.workbench.engines import MadeUpGpu
from workbench.cli import main
from workbench.cli import measure_plan as sweep
from workbench.files import image_files

SMALL = """
title = "Small pictures"
implementation = ["sequential", "opencv"]
size = [16, "24x20"]
kernel_size = [3, 5]
[sampling]
max_samples = 6
min_samples = 1
max_seconds = 60
warmup_seconds = 0
"""
# Some seconds in all, and a part of a cell every few hundredths of one.
LONG = """
title = "Long"
implementation = "sequential"
size = 96
kernel_size = [3, 5, 7, 9, 11, 13, 15, 17, 19, 21]
[sampling]
max_samples = 1000000
min_samples = 2
max_seconds = 0.4
noise = 0
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, with plans small.toml and long.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "long.toml").write_text(LONG)
    return tmp_path


@pytest.fixture
def in_a_hurry(monkeypatch):
    """Here, not in other processes, a round of a cell takes a few samples only."""

    whole = estimate.part_of

    def part_of(sampling, number):
        return replace(whole(sampling, number), max_seconds=0.005)

    monkeypatch.setattr(estimate, "part_of", part_of)


@pytest.fixture
def on_gpu(monkeypatch):
    """Commands run on a made-up GPU; call it with another class of engine."""

    def use(engine=MadeUpGpu):
        monkeypatch.setattr(sweep, "engine_maker", lambda arguments: engine)

    use()
    return use


def run(*words):
    return main.main(["sweep", *map(str, words), "--no-gpu"])


def cells(folder):
    return [record.cell for record in read_session(Path(folder)).records]


def test_a_folder_that_cannot_be_made_is_said_in_our_words(here, capsys):
    assert run("small.toml", "--out", "small.toml/deeper") == 1
    said = capsys.readouterr().err
    assert said == (
        "workbench: small.toml/deeper cannot be made (its folder is not a folder; choose another "
        "one).\n"
    )


def test_a_plan_is_measured_into_a_folder(here, capsys):
    assert run("small.toml", "--out", "results") == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("Small pictures\n8 cells: 2 size × 2 kernel_size × ")
    assert re.search(
        r"To measure: 8 cells, in (about|less than) .*\. On .*, into results\.", said.out
    )
    assert re.search(r"24×20 +5×5 +OpenCV +[\d.]+ +", said.out)
    assert "Kept in results." in said.out
    session = read_session(here / "results")
    assert len(session.records) == 8
    assert all(record.verified for record in session.records)
    assert session.machine.no_gpu
    with (here / "results" / "session.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["implementation"] for row in rows] == [c.implementation for c in cells("results")]
    assert all(row["check"] == "passed" for row in rows)


def test_a_preset_is_measured_by_its_name_and_without_a_gpu_says_why(here, capsys):
    assert run("camerino_correctness", "--implementations", "opencv,shared", "--out", "c") == 0
    said = capsys.readouterr().out
    assert "Università di Camerino: correctness" in said
    assert re.search("Shared-memory tile.* refused: The GPU was switched off with --no-gpu.", said)
    assert "Laplacian has no size 5; it takes 3 only." in said
    measured = [r for r in read_session(here / "c").records if isinstance(r.outcome, Measurement)]
    assert {record.cell.implementation for record in measured} == {"opencv"}
    assert len(measured) == 8


def test_what_a_folder_holds_is_not_written_over_and_no_other_plan_goes_on_with_it(here, capsys):
    assert run("small.toml", "--out", "a") == 0
    before = (here / "a" / "session.jsonl").read_bytes()
    assert run("small.toml", "--out", "a") == 2
    assert "a holds a session already; add --resume" in capsys.readouterr().err
    assert (here / "a" / "session.jsonl").read_bytes() == before
    assert run("long.toml", "--out", "a", "--resume") == 1
    assert "another plan" in capsys.readouterr().err
    assert len(cells("a")) == 8


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["camerino_imag"], "no preset 'camerino_imag'; did you mean camerino_image_size?"),
        (["xyz"], "no preset 'xyz'; choose from"),
        (["a/session.jsonl"], "is a session; `workbench report a/session.jsonl` shows it"),
        (["none.toml"], "none.toml cannot be read"),
        (["broken.toml"], "broken.toml is not TOML"),
        (["small.toml", "--implementations", "shard"], "no implementation 'shard'"),
        (["small.toml", "--out", "small.toml"], "small.toml is a file; name a folder"),
        (["small.toml", "--resume"], "--resume needs --out DIR"),
        (["small.toml", "--resume", "--out", "new"], "no session in new to resume"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_made(words, complaint, here, capsys):
    (here / "broken.toml").write_text("title = ")
    before = sorted(here.iterdir())
    assert run(*words) == 2
    said = capsys.readouterr()
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert sorted(here.iterdir()) == before


def test_a_time_limit_is_kept_and_shown_and_where_nothing_keeps_it_nothing_was_measured(
    here, capsys
):
    (here / "slow.toml").write_text(
        'title = "Slow"\nimplementation = "sequential"\nsize = [1200, 1500]\nkernel_size = 63\n'
    )
    assert run("slow.toml", "--seconds", "0.1", "--out", "s") == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("workbench: Nothing was measured")
    said = captured.out
    assert "Given up: not finished after 0.1 s." in said
    assert "Not begun: 1200² did not finish" in said


def test_a_plan_of_billions_of_cells_is_refused_by_its_count(here, capsys):
    sizes = ", ".join(map(str, range(1, 20_001)))
    blocks = ", ".join(f'"{x}x{y}"' for x in range(1, 33) for y in range(1, 33))
    (here / "huge.toml").write_text(
        f'title = "Huge"\nimplementation = ["shared", "opencv"]\nsize = [{sizes}]\n'
        f"block = [{blocks}]\nkernel_size = [{', '.join(map(str, range(1, 128, 2)))}]\n"
    )
    assert run("huge.toml", "--out", "h") == 2
    assert "1,312,000,000 cells; at most 200,000" in capsys.readouterr().err
    assert not (here / "h").exists()


def test_json_is_one_document_on_stdout_and_all_else_on_stderr(here, capsys):
    assert run("small.toml", "--out", "a", "--json") == 0
    said = capsys.readouterr()
    data = json.loads(said.out)
    assert said.out.count("\n") == 1
    assert "Small pictures\n8 cells" in said.err
    assert "Kept in a." in said.err
    assert (data["command"], data["cells"], data["measured"]) == ("sweep", 8, 8)
    assert (data["folder"], data["is_complete"]) == ("a", True)
    assert data["program"] == program_version() == data["machine"]["software"]["Filter Workbench"]
    session = read_session(here / "a")
    for told, record in zip(data["records"], session.records, strict=True):
        assert told["cell"]["implementation"] == record.cell.implementation
        assert told["median_ms"] == pytest.approx(record.verified.kernel.median_ms, rel=1e-4)
        low, high = told["interval_ms"]
        assert low <= told["median_ms"] <= high
        assert (told["verified"], told["why_not"], told["rounds"]) == (True, None, 6)
        is_baseline = record.cell.implementation == data["baseline"]
        assert told["speed_up"]["low"] <= told["speed_up"]["ratio"] <= told["speed_up"]["high"]
        assert not is_baseline or told["speed_up"]["ratio"] == 1


def test_pictures_beside_the_plan_are_measured_in_their_own_size(here, capsys):
    (here / "plans").mkdir()
    image_files.save(here / "plans" / "a.png", generated.noise(20, 30, 3))
    (here / "plans" / "mine.toml").write_text(
        'title = "Mine"\nimplementation = "opencv"\npicture = ["a.png", "noise"]\nsize = 16\n'
        'channels = 3\npixel_type = "uint8"\n'
    )
    assert run("plans/mine.toml", "--out", "m") == 0
    assert [(c.picture, c.width, c.height) for c in cells("m")] == [
        ("a.png", 30, 20), ("noise", 16, 16),
    ]  # fmt: skip
    (here / "plans" / "a.png").unlink()
    assert run("plans/mine.toml", "--out", "n") == 1
    assert "a.png" in capsys.readouterr().err
    assert not (here / "n").exists()


def test_a_plan_may_name_a_built_in_picture(here):
    plan = 'title = "Mine"\nimplementation = "opencv"\npicture = "Evening scene.png"\n'
    (here / "mine.toml").write_text(f"{plan}channels = 3\n")
    assert run("mine.toml", "--out", "m") == 0
    assert [(c.width, c.height) for c in cells("m")] == [(768, 512)]


def test_a_picture_that_has_become_another_does_not_go_on_with_a_session(here, capsys):
    text = SMALL.replace('size = [16, "24x20"]', 'picture = "a.png"')
    (here / "own.toml").write_text(text)
    image_files.save(here / "a.png", generated.noise(20, 30, 1))
    assert run("own.toml", "--out", "a") == 0
    before = (here / "a" / "session.jsonl").read_bytes()
    image_files.save(here / "a.png", generated.noise(24, 30, 1))
    capsys.readouterr()
    assert run("own.toml", "--out", "a", "--resume") == 1
    complaint = "workbench: a.png has 30×24 pixels now, and this session measured another.\n"
    assert capsys.readouterr().err == complaint
    assert (here / "a" / "session.jsonl").read_bytes() == before


def test_on_a_gpu_every_cell_has_its_time(here, on_gpu, capsys):
    (here / "gpu.toml").write_text(
        'title = "GPU"\nimplementation = ["opencv", "shared", "ring"]\nsize = [16, 32]\n'
        'block = ["8x8", "16x16"]\ntransfers = true\n'
    )
    assert main.main(["sweep", "gpu.toml", "--out", "g"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"16² +Shared-memory tile +8×8 +[\d.]+ ", said)
    session = read_session(here / "g")
    assert session.machine.gpu == "NVIDIA Made Up 1"
    on_device = [r.verified for r in session.records if r.cell.implementation != "opencv"]
    assert len(on_device) == 6
    assert all(each.transfers and each.occupancy for each in on_device)


def test_a_lost_device_loses_nothing_measured(here, on_gpu, capsys):
    class Failing(MadeUpGpu):
        def filtering(self, job, sampling=None):
            if job.ksize == 5 and job.implementation == "shared":
                yield Progress("compiling")
                raise DeviceLostError("The GPU failed while filtering.")
            yield from super().filtering(job, sampling)

    on_gpu(Failing)
    words = ["small.toml", "--implementations", "opencv,shared", "--out", "g"]
    assert main.main(["sweep", *words]) == 1
    said = capsys.readouterr()
    assert said.err == "workbench: The GPU failed while filtering.\n"
    assert "3 of 8 cells are kept in g" in said.out
    assert len(cells("g")) == 3
    on_gpu(MadeUpGpu)
    assert main.main(["sweep", *words, "--resume"]) == 0
    assert len(cells("g")) == 8


def test_a_full_disk_loses_nothing_measured(here, monkeypatch, capsys):
    append = SessionFile.append

    def appending(file, record):
        if len(file.cells) == 3:
            raise SessionFileError("A measurement could not be written (No space left on device).")
        append(file, record)

    monkeypatch.setattr(SessionFile, "append", appending)
    assert run("small.toml", "--out", "f") == 1
    said = capsys.readouterr()
    assert said.err.endswith("(No space left on device).\n")
    assert "It ended early: 3 of 8 cells are kept in f" in said.out
    assert len(cells("f")) == 3
    monkeypatch.setattr(SessionFile, "append", lambda *_: 1 / 0)  # a bug: to resume is no way out
    with pytest.raises(ZeroDivisionError):
        run("small.toml", "--out", "g")
    assert "To resume" not in capsys.readouterr().out


@contextmanager
def measuring(*words):
    """The command in a process of its own, once it has measured a few cells."""
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", "sweep", *map(str, words), "--no-gpu"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_lines(path, count, process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    pytest.fail("nothing was measured")


@pytest.mark.nightly
def test_killed_half_way_it_loses_nothing_and_goes_on(here, in_a_hurry, capsys):
    path = here / "k" / "session.jsonl"
    with measuring("long.toml", "--out", "k") as process:
        wait_for_lines(path, 4, process)
        process.kill()
        assert process.wait() == -signal.SIGKILL
    kept = read_session(path)
    assert len(kept.records) >= 3
    assert not all(record.is_complete for record in kept.records)
    path.write_bytes(path.read_bytes() + b'{"cell": {"impl')  # what it was writing when it died
    assert run("long.toml", "--out", "k", "--resume") == 0
    capsys.readouterr()
    whole = read_session(path)
    for before, after in zip(kept.records, whole.records, strict=False):
        begun = before.outcome.kernel.samples_ms
        assert after.outcome.kernel.samples_ms[: len(begun)] == begun
        assert len(after.outcome.kernel.rounds) == ROUNDS
    assert [record.cell for record in whole.records] == list(whole.plan.cells())
    assert whole.started == kept.started
    with (here / "k" / "session.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 10


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_is_told_to_end_keeps_what_there_is_and_says_how_to_go_on(
    here, in_a_hurry, monkeypatch, capsys, sent, code
):
    append, told = SessionFile.append, []

    def appending(file, record):
        append(file, record)
        if len(file.cells) == 3 and not told:
            told.append(sent)
            signal.raise_signal(sent)

    with monkeypatch.context() as patch:
        patch.setattr(SessionFile, "append", appending)
        assert run("long.toml", "--out", "k", "--seconds", "9") == code
    said = capsys.readouterr()
    assert said.err == ""
    kept = cells("k")
    assert f"Stopped: {len(kept)} of 10 cells are kept in k" in said.out
    with (here / "k" / "session.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(kept)
    words = shlex.split(said.out.splitlines()[-1])
    assert words[:2] == ["workbench", "sweep"]
    assert main.main(words[1:]) == 0
    assert cells("k")[: len(kept)] == kept
    assert len(cells("k")) == 10


def test_help_shows_a_plan_that_is_one_and_names_every_key(capsys):
    with pytest.raises(SystemExit):
        main.parse(["sweep", "--help"])
    said = capsys.readouterr().out
    lines = [line.strip() for line in said.splitlines() if re.match(r"  \w+ = ", line)]
    plan = plan_of("\n".join(lines))
    assert len(plan.cells()) == 2 * 3 * 3 * 2
    left_to_presets = {"source", "table", "sampling"}
    assert all(key in said for key in set(KEYS.values()) - left_to_presets)
