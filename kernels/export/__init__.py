"""Export a computation as a program of its own that needs nothing of this one."""
