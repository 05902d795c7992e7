"""Block shapes side by side, live: they take turns on the present job, and their times settle."""
