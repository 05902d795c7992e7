"""Weights editor: a grid, its properties, and named weights."""
