"""`workbench check`: kernels in real files, each with a row, whatever becomes of the others."""

import csv
import io
import json
import re
import signal
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from kernels.core.safe_files import FOLDER_VARIABLE
from kernels.cuda_on_cpu import cpu_runs
from kernels.rungs.own_kernels import starting_points
from tests.compilers import needs_compiler
from tests.first_kernel import steps
from workbench.batch import kernel_checks
from workbench.batch.check_jobs import COUNTED_AT, check_jobs
from workbench.cli import main

pytestmark = needs_compiler
RIGHT, COPY = steps()[6], steps()[3]
LOOP = RIGHT.replace(
    "    float sum = OFFSET;", "    float sum = OFFSET;\n    while (sum == sum) {}"
)
SYNTAX = RIGHT.replace("to_sample(sum);", "to_sample(sum)")
DASHES = "=1+1.cu"
MARKUP = "<b>&amp.cu"


@pytest.fixture
def folder(tmp_path, monkeypatch, build_cache):
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FOLDER_VARIABLE, str(build_cache.parent))
    return tmp_path


RGBA, FLOAT16 = 4, 6  # jobs


@pytest.fixture
def few_jobs(monkeypatch):
    """The first jobs alone, up to the counted one, each of which takes a compiler; and more."""

    def use(*more):
        chosen = (*range(COUNTED_AT + 1), *more)
        few = lambda seed: tuple(check_jobs(seed)[at] for at in chosen)  # noqa: E731
        monkeypatch.setattr(kernel_checks, "check_jobs", few)

    use()
    return use


def write(**texts):
    for name, text in texts.items():
        Path(f"{name}.cu").write_text(text, encoding="utf-8")


def check(*words):
    return main.main(["check", *words, "--no-gpu"])


def rows_of(text):
    """The rows of a printed table, by their first word."""
    return {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}


def test_a_right_kernel_is_verified_with_its_counts_and_without_a_time(folder, few_jobs, capsys):
    write(**{"my\nown": RIGHT})  # a name that no row may end at
    assert check("my\nown.cu") == 0
    said = capsys.readouterr().out
    row = rows_of(said)["my"]
    assert re.search(r"yes +verified on all jobs +loads 49, stores 1, operations 9[89]$", row)
    assert "1 kernel, 1 verified. On the CPU runtime: no time." in said
    assert "Counted per sample of 7×7, 53×27 float32 grey, wrap.\n" in said
    assert " ms" not in said


