"""Reusable widgets that know nothing of what is chosen."""
