"""Anatomy of a launch: what each block and thread computes, and what its accesses cost."""
