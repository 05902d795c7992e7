"""Tests look at what a user, or a script, can see: private members may change under them."""

from tests.private_members import touched

# Of the soak test, which waits for threads that nobody else waits for; the number may only fall.
MAX_TOUCHED = 3


def test_tests_touch_few_private_members():
    found = [f"{path}:{line}: {name}" for path, line, name in touched()]
    assert len(found) <= MAX_TOUCHED, "\n".join(found)
