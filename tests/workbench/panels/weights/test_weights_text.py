"""Weights as text and in files."""

import numpy as np
import pytest

from kernels import filters
from kernels.core.errors import BadJobError
from kernels.core.weights import frequency_response
from workbench.base.table_text import BadTextError, read_table, value_of
from workbench.panels.weights import weights_summary
from workbench.panels.weights.named_weights import (
    Named,
    WeightsFileError,
    WeightsLibrary,
    read_file,
    write_file,
)
from workbench.panels.weights.weights_draft import WeightsDraft, drawing_of, pasted

ROWS = (("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9"))
GRID = WeightsDraft(ROWS)


def test_a_number_is_read():
    read = {"0.25": 0.25, "0,25": 0.25, " -3 ": -3.0, "−3": -3.0, "1e-3": 1e-3, "1/9": 1 / 9}
    for text, value in (read | {"-1/4": -0.25, ".5": 0.5, "+2.": 2.0}).items():
        assert value_of(text) == value
    wrong = "", "x", "1,234,567", "1.234,5", "nan", "inf", "1e39", "1/0", "1/2/3", "0x10", "1_0"
    assert [text for text in (*wrong, "१", "=A1") if value_of(text) is not None] == []


# -- a table


@pytest.mark.parametrize(
    "text",
    [
        "1\t2\t3\n4\t5\t6\n7\t8\t9\n",
        "1\t2\t3\r\n4\t5\t6\r\n7\t8\t9\r\n",
        "1 2 3\n4 5 6\n7 8 9",
        "1,2,3\n4,5,6\n7,8,9",
        "1, 2, 3\n4, 5, 6\n7, 8, 9\n\n",
        "1;2;3\n4;5;6\n7;8;9",
        "1 2 3; 4 5 6; 7 8 9",
        "1,2,3;4,5,6;7,8,9;",
        '"1"\t"2"\t"3"\n4\t5\t6\n7\t8\t9',
        '"1","2","3"\n"4","5","6"\n"7","8","9"',
        "\ufeff1,2,3\n4,5,6\n7,8,9",
        "1,2,3,\n4,5,6,\n7,8,9,",
        "\t\t\t\t\n\t1\t2\t3\t\n\t4\t5\t6\t\n\t7\t8\t9\t\n",
        "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]",
        "[[1,2,3],\n [4,5,6],\n [7,8,9]]",
        "{{1,2,3},{4,5,6},{7,8,9}}",
        "{1, 2, 3, 4, 5, 6, 7, 8, 9}",
        "{1, 2, 3,\n 4, 5, 6,\n 7, 8, 9};",
        "float weights[3][3] = {\n  { 1, 2, 3 },  // above\n  { 4, 5, 6 },\n  { 7, 8, 9 },\n};",
        "__constant__ float w[9] = {1, 2, 3, /* a row */ 4, 5, 6, 7, 8, 9};",
        "kernel = np.array([[1, 2, 3],  # above\n    [4, 5, 6],\n    [7, 8, 9]])",
        "np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=np.float32)",
        "k = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9], np.float32).reshape((3, 3))",
        "[[1, 2, 3], [4, 5, 6], [7, 8, 9]];  // x = y",
        "static constexpr float w[3][3] = {{1,2,3},{4,5,6},{7,8,9}} /* = a ramp */;",
    ],
)
def test_tables_and_lists_in_cpp_and_python(text):
    assert read_table(text) == ROWS


@pytest.mark.parametrize(
    "text",
    [
        "np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16",
        "np.array([[16, 32, 16], [32, 64, 32], [16, 32, 16]]) // 16",
        "[[1, 2, 1], [2, 4, 2], [1, 2, 1]], 16",
        "k = 1/16 * np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]])",
        "0.0625f * {{1,2,1},{2,4,2},{1,2,1}}",
        "np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]]).T",
        "[[1, 2, 3], [4, 5, 6], [7, 8, 9]]; x = [[9]]",
        "{{1,2,3},{4,5,6},{7,8,9}",
        "{" * 50_000,
        "[" * 50_000 + "=",
        "\t" * 90_000 + "[",
        "\t" * 90_000 + "array" + "\t" * 4_000 + "[",
        "[1]" + "\t" * 90_000 + "[",
        "[1].reshape(" + "x" * 80_000,
    ],
)
def test_what_would_lose_a_factor_or_a_second_array_is_refused(text):
    with pytest.raises(BadTextError):
        read_table(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[1, 2], [3, 4]]", "odd size up to 31; this is 2 rows of 2"),
        ("{1, 2, 3, 4, 5}", "a square of .* this is 1 rows of 5"),
        ("{{1, x, 3}, {4, 5, 6}, {7, 8, 9}}", "“x” in row 1, column 2 is not a number"),
        ("[]", "There is no text to paste"),
        ("", "no text"),
        ("1\t2\n3\t4", "a square of odd size"),
        ("1\t2\t3\n4\t5\t6", "2 rows of 3"),
        ("1 2 3\n4 5\n7 8 9", "3 rows of 2 or 3"),
        ("1 2 3\n4 x 6\n7 8 9", "“x” in row 2, column 2 is not a number"),
        ("1 2 3\n4 1e39 6\n7 8 9", "“1e39” in row 2, column 2 is too large for float32"),
        ("1\t2\t3\n4\t\t6\n7\t8\t9", "An empty cell in row 2, column 2"),
        ("hello world", "not a number"),
        ("\n".join(["0 " * 33] * 33), "33 rows of 33"),
        ("0 " * 60_000, "too much text"),
        ('"', "not a number"),
        ('"1\n2"', "not a number"),
        ("1 2\x00 3\n4 5 6\n7 8 9", "not a number"),
    ],
)
def test_what_is_no_square_of_numbers_is_a_sentence(text, sentence):
    with pytest.raises(BadTextError, match=sentence) as raised:
        read_table(text)
    assert str(raised.value).endswith(".")