def test_a_text_on_standard_input_is_checked(folder, few_jobs, capsys, monkeypatch):
    for text, code in ((RIGHT, 0), (SYNTAX, 1)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        assert check("-", "--json") == code
        (row,) = json.loads(capsys.readouterr().out)["kernels"]
        assert row["file"] == "-"
    assert list(folder.glob("*.cu")) == []


def test_each_of_a_folder_has_its_row_and_what_one_does_costs_no_other(
    folder, few_jobs, capsys, monkeypatch
):
    monkeypatch.setattr(kernel_checks, "DEADLINE_S", 1.0)
    for sub in ("anna", "ben", ".hidden"):
        Path("hand-ins", sub).mkdir(parents=True)
    hand_ins = Path("hand-ins")
    (hand_ins / "anna" / "mine.cu").write_text(RIGHT)
    (hand_ins / "anna" / MARKUP).write_text(COPY)
    (hand_ins / "ben" / "mine.cu").write_text(LOOP)
    (hand_ins / "ben" / "syntax.cu").write_text(SYNTAX)
    (hand_ins / DASHES).write_bytes(b"\xff\xfe")
    (hand_ins / ".hidden" / "no.cu").write_text(RIGHT)
    (hand_ins / "notes.txt").write_text("")
    files = ["--csv", "marks.csv", "--html", "marks.html"]
    assert check("hand-ins", "--json", "--jobs", "2", *files) == 1

    document = json.loads(capsys.readouterr().out)
    rows = {row["file"]: row for row in document["kernels"]}
    assert list(rows) == [DASHES, f"anna/{MARKUP}", "anna/mine.cu", "ben/mine.cu", "ben/syntax.cu"]
    verdicts = [row["verdict"] for row in rows.values()]
    assert [row["counts"] is not None for row in rows.values()] == [
        verdict == "verified" for verdict in verdicts
    ]
    assert verdicts[3] in ("failed", "unfinished")  # by the clock, on a busy machine
    assert verdicts[:3] + verdicts[4:] == ["broken", "wrong", "verified", "broken"]
    assert len(document["jobs"]) == rows["anna/mine.cu"]["verified"] == COUNTED_AT + 1
    assert rows[f"anna/{MARKUP}"]["job"] == "3×3, 37×21 uint8 RGB, clamp"
    assert rows[f"anna/{MARKUP}"]["words"].startswith("x 0, y 0, red ")
    assert rows[f"anna/{MARKUP}"]["why"] == "It is the picture, unchanged."
    assert rows["ben/syntax.cu"]["words"].startswith("Line 21: ")
    assert "not UTF-8 text" in rows[DASHES]["words"]

    table = list(csv.DictReader(Path("marks.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["verdict"] for row in table] == verdicts
    assert table[0]["file"] == f"'{DASHES}"  # no formula
    of_text = sha256(RIGHT.encode()).hexdigest()
    assert [row["text_sha256"] for row in table].count(of_text) == 1
    assert table[0]["text_sha256"] == ""

    page = Path("marks.html").read_text(encoding="utf-8")
    assert "anna/&lt;b&gt;&amp;amp.cu" in page
    assert "It is the picture, unchanged." in page
    assert "<b>" not in page
    assert "On the CPU runtime: no time." in page
    assert str(folder) not in page
    assert page.count(of_text) == 1


def test_a_kernel_that_forgets_alpha_is_not_verified(folder, few_jobs, capsys):
    few_jobs(RGBA)
    assert "is_alpha(x)" in RIGHT
    write(mine=RIGHT.replace("is_alpha(x)", "false"))
    assert check("mine.cu") == 1
    row = rows_of(capsys.readouterr().out)["mine.cu"]
    assert "WRONG; right in 4 of 5 jobs" in row
    assert "7×7, 4×5 uint8 RGBA, reflect, offset: x 0, y 0" in row


def test_a_kernel_that_is_wrong_in_one_pixel_type_is_found(folder, few_jobs, capsys):
    few_jobs(FLOAT16)
    pixel_type, job = "float16", "3×3, 67×13 float16 grey, clamp"
    wrong = "to_sample(rintf(16 * sum) / 16)"
    pick = f"#define IS_{pixel_type} 1\n#define IT_IS_(x) IS_##x\n#define IT_IS(x) IT_IS_(x)\n"
    text = (
        f"{pick}#if IT_IS(SAMPLE)\n#define STORED {wrong}\n#else\n#define STORED to_sample(sum)\n"
    )
    refusal = f'requires = [["SAMPLE != \\"{pixel_type}\\"", "Not of {{SAMPLE}}."]]'
    write(mine=f"{text}#endif\n{RIGHT}".replace("= to_sample(sum);", "= STORED;"))
    assert check("mine.cu") == 1
    row = rows_of(capsys.readouterr().out)["mine.cu"]
    assert "WRONG; right in 4 of 5 jobs" in row
    assert f"{job}: x " in row
    write(mine=f"/*---\n{refusal}\n---*/\n" + Path("mine.cu").read_text(encoding="utf-8"))
    assert check("mine.cu") == 0
    row = rows_of(capsys.readouterr().out)["mine.cu"]
    assert re.search(rf"verified on 4 of 5 jobs +.* Not of {pixel_type}\.$", row)


def test_the_bug_is_looked_for_where_it_is_asked_for(folder, few_jobs, capsys):
    write(mine=steps()[7])
    assert check("mine.cu", "--find-bug") == 1
    found = rows_of(capsys.readouterr().out)["mine.cu"]
    assert "WRONG" in found
    assert "Line" in found


@pytest.mark.parametrize(
    "where", ["KSIZE == 3 && CHANNELS == 1", pytest.param("KSIZE == 7", marks=pytest.mark.nightly)]
)
def test_a_right_output_with_a_bug_is_not_verified(folder, few_jobs, capsys, where):
    below = f"    if ({where}) volatile sample below = src[(y + 40) * pitch + x];"
    write(mine=RIGHT.replace("    float sum = OFFSET;", f"{below}\n    float sum = OFFSET;"))
    assert check("mine.cu", "--json") == 1
    (row,) = json.loads(capsys.readouterr().out)["kernels"]
    assert row["verdict"] == "failed"
    assert "reads row" in row["bug"] + row["words"]


def test_a_hand_in_chooses_neither_its_jobs_nor_its_tolerance(folder, few_jobs, capsys):
    jobs = '/*---\nrequires = [["WIDTH == 37", "Only that picture."]]\n---*/\n'
    after = '/*---\nafter = "tensor"\nchain_length = "8"\nerror_factor = 4096.0\n---*/\n'
    rough = RIGHT.replace("to_sample(sum);", "to_sample(sum * 1.0005f);")
    new = "/*---\ncapability = [12, 0]\n---*/\n"
    write(jobs=jobs + RIGHT, tolerance=after + rough, new=new + RIGHT)
    assert check("jobs.cu", "tolerance.cu", "new.cu", "--seed", "3", "--strict", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["seed"], found["is_strict"]) == (3, True)
    one, other, new = found["kernels"]
    assert (one["verdict"], one["verified"], one["refused"]) == ("incomplete", 1, 3)
    assert other["verdict"] == "wrong"
    assert (new["verdict"], new["refused"]) == ("refused", 4)


CROP = 20  # the job with fewer samples at the edge
WHOLE = [each.text for each in starting_points() if each.filter][::-1]


@pytest.mark.parametrize(
    ("kernel", "instead", "verdict", "verified", "job"),
    [  # of a median, and of a dilation
        (0, (), "verified", 6, ""),
        pytest.param(1, (), "verified", 6, "", marks=pytest.mark.nightly),
        (1, ('"maximum"', '"extremes"'), "wrong", 4, "7×7, 45×18 uint8 RGB, mirror"),
        (1, ('"maximum"', '"minimum"'), "wrong", 0, "3×3, 37×21 uint8 RGB, clamp"),
        pytest.param(
            *(0, ("if (IS_DISK &&", "if (false &&"), "wrong", 5, "7×7, 53×27 float32 grey, wrap"),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_a_header_names_the_filter_that_a_kernel_is_held_against(
    folder, few_jobs, capsys, kernel, instead, verdict, verified, job
):
    few_jobs(RGBA, CROP)
    write(mine=WHOLE[kernel].replace(*instead) if instead else WHOLE[kernel])
    assert check("mine.cu", "--json") == (verdict != "verified")
    (row,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (row["verdict"], row["verified"], row["job"]) == (verdict, verified, job)


def test_all_hand_ins_are_held_against_one_filter_whatever_their_header_says(
    folder, few_jobs, capsys
):
    few_jobs(RGBA, CROP)
    median, dilation = WHOLE
    bare = median.partition("---*/")[2]
    write(bare=bare, dilation=dilation, flat=bare.replace("IS_DISK", "false"), mean=RIGHT)
    how = ["--filter", "median", "--size", "5", "--strict", "--json", "--jobs", "2"]
    assert check(".", *how, "--html", "marks.html") == 1
    found = json.loads(capsys.readouterr().out)
    verdicts = {row["file"]: (row["verdict"], row["refused"]) for row in found["kernels"]}
    assert found["filter"] == "median"
    assert all(each.startswith("5×5, ") and "offset" not in each for each in found["jobs"])
    right, refused = ("verified", 0), ("refused", len(found["jobs"]))
    assert list(verdicts.values()) == [right, refused, right, refused]
    words = {row["file"]: row["words"] for row in found["kernels"]}
    assert words["dilation.cu"].endswith("works out maximum (dilation), and the filter is Median.")
    assert "Held against Median." in Path("marks.html").read_text(encoding="utf-8")
    assert check("flat.cu", *how[:-3], "--disk") == 1


@pytest.mark.parametrize("words", [("sharpen",), ("percentile", "--percentile", "80")])
def test_that_filter_is_any_with_its_own_choices(folder, few_jobs, words):
    few_jobs(RGBA, CROP)
    bare = WHOLE[0].partition("---*/")[2]
    at = bare.replace("(count - 1) / 2", "PLACE").replace("count / 2]", "PLACE]")
    other = at.replace("PLACE", "min(int(count * PERCENTILE / 100), count - 1)")
    write(mine=RIGHT if words == ("sharpen",) else other)
    assert check("mine.cu", "--filter", *words) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--filter", "medain"], "did you mean median?"),
        (["--filter", "median", "--size", "4"], "Median has no size 4"),
        (["--filter", "median", "--percentile", "20"], "Median takes no --percentile."),
        (["--filter", "unsharp", "--threshold", "0.1"], "checked without --threshold, which is of"),
        (["--filter", "custom", "--size", "5"], "Custom weights takes no --size."),
        (["--size", "5"], "A check without --filter takes no --size."),
        (["--disk"], "A check without --filter takes no --disk."),
    ],
)
def test_options_that_make_no_filter_are_refused(folder, capsys, words, sentence):
    write(mine=RIGHT)
    assert check("mine.cu", *words) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--csv", "--html"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_checked(
    option, folder, capsys
):
    write(mine=RIGHT)
    Path("marks.csv").write_text("those of last year")
    assert check("mine.cu", "--csv", "marks.csv", option, "no folder/marks") == 1
    streams = capsys.readouterr()
    assert streams.out == ""
    assert "no folder/marks" in streams.err
    assert streams.err.count("\n") == 1
    assert Path("marks.csv").read_text() == "those of last year"


def test_a_kernel_that_starts_a_program_is_no_cuda_or_ended(folder, few_jobs, capsys, monkeypatch):
    evil = 'extern "C" int system(const char*);\n' + COPY.replace(
        "{\n", '{\n    if (threadIdx.x == 0) system("touch evil");\n', 1
    )
    write(mine=evil)
    assert check("mine.cu") == 1
    assert "__device__" in rows_of(capsys.readouterr().out)["mine.cu"]
    monkeypatch.setattr(cpu_runs, "cuda_errors", lambda *_: (each for each in ()))
    assert check("mine.cu") == 1
    row = rows_of(capsys.readouterr().out)["mine.cu"]
    assert "it asked the operating system for something, which no kernel may" in row
    assert not Path("evil").exists()


class Interrupting(io.TextIOWrapper):
    """A stderr that presses Ctrl+C once it tells of the second kernel's first job."""

    def write(self, text):
        if "b_loop.cu: job 1" in text:
            signal.raise_signal(signal.SIGINT)
        return super().write(text)


def test_ctrl_c_prints_the_rows_until_then(folder, few_jobs, capsys, monkeypatch):
    write(a_right=RIGHT, b_loop=LOOP)
    monkeypatch.setattr(sys, "stderr", Interrupting(io.BytesIO(), "utf-8"))
    assert check("a_right.cu", "b_loop.cu", "--progress") == 130
    said = capsys.readouterr().out
    assert "verified on all jobs" in rows_of(said)["a_right.cu"]
    assert "b_loop.cu" not in said
    assert "Stopped; not checked: 1." in said
