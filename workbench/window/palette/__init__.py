"""A palette of everything that can be done, found by a few letters of its name."""
