"""File ▸ Filter a folder…: all pictures of a folder as the window filters one."""
