"""After a crash the window comes back: what it shows is kept all the time, a file a process."""