def test_pasting():
    drawing, words = pasted(" 0,5\n", GRID, [(0, 0), (2, 1)])
    assert drawing.cells == (("0,5", "2", "3"), ("4", "5", "6"), ("7", "0,5", "9"))
    assert "into 2 cells" in words
    drawing, _ = pasted("0\t1\n2\t3", GRID, [(1, 1)])
    assert drawing.cells == (("1", "2", "3"), ("4", "0", "1"), ("7", "2", "3"))
    drawing, _ = pasted("0\t1\t2\n" * 3, WeightsDraft(ROWS, "9"), [(2, 2)])
    assert drawing == WeightsDraft((("0", "1", "2"),) * 3)
    for text, cells, why in (
        ("0\t1\n2\t3", [(1, 2)], "odd size"),
        ("0\t1\n2\t3", [], "odd size"),
        ("0\t\t1", [(0, 0)], "An empty cell"),
        ("0\t1\n2", [(0, 0)], "An empty cell|rows of"),
    ):
        with pytest.raises(BadTextError, match=why):
            pasted(text, GRID, cells)


# -- what the buttons do


def test_turning_and_flipping():
    assert GRID.transposed().matrix == tuple(map(tuple, np.array(GRID.matrix).T.tolist()))
    assert np.array_equal(GRID.flipped_across().weights, np.fliplr(GRID.weights))
    assert np.array_equal(GRID.flipped_down().weights, np.flipud(GRID.weights))
    assert np.array_equal(GRID.rotated().weights, np.rot90(GRID.weights, -1))
    turned = GRID
    for _ in range(4):
        turned = turned.rotated()
    assert turned == GRID


def test_a_draft_is_resized_normalised_and_divided_where_its_cells_are_numbers():
    large = GRID.resized(7)
    assert large.size == 7
    np.testing.assert_array_equal(large.weights, np.pad(GRID.weights, 2))
    assert large.resized(3) == GRID
    assert GRID.resized(1).cells == (("5",),)
    normal = GRID.normalised()
    assert (normal.cells, normal.divisor) == (ROWS, "45")
    assert normal.weights.sum() == pytest.approx(1)
    with pytest.raises(BadJobError, match="add up to 0"):
        WeightsDraft((("-1", "0", "1"),) * 3).normalised()
    with pytest.raises(BadJobError, match="not a number"):
        GRID.with_cell(0, 0, "x").normalised()
    thirds = WeightsDraft(ROWS, "3").weights
    np.testing.assert_array_equal(thirds, (np.array(GRID.matrix) / 3).astype(np.float32))
    for divisor in "0", "x", "":
        assert WeightsDraft(ROWS, divisor).matrix is None
    wrong = GRID.with_cell(1, 2, "six")
    assert wrong.invalid == ((1, 2),)
    assert wrong.matrix is None
    assert wrong.weights is None
    assert WeightsDraft((("3e38",),), "0.1").matrix is None


def test_an_offset_is_a_part_of_white():
    for text, part in (("1/2", 0.5), ("0,5", 0.5), ("-1", -1.0), ("128/255", 128 / 255)):
        assert WeightsDraft(ROWS, "1", text).added == part
    for text in "128", "x", "", "-1.01":
        assert WeightsDraft(ROWS, "1", text).added is None
    for part, text in ((0.0, "0"), (0.5, "0.5"), (128 / 255, "128/255"), (-1 / 255, "-1/255")):
        again = drawing_of(GRID.weights, part)
        assert (again.offset, again.added) == (text, part)
    assert WeightsDraft(ROWS, "2", "1/2").rotated().resized(5).normalised().offset == "1/2"


SUMS = [each for each in filters.all_filters() if each.has_weights]


