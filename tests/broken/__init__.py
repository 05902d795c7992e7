"""Files broken in many ways, read in a process of their own."""
