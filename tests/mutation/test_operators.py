"""The faults that can be planted: of every kind, small, and Python."""

import pytest

from tests.mutation.choosing import choose
from tests.mutation.functions import functions_by_line
from tests.mutation.operators import compiles, mutants

TEXT = '''"""A file to plant faults in."""

from __future__ import annotations

SCALE: tuple[int, ...] = (1, 2)
ENDS = {"a": ",", "b": ";"}


class Sum:
    """Adds up."""

    def of(self, values: list[float], most: int | None = None) -> float:
        """Returns it."""
        self.done.connect(self._tell)
        os.fsync(self.file)
        low, high = min(values), max(values)
        if not values or low < 0:
            raise ValueError(f"{low} is below {0}")
        shown = f"{high * 1000:.1f} ms" if high > 1 else "none"
        total = clip(sum(values[1:]) - low / high, 0, -1.5)
        return sorted(values, reverse=True), total, shown
'''
FOUND = mutants("made/up.py", TEXT)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("connect removed", "self.done.connect(self._tell)", "pass"),
        ("call removed", "os.fsync(self.file)", "pass"),
        ("opposite", "min(values)", "(max(values))"),
        ("not dropped", "not values", "(values)"),
        ("and is or", "not values or low < 0", "(not values and low < 0)"),
        ("term dropped", "not values or low < 0", "(low < 0)"),
        ("comparison turned", "low < 0", "(low >= 0)"),
        ("bound moved", "low < 0", "(low <= 0)"),
        ("branches swapped", None, "('none' if high > 1 else f'{high * 1000:.1f} ms')"),
        ("units", None, "f'{high * 1000000:.1f} ms'"),
        ("sign turned", None, "f'{high / 1000:.1f} ms'"),
        ("sign turned", "low / high", "(low * high)"),
        ("sign turned", None, "(sum(values[1:]) + low / high)"),
        ("sign turned", "-1.5", "(1.5)"),
        ("term dropped", "low / high", "(high)"),
        ("call left out", None, "(sum(values[1:]) - low / high)"),
        ("slice", "values[1:]", "(values[:])"),
        ("constant changed", "1", "2"),
        ("constant changed", "1.5", "3.0"),
        ("order reversed", "sorted(values, reverse=True)", "(sorted(values))"),
        ("order reversed", "(1, 2)", "((2, 1))"),
        ("arguments swapped", None, "(clip(0, sum(values[1:]) - low / high, -1.5))"),
        ("values swapped", None, "({'a': ';', 'b': ','})"),
        ("return value replaced", None, "return None"),
    ],
)
def test_a_fault_of_every_kind_is_found(kind, old, new):
    found = [each for each in FOUND if each.kind == kind and each.new == new]
    assert found, [each.new for each in FOUND if each.kind == kind]
    assert old is None or found[0].old == old


def test_every_fault_changes_the_text_at_its_place_and_compiles():
    for each in FOUND:
        planted = each.planted(TEXT)
        assert planted != TEXT
        assert compiles(planted), each
        assert each.old.splitlines()[0] in TEXT.splitlines()[each.line - 1]


def test_types_docstrings_and_sentences_are_left_alone():
    assert not [each for each in FOUND if each.line in (1, 3, 12, 13, 18)]


def test_a_fault_knows_its_function():
    at = functions_by_line(TEXT)
    assert {each.function for each in FOUND} == {"", "Sum.of"}
    assert all(at.get(each.line, "") == each.function for each in FOUND)


def test_a_text_that_has_changed_is_refused():
    with pytest.raises(ValueError, match=r"made/up\.py has changed at line"):
        FOUND[0].planted(TEXT.replace("SCALE", "SIZES_OF_ALL"))


def test_a_seed_chooses_the_same_faults_whatever_stands_around_them(tmp_path):
    (tmp_path / "made").mkdir()
    chosen = []
    for text in (TEXT, TEXT.replace("class Sum", "ANOTHER = 5\n\n\nclass Sum")):
        (tmp_path / "made/up.py").write_text(text)
        chosen.append(choose(tmp_path, ["made"], 6, seed=1)["made"])
    assert len(chosen[0]) == 6
    assert len({each.line for each in chosen[0]}) == 6
    assert len({each.name for each in chosen[0]} & {each.name for each in chosen[1]}) >= 5
    other = choose(tmp_path, ["made"], 6, seed=2)["made"]
    assert {each.name for each in other} != {each.name for each in chosen[1]}