@pytest.mark.parametrize("chosen", SUMS, ids=lambda each: each.key)
def test_drawing_a_filter_is_exactly_its_weights(chosen):
    for size in chosen.sizes:
        if size <= 31:
            weights = chosen.weights(size)
            np.testing.assert_array_equal(drawing_of(weights).weights, weights)


# -- facts


def test_facts():
    told = weights_summary.facts(filters.get("gaussian").weights(5))
    gaussian = {name: (value, words) for name, value, words in told}
    assert gaussian["Sum"] == ("1", "keeps the brightness")
    assert gaussian["Rank"] == ("1", "separable: 10 products per sample, not 25")
    added = weights_summary.facts(filters.get("sobel_x").weights(3), 0.5)
    assert added[0] == ("Sum", "0", "offset 0.5 × white")
    assert weights_summary.facts(filters.get("sharpen").weights(3))[2][1] == "2"
    assert weights_summary.facts(np.zeros((3, 3), np.float32))[2][1] == "0"
    log = weights_summary.facts(filters.get("laplacian_of_gaussian").weights(31))
    assert "of 961 products" in log[2][2]


def test_the_frequency_response_is_the_sum_of_waves():
    weights = np.random.default_rng(3).normal(size=(5, 5)).astype(np.float32)
    size = 16
    values = frequency_response(weights, size)
    at = np.arange(5)
    for v, u in ((8, 8), (0, 0), (3, 12)):
        fy, fx = (v - 8) / size, (u - 8) / size
        wave = np.exp(-2j * np.pi * (fy * at[:, None] + fx * at))
        assert values[v, u] == pytest.approx(abs((weights * wave).sum()), rel=1e-6)
    assert values[8, 8] == pytest.approx(abs(float(weights.sum())), rel=1e-5)


# -- files


@pytest.fixture
def library(tmp_path):
    return WeightsLibrary(tmp_path / "data" / "weights")


def test_named_weights_are_kept_renamed_and_deleted(library):
    odd = Named("Ünser/Filter: ..\\1?", WeightsDraft(ROWS, "1/3"))
    library.save(odd)
    assert library.save(Named("b", GRID)) is None
    assert library.all() == ((Named("b", GRID), odd), ())
    assert library.save(Named("b", GRID.rotated())) == Named("b", GRID)
    assert library.all()[0][0].drawing == GRID.rotated()
    library.rename("b", "a")
    assert [each.name for each in library.all()[0]] == ["a", odd.name]
    with pytest.raises(WeightsFileError, match="already"):
        library.rename("a", odd.name)
    with pytest.raises(WeightsFileError, match="any more"):
        library.rename("b", "c")
    library.delete("a")
    library.delete("a")
    assert [each.name for each in library.all()[0]] == [odd.name]


def test_one_broken_file_does_not_hide_the_others(library, tmp_path):
    library.save(Named("fine", GRID))
    folder = tmp_path / "data" / "weights"
    (folder / "broken.toml").write_text("rows = [")
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")
    found, broken = library.all()
    assert [each.name for each in found] == ["fine"]
    assert sorted(broken) == [
        "binary.toml is not a text file.",
        "broken.toml is not TOML: Invalid value (at end of document).",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rows = 3",
        "rows = []",
        'rows = ["1 2", "3 4"]',
        'rows = ["1"]\ndivisor = 0',
        'rows = ["x"]',
        'name = 3\nrows = ["1"]',
        "rows = [[[1]]]",
        'rows = ["1"]\nname = ""',
        'rows = ["1"]\noffset = 128',
        f"a{50_000 * '.a'}=1",  # tomllib would take minutes, and all memory there is
    ],
)
def test_a_broken_file_is_one_sentence(text, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(WeightsFileError) as raised:
        read_file(path)
    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith(".")


def test_a_toml_file_keeps_the_cells_and_others_the_numbers(tmp_path):
    named = Named("Thirds", WeightsDraft((("1/3",),), "2", "1/2"))
    for suffix in ".toml", ".csv", ".txt":
        path = tmp_path / f"Thirds{suffix}"
        write_file(path, named)
        again = read_file(path)
        assert again.name == "Thirds"
        np.testing.assert_array_equal(again.drawing.weights, named.drawing.weights)
        assert (again == named) == (suffix == ".toml")


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "weights").write_text("a file")
    with pytest.raises(WeightsFileError, match="cannot be made"):
        WeightsLibrary(tmp_path / "weights").save(Named("a", GRID))
    with pytest.raises(WeightsFileError, match="cannot be written"):
        write_file(tmp_path / "none" / "a.toml", Named("a", GRID))
    with pytest.raises(WeightsFileError, match="no weights to save"):
        write_file(tmp_path / "a.toml", Named("a", WeightsDraft(ROWS, "1", "128")))
    for name in "a.csv", "a.toml":
        with pytest.raises(WeightsFileError, match="Not all cells"):
            write_file(tmp_path / name, Named("a", GRID.with_cell(0, 0, "")))
        assert not (tmp_path / name).exists()
