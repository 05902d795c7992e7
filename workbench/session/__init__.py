"""What runs while a window is open: the worker, live filtering, opening, exporting.  No widgets."""
