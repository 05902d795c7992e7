"""Recovery after a crash: what a window shows is kept all the time, in one file per process."""
