"""The Qt application.  It computes nothing itself: everything goes through `kernels`."""

__version__ = "0.1.0"
