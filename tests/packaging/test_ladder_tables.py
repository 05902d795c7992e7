"""The tables of kernels/README.md: whole, in step with the rungs, and made of what was measured."""

import json
import re

import pytest

from kernels.cuda import nvrtc
from kernels.rungs.rung import ladder, list_ladder
from tests.kernels.rungs import compiled
from tests.kernels.rungs.test_rungs_compile import SPILLS

RUNGS = {rung.key: rung for rung in (*ladder(), *list_ladder())}
TABLES = ("ladder", "work", "registers", "sizes", "filters", "peers", "bench", "counters")


def cell(ksize=7, weights="gaussian", rungs=(), peers=(), **facts):
    """One cell as `bench kernels --json` writes it."""
    size = {"size": 8192, "width": 8192, "height": 8192}
    picture = {"pixel_type": "float32", "channels": 1, **size, **facts}
    return {"weights": weights, "ksize": ksize, **picture, "rungs": rungs, "peers": peers}


def timed(key, ms, share=50.0, **facts):
    return {"key": key, "ms": ms, "share": share, "precision": "float32", "ok": True, **facts}


MEASURED = {
    "device": {"name": "NVIDIA H200"},
    "cuda": "13.0",
    "date": "2026-11-21T14:10:01+00:00",
    "closing": ["Aims met: 1 of 2."],
    "cells": [
        cell(
            rungs=[
                timed("global", 2.0, 8.0),
                timed("constant", 0.5, 32.0),
                timed("shared", 0.1, 99.0, ok=False),
                timed("fft", None, ok=False),
            ],
            peers=[timed("npp", 0.75, name="NPP"), timed("none", None, name="none")],
        ),
        cell(
            31,
            rungs=[timed("constant", 6.0, 3.0), timed("tensor", 0.4, 40.0, precision="reduced")],
            peers=[],
        ),
        cell(31, "box", rungs=[timed("running_sums", 0.2, 80.0)]),
        cell(15, "median", rungs=[timed("median_halves", 2.2, 6.0)]),
        cell(5, "median", rungs=[timed("median_tiles", 0.26), timed("median_halves", 0.297)]),
    ],
}


@pytest.fixture(scope="module")
def script():
    return compiled.ladder_tables()


