"""The present job as text that runs it again: a command line, Python, CUDA C++."""
