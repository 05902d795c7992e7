"""Reports of compute-sanitizer, in the form of its documentation, read as data."""

from __future__ import annotations

import pytest

from kernels.cuda.listings import Place
from kernels.cuda_child.sanitizer_reports import complaint_of, is_complete, reports_of
from tests.kernels.cuda_child import sanitizer_output as printed


def only(text):
    (report,) = reports_of(text)
    return report


@pytest.mark.parametrize("word", ["Address", "Access to"])  # the later is of version 2025.3
def test_an_access_has_its_line_thread_block_size_and_address(word):
    report = only(printed.ABOVE.replace("Address 0x", f"{word} 0x"))
    assert (report.kind, report.space, report.is_store, report.size) == (
        "outside",
        "global",
        False,
        1,
    )
    assert (report.thread, report.block) == ((3, 7), (0, 1))
    assert report.address == printed.SOURCE - 123
    assert report.places == (Place("mine.cu", 8),)


def test_what_the_host_called_and_what_followed_is_no_report():
    assert len(reports_of(printed.ABOVE)) == 1
    assert reports_of(printed.FINE) == reports_of(printed.NO_RACE) == ()
    assert reports_of(printed.BANNER + printed.LOST) == ()


@pytest.mark.parametrize("word", ["Address", "Access to"])
def test_a_misaligned_write_is_told_from_one_outside(word):
    report = only(printed.MISALIGNED.replace("Address 0x", f"{word} 0x"))
    assert (report.kind, report.is_store, report.size) == ("misaligned", True, 4)


def test_calls_are_places_as_well():
    report = only(printed.IN_A_FUNCTION)
    assert report.places == (Place("prelude.cuh", 39), Place("mine.cu", 12))


def test_the_older_form_of_places_is_read():
    report = only(printed.OLD_FORM)
    assert report.places == (Place("mine.cu", 9),)
    assert (report.space, report.address, report.block) == ("shared", 0x400, (2, 0))


@pytest.mark.parametrize("text", [printed.RACE, printed.IN_A_WARP])
def test_a_race_has_both_accesses_in_their_order(text):
    report, other = reports_of(text)
    assert (report.kind, report.thread, report.block) == ("race", (3, 1), (1, 0))
    assert (report.places, report.is_store) == ((Place("mine.cu", 9),), False)
    assert (report.earlier.thread, report.earlier.is_store) == ((35, 0), True)
    assert report.earlier.places == (Place("mine.cu", 8),)
    assert (report.address, other.address) == (0x8C, 0x8D)


def test_a_barrier_has_the_line_of_its_call():
    assert only(printed.BARRIER).places == (Place("mine.cu", 8),)
    assert only(printed.IN_BLOCK).places[-1] == Place("mine.cu", 10)
    assert only(printed.BAD_MASK).places[-1] == Place("mine.cu", 48)
    assert only(printed.BARRIER).thread == (37, 0)


def test_what_was_never_written_has_its_space():
    assert only(printed.UNINITIALISED).kind == "uninitialised"
    tile = only(printed.UNINITIALISED_TILE)
    assert (tile.space, tile.size, tile.address) == ("shared", 4, 8)


def test_a_report_of_another_kind_keeps_its_headline():
    report = only(printed.SOMETHING)
    assert (report.kind, report.headline, report.thread) == ("other", "Stack overflow", (4, 0))


def test_lines_of_others_between_reports_do_not_matter():
    assert len(reports_of(f"hello\n{printed.ABOVE}Segmentation fault\n")) == 1


def test_a_summary_is_its_end():
    assert is_complete(printed.FINE)
    assert is_complete(printed.NO_RACE)
    assert not is_complete(printed.NOT_FOR_THIS_GPU)
    assert not is_complete("")


def test_why_it_does_not_work_is_in_its_own_words():
    assert "Device not supported" in complaint_of(printed.NOT_FOR_THIS_GPU)
    assert reports_of(printed.NOT_FOR_THIS_GPU) == ()
    assert complaint_of("usage: nonsense\n\n") == "usage: nonsense"
    assert complaint_of("") == ""
