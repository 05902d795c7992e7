"""Runs the ladder's CUDA C++ on the CPU, so that it can be proved right without a GPU."""
