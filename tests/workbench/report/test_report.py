"""The report: what it says of a session, what it leaves out, and that anybody can read it."""

import base64
import csv
import errno
import io
import os
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from kernels import Engine, Job, filters
from kernels.core.cpu_load import Load
from kernels.core.timing import Timing
from kernels.cuda.device_pictures import Transfers
from kernels.sweeps.plan import OwnText, Plan
from kernels.sweeps.plan_files import plan_of, presets
from kernels.sweeps.record import EQUAL, Record, Session
from tests.made_sessions import H200, LAPTOP, STARTED, a_session, measured, wrong
from tests.workbench.report.reading_pages import read_page, table
from tests.workbench.report.written import notes_of, rows_of, write_report
from workbench.base.numbers import GAP
from workbench.report import method, writing
from workbench.report.method import commands_for
from workbench.report.report_figures import charts_of
from workbench.report.session_tables import SessionTables
from workbench.report.writing import ReportError

SMALL = Plan(
    "Small pictures", ("opencv", "global", "shared"), ((64, 64), (128, 128)), (3,), ((16, 16),)
)


@pytest.fixture
def report(tmp_path):
    """Writes the report of sessions; reads it as a page."""

    def write(*sessions, **more):
        path = write_report(sessions, tmp_path / "out", **more)
        return read_page(path.read_text(encoding="utf-8"))

    return write


def in_times(by_hand, sizes=((64, 64), (128, 128)), transfers=None, **more):
    """A session of SMALL's implementations that took what `by_hand` says, in ms.

    by_hand    key -> of all sizes, or of each
    transfers  of each size (up, down, pinned up, pinned down), in ms, on the GPU
    """
    plan = replace(SMALL, implementations=tuple(by_hand), sizes=sizes, transfers=bool(transfers))

    def outcome(cell, found):
        ms, at = by_hand[cell.implementation], sizes.index((cell.width, cell.height))
        ms = ms[at] if isinstance(ms, tuple) else ms
        timing = replace(found.kernel, samples_ms=(ms,) * 9)
        moved = None
        if transfers and found.transfers:
            parts = (replace(timing, samples_ms=(each,) * 9) for each in transfers[at])
            moved = Transfers(1_000, *parts)
        return replace(found, kernel=timing, transfers=moved)

    return a_session(plan, outcome=outcome, **more)


def plain(text):
    return text.replace(GAP, " ")


def changed(**fields):
    """An outcome whose kernel's timing has other `fields`, on the GPU."""
    return lambda cell, found: (
        replace(found, kernel=replace(found.kernel, **fields)) if cell.cache else found
    )


# ---------------------------------------------------------------------------- the page


