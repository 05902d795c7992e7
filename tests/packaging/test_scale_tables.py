"""The tables of docs/scale.md and README: whole, and made of what was measured."""

import json

MACHINE = {"cpu": "A CPU, 16 cores", "memory": "128 GiB", "system": "", "gpu": "NVIDIA H100"}
HEAD = {"date": "2026-11-27T09:00:00+00:00", "machine": MACHINE}
RATES = {"decode": 100.0, "filter": 400.0, "encode": 50.0, "batch": 30.0}
BATCH = {
    **HEAD,
    **{"jobs": 16, "files": 64, "size": [1080, 1920], "per_s": {".png": RATES}},
    "peers": {
        ".png": {
            "loop": {"per_s": 15.0, "off_by": 0.1, "why_not": None},
            "vips": {"per_s": None, "off_by": None, "why_not": "not installed here"},
        }
    },
}
LARGE = {
    **HEAD,
    **{"side": 10_000, "bytes": 300_000_000, "peak_bytes": 1 << 30},
    "seconds": {
        **{"read": 0.2, "filter": 0.1, "write": 0.4, "all": 0.5},
        **{"link": 0.08, "kernel": 0.001},
    },
    **{"wall": "the disk, to write", "of_wall": 0.8},
}


def device_cell(devices, ms, kind="strong", verdict="faster"):
    against = {"ratio": 2.0 / ms, "verdict": verdict}
    return {
        **{"kind": kind, "weights": "gaussian", "ksize": 5, "side": 8192},
        **{"implementation": "ring", "devices": devices},
        "filtering": {"samples_ms": [ms, ms, 9.0]},
        "with_transfers": {"samples_ms": [ms, 4 * ms]},
        "against_one": against,
        "against_one_with_transfers": against,
        "shares": [{"halo_ms": 0.01}, {"halo_ms": 0.02}] if devices > 1 else [],
    }


def folder(devices, *per_s):
    name = "folder gaussian 5×5 4096×4096, auto"
    numbers = list(range(devices))
    return {
        **{"name": name, "limit": "kernel", "devices": numbers},
        **{"per_s": list(per_s), "waited_for": "filter"},
    }


DEVICES = {
    **HEAD,
    "devices": [0, 1],
    "cells": [
        *(device_cell(1, 2.0), device_cell(2, 1.0)),
        *(device_cell(1, 2.0, "weak"), device_cell(2, 2.1, "weak", "same")),
    ],
    "folders": [folder(1, 40.0, 50.0), folder(2, 95.0, 90.0)],
}
KILLS = {
    **HEAD,
    **{"files": 10_000, "width": 64, "height": 48, "kills": 40, "lost": 0, "twice": 0},
    **{"half_written": 0, "abandoned": 8, "seconds": 300.0, "peak_bytes": 200 << 20},
}
MANY = {
    **HEAD,
    **{"files": 100_000, "side": 8, "alone_s": 0.5, "first_s": 1.5, "seconds": 300.0},
    "per_s": [*range(400, 300, -10)],
    "peak_bytes": [step << 20 for step in range(70, 80)],
}
FOUND = {
    **{"batch": [BATCH], "large": [LARGE], "devices": [DEVICES]},
    **{"many": [MANY], "kills": [KILLS]},
}


def test_the_page_is_what_make_tables_makes_of_the_files_beside_it(script):
    text = script.PAGE.read_text(encoding="utf-8")
    made = script.page_tables(script.measured(script.MEASURED))
    assert script.with_tables(text, made) == text, "make tables"


def made_of(script, name):
    return script.page_tables(FOUND)[name].replace("\u202f", " ")


def test_each_table_tells_its_limit_and_the_figures_beside_it(script):
    made = made_of(script, "batch")
    assert "| PNG | 100 | 400 | 50.0 | 30.0 | 60 % | the files | 90 % |" in made
    assert "| loop | 15.0 per s (2.00×; 0.10 levels off) |" in made
    assert "| vips | not installed here |" in made
    on_cpu = {**FOUND, "batch": [{**BATCH, "machine": {**MACHINE, "gpu": None}}]}
    made = script.page_tables(on_cpu)["batch"]
    assert "| 60 % | the cores | 98 % |" in made.replace("\u202f", " ")
    made = made_of(script, "large")
    assert "| reading | 200 ms | 1.50 GB/s | 500 MP/s |" in made
    assert made.index("| of it the link | 80.0 ms |") < made.index("| writing |")
    assert "The wall is the disk, to write: all at a time reach 80 % of its rate" in made
    planned = "about 20 s | about 10 s | about 40 s | about 50 s | about 8.0 s | less than a second"
    assert planned in made_of(script, "plan")
    made = " ".join(made_of(script, "many").split())
    assert "100,000 files of 8×8 pixels. The first was finished 1.50 s after" in made
    assert "takes 500 ms where there is one file" in made
    assert "the first tenth took 400 files per second, the last 310" in made
    assert "was 70.0 MiB and 79.0 MiB. It took about 5 min." in made


def test_files_are_found_by_their_beginning_and_written_into_the_pages(
    script, tmp_path, monkeypatch, capsys
):
    for name, data in (("batch-a", BATCH), ("batch-b", BATCH), ("large", LARGE)):
        (tmp_path / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    found = script.measured(tmp_path)
    assert {kind: len(each) for kind, each in found.items()} == {
        **{"batch": 2, "large": 1},
        **{"devices": 0, "many": 0, "kills": 0},
    }
    page = tmp_path / "scale.md"
    markers = "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in script.page_tables(found))
    page.write_text(markers, encoding="utf-8")
    for name, value in {"PAGE": page, "ROOT": tmp_path, "MEASURED": tmp_path}.items():
        monkeypatch.setattr(script, name, value)
    assert script.main() == 0
    assert "Wrote the tables of scale.md." in capsys.readouterr().out
    assert "Not measured yet" in page.read_text(encoding="utf-8")
    assert "| PNG |" in page.read_text(encoding="utf-8")
