"""File ▸ Filter to file…: all of a picture larger than memory, as the window filters its copy."""
