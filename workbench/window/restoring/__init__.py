"""Settings, screenshots and sessions that a crash left: what a window is restored from."""
