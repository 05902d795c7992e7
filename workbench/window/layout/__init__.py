"""The layout of the window: its toolbar, its size, and what of it is hidden."""