@pytest.mark.parametrize("name", ["sizes", "transfers"])
def test_it_can_be_read_by_anybody(report, name):
    page = report(a_session(name))
    (html,) = page.all("html")
    assert html.attributes["lang"] == "en-GB"
    levels = [int(each.tag[1]) for each in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for each in page.all("img"):
        assert each.attributes["alt"]
    for each in page.all("svg"):
        assert each.attributes["role"] == "img"
        assert each.attributes["aria-label"]
    for each in page.all("table"):
        assert each.all("caption")[0].words
        assert {cell.attributes["scope"] for cell in each.all("thead")[0].all("th")} == {"col"}
        for row in each.all("tbody")[0].all("tr"):
            assert row.all("th")[0].attributes["scope"] == "row"
    for each in page.all("figure"):
        assert each.all("figcaption")[0].words


def test_it_needs_no_network_and_no_script(report, tmp_path):
    page = report(a_session("sizes"))
    assert page.all("script", "link", "iframe", "object", "embed") == []
    policy = next(e for e in page.all("meta") if "http-equiv" in e.attributes)
    assert policy.attributes["content"].startswith("default-src 'none'")
    for element in page.inside:
        for name, value in element.attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href", "xlink:href"):
                assert value.startswith(("#", "data:image/png"))
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "@import" not in text
    assert "url(http" not in text


@pytest.fixture(scope="module")
def two_machines(tmp_path_factory):
    """The report of a plan measured on two machines."""
    sessions = a_session("sizes"), a_session("sizes", LAPTOP)
    path = write_report(sessions, tmp_path_factory.mktemp("report") / "out")
    return read_page(path.read_text(encoding="utf-8"))


def test_its_ids_are_unique_and_what_refers_to_them_finds_them(two_machines):
    page = two_machines
    ids = [each.attributes["id"] for each in page.inside if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    for each in page.inside:
        for name in ("href", "aria-labelledby", "xlink:href"):
            if each.attributes.get(name, "").startswith(("#", "s", "m")):
                assert each.attributes[name].removeprefix("#") in ids
        for found in re.findall(r"url\(#(.*?)\)", " ".join(map(str, each.attributes.values()))):
            assert found in ids


def test_every_chart_that_can_be_drawn_stands_in_it_with_its_sentence(report):
    session = a_session("sizes")
    drawn = list(charts_of([session], "x"))
    assert len(drawn) >= 1
    page = report(session)
    figures = [each for each in page.all("figure") if each.all("svg")]
    assert len(figures) == len(drawn)
    for figure, each in zip(figures, drawn, strict=True):
        assert " ".join(each.figure.sentence.split()) in figure.all("figcaption")[0].words
        assert each.figure.title in figure.words


def test_names_that_are_code_stay_text(report, tmp_path, every_chart_is_drawn):
    evil = '<script>alert("x")</script> & \\input{/etc/passwd} $x_1$ 100%'
    machine = replace(H200, cpu=evil, gpu=evil, software={evil: evil})
    plan = replace(SMALL, title=evil, note=evil, source=evil, table=evil)
    page = report(replace(a_session(plan), machine=machine))
    assert page.all("script") == []
    assert evil in page.all("h1")[0].words
    assert "\\input{/etc" not in (tmp_path / "out" / "tables.tex").read_text(encoding="utf-8")


# ---------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("outcome", [lambda cell, _: wrong(cell), "unchecked"])
def test_what_is_not_verified_is_no_time_and_says_so(report, outcome):
    if outcome == "unchecked":
        outcome = lambda _, found: replace(found, check=None)  # noqa: E731
    session = a_session(
        SMALL, outcome=lambda c, m: outcome(c, m) if c.implementation == "shared" else m
    )
    page = report(session)
    assert {r["Implementation"] for r in table(page, "verified times")} == {
        "OpenCV",
        "Global memory",
    }
    (row,) = table(page, "without a time")
    assert row["Cells"] == "2"
    assert row["Which"] == "Shared-memory tile; image size 64², 128²"
    assert row["Why"].startswith("not counted: Its output ")
    assert "4 have a verified time" in page.words
    assert ("2 wrong" in page.words) or ("2 not checked" in page.words)


def test_refusals_are_grouped_by_reason_and_what_ran_is_told_with_its_limit():
    rows = rows_of("without a time", a_session("sizes_and_kernels"))
    assert len(rows) == 1
    assert rows[0]["Which"].startswith("Untiled")
    assert "512²" in rows[0]["Which"]
    assert rows[0]["Why"].startswith("refused: Untiled picture needs more shared memory")
    rows = rows_of("what ran on the GPU", a_session(SMALL))
    assert len(rows) == 4
    assert {row["Occupancy"] for row in rows} == {"100 %"}
    assert rows[0]["Launches"].startswith("convolve, grid 4×4, block 16×16, 32 registers, ")
    assert rows[0]["Limited by"] == "Its 64 warps are all taken."


@pytest.mark.parametrize(
    ("outcome", "remark"),
    [
        (changed(samples_ms=(900.0,), ended="single", warmups=1), "One sample: "),
        (changed(samples_ms=(900.0,), ended="single", warmups=0), "1 run, first: "),
        (changed(ended="time"), "Sampling ended at the time limit"),
        (
            lambda c, m: (
                replace(m, health=replace(m.health, throttled=("power limit",))) if c.cache else m
            ),
            "The GPU's clocks were held down: power limit.",
        ),
        (
            lambda c, m: replace(m, load=Load(10.0, 2, 13.0 + c.width / 64, 0.0)) if c.cache else m,
            "4 of 4 times on the CPU were disturbed, at worst: other programs kept 1.5 of 2 cores",
        ),
    ],
)
def test_what_makes_a_figure_doubtful_is_one_numbered_note(outcome, remark):
    """Whatever figures each row has: a column of sentences would be one word wide."""
    session = a_session(SMALL, outcome=outcome)
    rows = rows_of("verified times", session)
    assert {row["Notes"] for row in rows if row["Implementation"] == "OpenCV"} == {""}
    assert {row["Notes"] for row in rows if row["Implementation"] != "OpenCV"} == {"1"}
    first, *others = notes_of("verified times", session)
    assert first.startswith(f"1. {remark}")
    assert not any(each[0].isdigit() for each in others)


def test_notes_speak_of_columns_that_are_there_and_errors_are_in_few_digits():
    plain = a_session(replace(SMALL, implementations=("opencv",)))
    assert not notes_of("verified times", plain)
    assert SessionTables(plain).times().caption.endswith(" Every pixel was checked.")
    few = a_session(SMALL, outcome=lambda cell, m: replace(m, check=replace(m.check, checked=9)))
    assert "Checked" not in rows_of("verified times", few)[0]
    assert "Of each output 9 pixels were checked." in SessionTables(few).times().caption
    told = notes_of("verified times", a_session(SMALL))
    assert any(each.startswith("Interval: ") for each in told)
    wide = replace(SMALL, pixel_types=("uint8", "float32"), implementations=("opencv",))
    errors = {"uint8": (0.0, 1.0), "float32": (0.0, 1.234e-7)}

    def outcome(cell, found):
        error = errors[cell.pixel_type][cell.width > 64]
        return replace(found, check=replace(found.check, max_error=error))

    rows = rows_of("verified times", a_session(wide, outcome=outcome))
    assert {row["Largest error"] for row in rows} == {"0", "1 level", "1.2e-7"}


@pytest.fixture(scope="module")
def many_cells(tmp_path_factory):
    """A session of very many, of which the largest kernels have one sample; its report."""
    once = changed(samples_ms=(0.0001,), ended="single")
    session = a_session("everything", outcome=lambda c, m: once(c, m) if c.ksize == 7 else m)
    path = write_report([session], tmp_path_factory.mktemp("report") / "out")
    return session, read_page(path.read_text(encoding="utf-8"))


def test_published_figures_are_marked_as_theirs(report):
    page = report(a_session("sizes"))
    rows = table(page, "published elsewhere")
    assert "Università di Camerino" in page.words
    assert all(float(row["Published (ms)"]) > 0 for row in rows)
    assert any(row["This session (ms)"] != "—" for row in rows)
    found = next(t for t in page.all("table") if "published" in t.all("caption")[0].words)
    theirs = [c for c in found.all("td") if "published" in c.attributes.get("class", "")]
    assert len(theirs) >= len(rows)
    assert "with one unvectorised CPU thread" in page.words


def only(rows, **wanted):
    (row,) = [r for r in rows if all(r[name] == value for name, value in wanted.items())]
    return row


def test_each_figure_of_the_table_of_times_is_what_one_works_out_by_hand():
    session = in_times({"opencv": 6.0, "global": 2.0, "shared": 0.0004}, sizes=((64, 64),))
    rows = rows_of("verified times", session)
    row = only(rows, Implementation="Global memory")
    assert row["Median (ms)"] == "2.00"
    assert plain(row["Quartiles (ms)"]) == "2.00 – 2.00"
    assert row["Samples"] == "9"
    assert row["Throughput (MP/s)"] == "2.05"  # 4,096 pixels in 2 ms
    assert row["Speed-up"] == "3.0×"
    assert plain(row["Interval"]) == "3.00 – 3.00"
    row = only(rows, Implementation="Shared-memory tile")
    assert row["Median (ms)"] == "0.000400"
    assert row["Throughput (MP/s)"] == "10,200"  # in 0.4 µs
    assert row["Speed-up"] == "15,000×"
    of_baseline = next(e for e in session.records if e.cell.implementation == "opencv")
    busy = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)
    noisy = replace(of_baseline, outcome=replace(of_baseline.outcome, load=busy))
    records = [noisy if each is of_baseline else each for each in session.records]
    row = rows_of("verified times", replace(session, records=tuple(records)))[-1]
    assert (row["Median (ms)"], row["Speed-up"]) == ("0.000400", "15,000×*")
    assert row["Notes"]


def test_speed_ups_are_against_the_plainest_way_on_the_cpu_that_was_timed():
    session = in_times({"opencv": 1.0, "sequential": 90.0, "parallel": 45.0}, sizes=((64, 64),))
    (row,) = (e for e in rows_of("verified times", session) if e["Implementation"] == "OpenCV")
    assert row["Speed-up"] == "90.0×"


def test_with_transfers_every_total_is_what_one_works_out_by_hand(report):
    session = in_times(
        {"opencv": 12.0, "shared": 1.0}, sizes=((64, 64),), transfers=[(2.0, 3.0, 0.5, 0.25)]
    )
    two = in_times({"opencv": (3.0, 12.0), "shared": 1.0}, transfers=2 * [4 * (2.0,)])
    assert "transfers included, pays off from 128² on." in report(two).words
    slow = in_times({"opencv": (9.0, 3.0), "shared": 1.0}, transfers=2 * [4 * (2.0,)])
    assert "transfers included, is behind at the largest size." in report(slow).words
    page = report(session)
    assert "page-locked (pinned)" in page.words
    (row,) = table(page, "the way to the device")
    assert row["Implementation"] == "Shared-memory tile"
    assert [row[f"{name} (ms)"] for name in ("Upload", "Filter time", "Download", "Total")] == [
        *("2.00", "1.00", "3.00", "6.00")
    ]
    pinned = ("Upload, pinned", "Download, pinned", "Total, pinned")
    assert [row[f"{name} (ms)"] for name in pinned] == ["0.500", "0.250", "1.75"]
    assert row["Speed-up of the total"] == "2.0×"
    row = only(table(page, "verified times"), Implementation="Shared-memory tile")
    assert row["Speed-up"] == "12.0×"  # of the kernel alone


def test_published_over_measured_is_what_one_works_out_by_hand():
    session = a_session(
        "sizes", outcome=lambda cell, m: replace(m, kernel=replace(m.kernel, samples_ms=(0.5,) * 9))
    )
    rows = rows_of("published elsewhere", session)
    row = only(
        rows,
        **{"Image size": "256²", "Implementation": "Sequential"},
        **{"Published on": "CPU beside Tesla T4"},
    )
    assert float(row["Published (ms)"]) == 0.9
    assert row["This session (ms)"] == "0.500"
    assert row["Published ÷ this session"] == "1.8×"
    first = changed(samples_ms=(900.0,), ended="single", warmups=0)
    rows = rows_of("published elsewhere", a_session("sizes", outcome=first))
    on_gpu = [each for each in rows if each["Implementation"] != "Sequential"]
    assert {each.get("Published ÷ this session", "") for each in on_gpu} == {""}


# ---------------------------------------------------------------------------- numbers, recorded


def test_figures_and_tables_are_numbered_in_the_page_s_order(two_machines):
    page = two_machines
    tables = [int(each.words.split()[1].rstrip(".")) for each in page.all("caption")]
    assert tables == [*range(1, len(tables) + 1)]
    words = [each.words for each in page.all("figure")]
    figures = [int(re.search(r"Figure (\d+)\.", each)[1]) for each in words]
    assert figures == [*range(1, len(figures) + 1)]


def test_a_report_of_a_sweep_that_still_runs_says_how_far_it_is(report):
    session = a_session("sizes")
    assert "Not finished" not in report(session).words
    (*records, _) = session.records
    place = f"written at {len(records)} of {len(records) + 1} in round 1 of "
    assert f"Not finished: {place}" in report(replace(session, records=tuple(records))).words


def test_what_came_with_the_program_is_called_recorded_wherever_it_stands(report, tmp_path):
    page = report(replace(a_session("sizes"), is_shipped=True))
    for each in page.all("caption"):
        assert re.match(r"Table \d+ \(recorded\)\.", each.words)
    for each in page.all("figure"):
        if each.all("svg"):
            assert re.search(r"Figure \d+ \(recorded\)\.", each.words)
            assert "recorded" in each.all("svg")[0].attributes["aria-label"] + each.words
    (lead,) = [each.words for each in page.all("p") if "verified times of" in each.words]
    assert lead.startswith("Recorded. ")
    assert "came with Filter Workbench, and were not taken for this report" in page.words
    tex = (tmp_path / "out" / "tables.tex").read_text(encoding="utf-8")
    assert tex.count(r"\caption{Recorded: ") == tex.count(r"\caption{") > 0


def test_a_recorded_chart_says_so_in_the_drawing_and_none_is_made_of_refusals(qapp):
    for is_recorded in (True, False):
        session = replace(a_session("sizes"), is_recorded=is_recorded)
        drawn = next(iter(charts_of([session], "x")))
        assert bool(re.search(r">\s*Recorded\s*<", drawn.svg())) == is_recorded
    first = a_session("everything", LAPTOP)
    both = (first, replace(first, started=first.started + 60.0))
    titles = [each.figure.title for each in charts_of(both, "both")]
    assert "Time by image size" in titles
    assert not [title for title in titles if "including transfers" in title or "Block" in title]
    assert not [title for title in titles if title.startswith("Speed-up of ")]


def with_own(**changes):
    """A session of SMALL and a kernel of the user's own, as a sweep measures it."""
    own = OwnText("mine.cu", "ab" * 32)
    plan = replace(SMALL, implementations=("opencv", "mine.cu"), own_texts=(own,), **changes)
    records = []
    for cell in plan.cells():
        like = replace(cell, implementation="shared") if cell.text_sha256 else cell
        records.append(Record(cell, measured(like), STARTED))
    return Session(plan, H200, STARTED, tuple(records))


def test_a_kernel_of_ones_own_stands_with_its_hash_and_in_the_commands(report):
    page = report(with_own())
    there = {row["Implementation"] for row in table(page, "verified times")}
    assert there == {"OpenCV", "mine.cu"}
    assert f"mine.cu is a user kernel; the SHA-256 of its source is {'ab' * 32}." in page.words
    assert "A user kernel ran in a process of its own" in page.words
    assert "user kernel" not in said(a_session(SMALL))
    assert plan_of(commands_for(with_own()).toml).implementations == ("opencv", "mine.cu")
    (preset,) = (each for each in presets() if each.key == "camerino_image_size")
    own = (OwnText("mine.cu", "ab" * 32),)
    plan = replace(preset.plan, implementations=("opencv", "mine.cu"), own_texts=own)
    words = "--implementations opencv,mine.cu"
    assert words in commands_for(Session(plan, H200, STARTED)).lines[0]


def test_a_plan_stands_in_the_report_as_its_file_and_says_where_to_run_it(report):
    session = a_session(SMALL)
    assert len(commands_for(session).lines) == 2
    plan = replace(session.plan, title="Mine", pictures=("kodim02.png",))
    page = report(replace(session, plan=plan))
    assert "# in the folder of kodim02.png, with mine.toml saved there:" in page.words
    plan = replace(plan, pictures=("Evening scene", "my part"))
    named = commands_for(replace(session, plan=plan))
    assert plan_of(named.toml).pictures == ("Evening scene.png", "my part.png")
    assert "my part has no file: save it as my part.png first" in named.lines[0]
    commands, toml = report(session).all("code")
    assert "workbench sweep small-pictures.toml --out small-pictures" in commands.text
    assert plan_of(toml.text) == session.plan


def test_what_another_version_can_is_reported_by_its_key(report):
    session = a_session(SMALL, H200)
    names = {"global": "hologram", "shared": "entangled"}
    records = tuple(
        replace(
            each,
            cell=replace(
                each.cell,
                filter="dream",
                implementation=names.get(each.cell.implementation, each.cell.implementation),
            ),
        )
        for each in session.records
    )
    plan = replace(SMALL, filters=("dream",), implementations=("opencv", *names.values()))
    page = report(replace(session, plan=plan, records=records))
    there = {row["Implementation"] for row in table(page, "verified times")}
    assert there == {"OpenCV", "hologram", "entangled"}
    assert page.all("img") == []


def test_of_many_cells_the_quickest_come_first_and_all_are_folded_away(many_cells):
    session, page = many_cells
    details = next(each for each in page.all("details") if each.words.startswith("Table"))
    title = "Table 2. Sizes, kernels, blocks and filters – verified times ("
    assert details.words.startswith(title)
    assert len(details.all("tr")) == 1 + sum(each.verified is not None for each in session.records)
    rows = table(page, "the quickest of each")
    assert len(rows) == 5 * 3 * 4
    assert {row["Of"] for row in rows} == {"13 ways"}


# ---------------------------------------------------------------------------- two machines


def test_two_sessions_are_compared_cell_by_cell(report):
    slower = a_session(
        SMALL,
        replace(H200, gpu="NVIDIA A100"),
        outcome=lambda _, m: replace(
            m, kernel=replace(m.kernel, samples_ms=tuple(2 * s for s in m.kernel.samples_ms))
        ),
    )
    page = report(a_session(SMALL), slower)
    rows = table(page, "NVIDIA A100 beside NVIDIA H200")
    assert len(rows) == 6
    assert {row["Ratio"] for row in rows} == {"0.500×"}
    assert {row["NVIDIA A100 is"] for row in rows} == {"slower"}
    assert "ratios is 0.500×" in page.words
    assert f"NVIDIA A100 is faster in 0, slower in 6 and {EQUAL} in 0" in page.words


def test_a_disturbed_time_has_no_verdict_in_the_comparison(report):
    busy = Load(seconds=1.0, cores=2, others_s=2.0, stolen_s=0.0)

    def opencv_disturbed(cell, found):
        return replace(found, load=busy) if cell.implementation == "opencv" else found

    page = report(a_session(SMALL), a_session(SMALL, outcome=opencv_disturbed))
    rows = table(page, "NVIDIA H200 (B) beside NVIDIA H200 (A)")
    verdicts = {row["Implementation"]: row["NVIDIA H200 (B) is"] for row in rows}
    disturbed = [name for name, verdict in verdicts.items() if verdict == "disturbed"]
    assert len(disturbed) == 1
    assert "OpenCV" in disturbed[0]
    starred = [row for row in rows if row["NVIDIA H200 (B) is"] == "disturbed"]
    assert {(row["Ratio"], row["Interval"]) for row in starred} == {("—", "—")}
    assert f"without a verdict: {len(starred)} cells" in page.words


# ---------------------------------------------------------------------------- pictures, commands


def decoded(image):
    data = base64.b64decode(image.attributes["src"].partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)))


