"""Tables in Markdown, and their places on a page."""

from workbench.base.markdown_tables import table, with_tables


def test_a_table_has_numbers_at_the_right():
    assert (
        table(("what", "ms"), [("a", "1.5")], right=[1])
        == "| what | ms |\n| --- | --: |\n| a | 1.5 |"
    )


def test_it_is_put_between_its_markers_and_backslashes_stay():
    text = "before\n<!-- one -->\nold\n<!-- /one -->\nafter\n"
    made = with_tables(text, {"one": r"a \1 | b"})
    assert made == "before\n<!-- one -->\n\na \\1 | b\n\n<!-- /one -->\nafter\n"
    assert with_tables(made, {"one": r"a \1 | b"}) == made
