"""Run any job on any implementation, and choose the best one."""