def test_the_examples_are_what_the_filter_does(report):
    page = report(a_session(replace(SMALL, filters=("laplacian",), channels=(3,))))
    before, after = (decoded(each) for each in page.all("img"))
    weights = filters.get("laplacian").weights(3)
    job = Job.of(np.ascontiguousarray(before), weights, "clamp", "opencv")
    np.testing.assert_array_equal(after, Engine(use_gpu=False).run(job).picture)
    assert "on noise of 360×240 pixels" in page.all("figcaption")[-1].words
    assert "none of the runs that were timed" in page.words


def test_a_picture_that_is_at_hand_is_what_the_example_shows(report):
    mine = np.random.default_rng(1).integers(0, 256, (500, 700, 3), np.uint8)
    plan = replace(SMALL, pictures=("cat.png",), sizes=((700, 500),), channels=(3,))
    page = report(a_session(plan))
    assert not page.all("img")
    assert "No before and after of cat.png: it is not at hand." in page.words
    page = report(a_session(plan), pictures={"cat.png": mine})
    before, _ = (decoded(each) for each in page.all("img"))
    np.testing.assert_array_equal(before, mine[130:370, 170:530])
    assert "the middle of cat.png, 360×240 pixels" in page.words


# ---------------------------------------------------------------------------- files beside it


