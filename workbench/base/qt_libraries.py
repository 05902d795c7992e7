"""The system libraries that Qt loads on Linux, and which are missing.

Imports no Qt and nothing newer than Python 3.8: `packaging/bootstrap.py` uses it as well.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping

# A library of Qt -> the Debian package that brings it.
ALWAYS = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libfontconfig.so.1": "libfontconfig1",  # pulls in a font too: without one all text is boxes
    "libdbus-1.so.3": "libdbus-1-3",
    "libglib-2.0.so.0": "libglib2.0-0",
}
ON_X11 = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
}


def platform() -> str:
    """Platform plugin that Qt will take: "xcb", "wayland", "offscreen", "cocoa" …."""
    if wanted := os.environ.get("QT_QPA_PLATFORM"):
        return wanted
    if sys.platform != "linux":
        return {"win32": "windows", "darwin": "cocoa"}.get(sys.platform, sys.platform)
    if os.environ.get("WAYLAND_DISPLAY"):
        return "wayland"
    return "xcb" if os.environ.get("DISPLAY") else "offscreen"


def why_no_window(on_platform: str) -> str | None:
    """Sentence on the libraries that Qt lacks for a window there; None: nothing."""
    if sys.platform != "linux":
        return None
    missing = {**missing_among(ALWAYS), **(missing_among(ON_X11) if on_platform == "xcb" else {})}
    if not missing:
        return _why_no_x11() if on_platform == "xcb" else None
    return (
        f"Qt needs {', '.join(missing)}, which this system lacks; on Debian or Ubuntu: "
        f"sudo apt-get install {' '.join(missing.values())}"
    )


def problems() -> list[str]:
    """Name the libraries that Qt lacks for a window on X11."""
    if sys.platform != "linux" or platform() == "xcb" or not (missing := missing_among(ON_X11)):
        return []
    packages = " ".join(missing.values())
    return [f"For a window on X11, on Debian or Ubuntu: sudo apt-get install {packages}"]


def _why_no_x11() -> str | None:
    """Sentence on a display that does not answer, which makes Qt abort."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if not failed:
        return None
    return (
        f"The display {os.environ.get('DISPLAY')} does not answer; `unset DISPLAY` to have the "
        "window drawn into a file."
    )


def missing_among(libraries: Mapping[str, str]) -> dict[str, str]:
    """Those that the dynamic loader, which Qt will use, does not find."""
    missing = {}
    for name, package in libraries.items():
        try:
            ctypes.CDLL(name)
        except OSError:
            missing[name] = package
    return missing
