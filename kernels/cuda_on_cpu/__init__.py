"""Runs CUDA C++ on the CPU: to show what it does without a GPU, to find its bugs, and to count."""