def rows_of_csv(session):
    return list(csv.DictReader(io.StringIO(writing.results_csv([session]), newline="")))


def test_the_csv_has_the_speed_ups_that_a_sweep_s_own_cannot_know():
    by_hand = {"opencv": 6.0, "global": 2.0, "shared": 1.5}  # ms
    session = in_times(by_hand, sizes=((64, 64),))
    rows = rows_of_csv(session)
    assert len(rows) == len(session.records)
    found = {each["implementation"]: each for each in rows}
    assert {each["baseline"] for each in found.values()} == {"opencv"}
    assert {key: float(each["speed_up"]) for key, each in found.items()} == {
        **{"opencv": 1.0, "global": 3.0, "shared": 4.0}
    }
    assert float(found["global"]["speed_up_low"]) == float(found["global"]["speed_up_high"]) == 3
    assert {each["recorded"] for each in found.values()} == {"no"}


@pytest.mark.parametrize("once", ["opencv", "shared"])
def test_a_single_run_has_no_speed_up_anywhere(once):
    session = in_times(
        {"opencv": 12.0, "global": 2.0, "shared": 1.0},
        sizes=((64, 64),),
        transfers=[(2.0, 3.0, 0.5, 0.25)],
    )
    records = tuple(
        replace(each, outcome=replace(each.outcome, kernel=Timing((2.0,), None, "single")))
        if each.cell.implementation == once
        else each
        for each in session.records
    )
    session = replace(session, records=records)
    without = {"shared"} if once == "shared" else {"opencv", "global", "shared"}
    assert {e["implementation"] for e in rows_of_csv(session) if not e["speed_up"]} == without
    for title, column in (("verified times", "Speed-up"), ("the way to", "Speed-up of the total")):
        row = only(rows_of(title, session), Implementation="Shared-memory tile")
        assert row.get(column, "") == ""
        row = only(rows_of(title, session), Implementation="Global memory")
        assert (row.get(column, "") == "") == (once == "opencv")


