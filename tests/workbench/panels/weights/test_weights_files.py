"""Weights in files of other programs: commas in .csv, spaces in .txt, and they come back."""

import pytest

from workbench.panels.weights.named_weights import Named, WeightsFileError, read_file, write_file
from workbench.panels.weights.weights_draft import WeightsDraft

EDGE = Named(
    "Edge", WeightsDraft((("1", "0", "-1"), ("2", "1/2", "-2"), ("1", "0", "-1")), "4", "0.5")
)


@pytest.mark.parametrize(
    ("name", "first_lines"),
    [
        ("edge.csv", ["0.25,0,-0.25", "0.5,0.125,-0.5"]),
        ("edge.CSV", ["0.25,0,-0.25", "0.5,0.125,-0.5"]),
        ("edge.txt", ["0.25 0 -0.25", "0.5 0.125 -0.5"]),
    ],
)
def test_numbers_are_separated_as_the_extension_says(tmp_path, name, first_lines):
    write_file(tmp_path / name, EDGE)
    text = (tmp_path / name).read_text()
    assert text.splitlines() == [*first_lines, first_lines[0]]
    assert text.endswith("\n")
    assert read_file(tmp_path / name).drawing.matrix == EDGE.drawing.matrix


def test_a_toml_file_keeps_what_was_typed(tmp_path):
    write_file(tmp_path / "edge.toml", EDGE)
    assert read_file(tmp_path / "edge.toml") == EDGE
    assert '"2 1/2 -2"' in (tmp_path / "edge.toml").read_text()


def test_what_is_no_number_yet_is_not_written(tmp_path):
    unfinished = Named("Edge", WeightsDraft((("1", "", "1"),) * 3, "1", "0"))
    with pytest.raises(WeightsFileError, match="Not all cells are numbers yet"):
        write_file(tmp_path / "edge.toml", unfinished)
    assert list(tmp_path.iterdir()) == []
