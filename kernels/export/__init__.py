"""What is computed here, as a program of its own that needs nothing of this one."""
