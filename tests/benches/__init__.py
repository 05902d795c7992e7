"""Benches of the program itself, for those who work on it: `make bench NAME=startup`."""
