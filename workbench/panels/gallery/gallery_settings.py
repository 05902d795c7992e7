"""Remembered settings of the gallery: the folder of its pictures and their mirror."""

from __future__ import annotations

from pathlib import Path

from workbench.base.settings import Settings
from workbench.files.kodak import DEFAULT_MIRROR
from workbench.panels.gallery.gallery import Gallery


def make_gallery(settings: Settings) -> Gallery:
    """Return a gallery that begins with what `settings` remember, and keeps them up to date."""
    folder = settings.get("kodak-folder", "")
    gallery = Gallery(Path(folder) if folder else None, settings.get("mirror", DEFAULT_MIRROR))
    gallery.folder_changed.connect(lambda path: settings.set("kodak-folder", str(path)))
    gallery.mirror_changed.connect(lambda mirror: settings.set("mirror", mirror))
    return gallery