def test_no_field_of_the_csv_is_a_formula():
    evil = '=HYPERLINK("http://127.0.0.1/"&A1)'
    plan = replace(SMALL, title=evil, source="@SUM(1)", table="+1+cmd|x")
    machine = replace(H200, cpu="-2+3+cmd|x", gpu="H200 = fast")
    row = rows_of_csv(replace(a_session(plan), machine=machine))[2]
    assert row["session"] == f"'{evil}"
    assert (row["source"], row["table"], row["cpu"]) == ("'@SUM(1)", "'+1+cmd|x", "'-2+3+cmd|x")
    assert row["machine"] == "H200 = fast"


def test_a_second_report_takes_the_place_of_the_first_a_step_at_a_time(report, tmp_path):
    report(a_session("sizes"))
    *steps, (*_, path) = writing.writing([a_session(SMALL)], tmp_path / "out" / "report.html")
    assert len(steps) > 3
    assert all(each.doing for each in steps)
    example = [each.doing for each in steps].index("filtering the examples of Small pictures")
    assert steps[example + 1].doing != "drawing the charts"  # the engine's steps
    names = {each.name for each in path.parent.iterdir()}
    assert names == {"report.html", "results.csv", "tables.tex"}
    assert "Small pictures" in path.read_text(encoding="utf-8")


