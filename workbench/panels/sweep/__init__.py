"""Sweeps: plans, their progress, and the sessions shown."""
