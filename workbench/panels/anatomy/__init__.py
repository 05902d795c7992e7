"""Anatomy of a launch: blocks, warps and lanes over the picture, and their numbers in words."""
