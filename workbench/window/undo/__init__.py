"""Undo and redo of settings: every change of the State, told in words, with a way back."""
