"""A palette of everything that can be done, found by words or a few letters."""
