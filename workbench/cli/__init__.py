"""The command line: its arguments, and what its commands share."""
