"""The mark of a time that was disturbed while it was measured, and what explains it."""

from __future__ import annotations

from collections.abc import Sequence


def star(disturbances: Sequence[str]) -> str:
    """Return "*", which stands behind a time that was disturbed; empty where nothing did."""
    return "*" if disturbances else ""


def why_starred(disturbances: Sequence[str]) -> str:
    """Return "* Disturbed: other programs kept 2.0 of 2 cores busy."; empty where nothing did."""
    return f"* Disturbed: {'; '.join(disturbances)}." if disturbances else ""
