"""What is on the screen as text that does it again: a command line, Python, CUDA C++."""
