"""The times that `auto` goes by until it is tuned are those that were measured."""

import json


def test_the_file_is_what_was_measured(script):
    measured = json.loads(script.MEASURED.read_text(encoding="utf-8"))
    assert script.WRITTEN.read_text(encoding="utf-8") == script.text(measured), "run `make tables`"


def test_wrong_or_imprecise_answers_do_not_count(script):
    cell = json.loads(script.MEASURED.read_text(encoding="utf-8"))["cells"][0]
    quickest = {**cell["rungs"][0], "ms": 0.001, "quartiles": [0.001, 0.001]}
    wrong, rough = {**quickest, "ok": False}, {**quickest, "precision": "reduced"}
    reduced = {**quickest, "key": "tensor"}
    assert min(each.median_ms for each in script.ways_in({**cell, "rungs": [quickest]})) == 0.001
    assert script.ways_in({**cell, "rungs": [wrong, rough, reduced]}) == []
