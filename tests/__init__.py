"""Tests; a package, so that no other `tests` that happens to be installed takes its place."""
