"""Services that run while a window is open, without widgets: the worker, opening, exporting."""
