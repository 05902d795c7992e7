"""The letters of texts that are read from files as they stand: all but what a terminal obeys."""

from hypothesis import strategies as st

SHOWN = st.characters(
    codec="utf-8",
    exclude_categories=["Cc"],
    include_characters="\t\n",
    exclude_characters="\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
)