# ---------------------------------------------------------------------------- bad input


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file" / "out", tmp_path / "file"):
        with pytest.raises(ReportError, match=r"^Cannot write the report into .*\.$"):
            write_report([a_session(SMALL)], folder)


def test_files_of_others_beside_it_stay_and_those_of_the_last_report_do_not(tmp_path):
    (tmp_path / "x-results.csv").write_text("mine")
    for name in ("x.html", "x.pdf"):
        with pytest.raises(ReportError, match=r"x-results.csv is there already"):
            list(writing.writing([a_session(SMALL)], tmp_path / name))
    assert [each.name for each in tmp_path.iterdir()] == ["x-results.csv"]
    assert (tmp_path / "x-results.csv").read_text() == "mine"
    for name in ("y.html", "y.html", "y.pdf"):
        *_, (*_, path) = writing.writing([a_session(SMALL)], tmp_path / name)
        assert path == tmp_path / name


@pytest.mark.parametrize("written", [0, 2])
def test_a_full_disk_is_one_sentence_and_keeps_the_last_report(
    written, report, tmp_path, monkeypatch
):
    report(a_session(SMALL))
    before = {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()}
    fsync, synced = os.fsync, []

    def no_room(descriptor):
        if len(synced) == written:
            raise OSError(errno.ENOSPC, "No space left on device")
        synced.append(descriptor)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(ReportError, match="the disk is full"):
        write_report([a_session("sizes")], tmp_path / "out")
    assert {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()} == before


def in_rounds(cell, measured):
    timing = Timing(tuple(1.0 + n / 100 for n in range(20)), None, "time", 1, (2,) * 10)
    busy = Load(1.0, 8, 4.0, 0.0) if cell.implementation == "opencv" else None
    return replace(measured, kernel=timing, load=busy)


def said(*sessions):
    return " ".join(text for _, text in method.paragraphs(sessions))


def test_rounds_are_told_in_place_of_a_rule_that_did_not_hold():
    told = said(a_session("transfers", outcome=in_rounds))
    assert "Every cell was measured in rounds" in told
    assert "10 of them" in told
    assert "Of 6 measurements, 6 at the time limit." in told
    assert "The limit:" not in told
