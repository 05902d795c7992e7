"""Hours of random actions on the real window; `python -m tests.soak --help`."""
