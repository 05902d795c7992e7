"""The pictures before and after, and the ways to compare them."""
