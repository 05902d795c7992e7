"""Draws figures with a QPainter, on the screen and into files."""
