"""Picture files filtered without a window: which files, and each from reading to writing."""
