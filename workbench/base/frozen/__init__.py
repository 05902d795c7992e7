"""PyInstaller's hook for this program: `pyinstaller` finds it by the entry point in pyproject."""

from pathlib import Path


def hook_folders() -> list[str]:
    """Folders that PyInstaller looks for hooks in."""
    return [str(Path(__file__).parent)]