def rows(text):
    """A table's lines by their first cell without its quotes, each as a list of cells."""
    lines = [[part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines()]
    return {re.sub(r"[`*]", "", line[0]): line for line in lines if line}


# -- the page in the repository


def test_page_and_file_are_what_was_measured(script):
    text = script.README.read_text(encoding="utf-8")
    files = script.MEASURED, script.REGISTERS, script.COUNTERS
    tables = script.tables(*map(script.read_json, files))
    assert script.with_tables(text, tables) == text, "make tables"
    measured = json.loads(script.MEASURED.read_text(encoding="utf-8"))
    assert script.SHIPPED.read_text(encoding="utf-8") == script.shipped_text(measured), (
        "run `make tables`"
    )


@pytest.mark.parametrize("architecture", [61, 75, 80, 86, 89, 90, 120])
@pytest.mark.parametrize("key", RUNGS)
def test_the_registers_are_what_the_compilers_say(key, architecture, script, monkeypatch):
    """And no value spills out of its register where the table does not say so."""
    registers = script.read_json(script.REGISTERS)
    compiler = nvrtc.compiler_for(architecture)
    if compiler is None:
        pytest.skip(f"no NVRTC that compiles for sm_{architecture} is installed")
    if not script.applies(RUNGS[key], architecture):
        pytest.skip(f"{key} needs what no card of sm_{architecture} has")
    if registers["compilers"][str(architecture)] != "{}.{}".format(*compiler.version):
        pytest.skip("the table is of another version of the compiler")
    if key not in registers["rungs"]:
        pytest.skip(f"the table does not have {key} yet: make tables, where all compilers are")
    monkeypatch.setattr(nvrtc, "compile_rung", compiled.compile_rung)
    entry = registers["rungs"][key]["architectures"][str(architecture)]
    assert script.resources_of(RUNGS[key], architecture) == entry, "make tables"
    spilt = sum(each["spill_bytes"] for each in entry)
    assert spilt <= SPILLS.get(key, 0)


@pytest.mark.parametrize(
    ("rung", "numbers"),
    [
        # 49 taps of four bytes, and as many weights; written once; 98 operations for 8 bytes.
        ("`global`", ["49", "392", "4", "8", "98", "12.2"]),
        # A tile of 38×14 for 32×8.
        ("`shared`", ["2.08", "8.31", "4", "8", "98", "12.2"]),
        ("`shared_two_batch` (K=5)", ["1.69", "6.75", "4", "8", "50", "6.25"]),
        ("`shared_untiled` (64²)", ["1", "4", "4", "8", "98", "12.2"]),
        # 38/32 along rows, 14/8 down columns; 14 multiply-adds; sums written and read between.
        ("`separable`", ["1.19", "11.8", "8", "16", "28", "1.75"]),
    ],
)
def test_what_a_rung_asks_for_is_what_one_works_out_by_hand(rung, numbers, script):
    lines = [line.split(" | ") for line in script.work_table().splitlines()]
    found = {line[0].removeprefix("| "): line[1:] for line in lines}
    assert [each.removesuffix(" |") for each in found[rung]] == numbers


# -- what it makes of measurements


def test_the_ladder_has_times_shares_and_ratios_of_one_cell(script):
    found = {}
    for line in rows(script.ladder_table(MEASURED["cells"], {})).values():
        if key := re.search(r"`(\w+)`\]", line[1]):
            found[key[1]] = line
    table = found
    assert table["global"][-3:] == ["2.00\u202fms", "8.0 %", "—"]
    assert table["constant"][-3:] == ["500\u202fµs", "32.0 %", "4.00×"]
    assert table["shared"][-3:] == ["—", "—", "—"]  # its answer was wrong
    assert table["running_sums"][-3] == "200\u202fµs (box, float32 × 1, 8192², K=31)"


def test_filters_that_are_no_weighted_sum_have_tables_of_times_and_say_what_is_missing(script):
    text = "\n".join(script.filter_tables(MEASURED["cells"]))
    table = rows(text)
    assert table["rung"] == ["rung", "K=5", "K=15"]
    assert table["median_tiles"] == ["`median_tiles`", "**260\u202fµs**", "—"]
    assert table["median_halves"] == ["`median_halves`", "297\u202fµs", "**2.20\u202fms**"]
    assert text.index("median_tiles") < text.index("### Minimum") < text.index(script.NOT_MEASURED)
    assert "median" not in "".join(script.size_tables(MEASURED["cells"]))


def test_what_was_counted_stands_beside_the_aim_that_was_missed(script):
    counted = {
        **{"weights": "gaussian", "pixel_type": "uint8", "channels": 3, "size": 4096, "ksize": 7},
        **{"rung": "shared", "share": 60.04, "aim": 75, "warps": 3.61},
        **dict.fromkeys(script.COUNTED, 50.4),
        "stalls": {"math_pipe_throttle": 1.26, "wait": 1.0, "barrier": 0.1},
    }
    line = script.counters_table([counted]).splitlines()[-1]
    shares = " | ".join(["50"] * len(script.COUNTED))
    assert line == (
        "| gaussian, uint8 × 3, 4096², K=7 | `shared` | 60.0 % | 75 % "
        f"| {shares} | 3.6 | math pipe throttle 1.3, wait 1.0 |"
    )


def test_it_writes_the_page_and_keeps_the_registers_without_compilers(
    script, tmp_path, monkeypatch, capsys
):
    page, registers = tmp_path / "README.md", tmp_path / "registers.json"
    page.write_text("".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in TABLES))
    (tmp_path / "ladder.json").write_text(json.dumps(MEASURED))
    for name, path in (
        *(("README", page), ("REGISTERS", registers), ("ROOT", tmp_path)),
        *(("COUNTERS", tmp_path / "counters.json"), ("SHIPPED", tmp_path / "shipped.json")),
    ):
        monkeypatch.setattr(script, name, path)
    monkeypatch.setattr(script, "MEASURED", tmp_path / "ladder.json")
    monkeypatch.setattr(script, "compiler_versions", dict)
    monkeypatch.setattr(script, "shipped_text", lambda _: "")
    assert script.main() == 0
    assert "Aims met: 1 of 2." in page.read_text(encoding="utf-8")
    assert not registers.exists()
    assert "the registers stay as they were" in capsys.readouterr().out


# -- the times that `auto` goes by until it is tuned


def test_wrong_or_imprecise_answers_do_not_count(script):
    cell = json.loads(script.MEASURED.read_text(encoding="utf-8"))["cells"][0]
    quickest = {**cell["rungs"][0], "ms": 0.001, "quartiles": [0.001, 0.001]}
    wrong, rough = {**quickest, "ok": False}, {**quickest, "precision": "reduced"}
    reduced = {**quickest, "key": "tensor"}
    assert min(each.median_ms for each in script.ways_in({**cell, "rungs": [quickest]})) == 0.001
    assert script.ways_in({**cell, "rungs": [wrong, rough, reduced]}) == []


def test_times_of_a_list_are_not_those_of_its_first_step(script):
    cells = [cell(5, "gaussian:5 + gradient", [timed("in L2", 0.2)])]
    assert json.loads(script.shipped_text({**MEASURED, "cells": cells}))["kinds"] == []
