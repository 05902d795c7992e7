"""Blur a folder of pictures as people do by hand: a loop with OpenCV, and command-line tools.

Each is called as its manual shows it, with the weights of our own 5×5 Gaussian: a radius of two
pixels and a standard deviation of 1.1.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from workbench.files import image_files

KSIZE, SIGMA = 5, 1.1
# libvips leaves out weights below this share of the middle's: exp(−2²/2σ²) = 0.19 is the last one.
VIPS_SMALLEST = 0.1
NOT_PACKED = (259, 1)  # a TIFF, as ours are: cv2.IMWRITE_TIFF_COMPRESSION, none
LEVELS = 2.0  # between two answers on average: rounding, and a JPEG's loss

Blur = Callable[[Path, Path, Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class FolderPeer:
    """A way to blur the files of one folder into another.

    why_not  the sentence why there is none here, or None
    blur     takes the folder with the files, one to write into, and the files' names;
             OSError or CalledProcessError where it fails
    """

    title: str
    why_not: str | None
    blur: Blur

    def seconds(self, source: Path, target: Path, names: Sequence[str]) -> float:
        """Return how long it takes for all of the files, the start of its program included."""
        target.mkdir(exist_ok=True)
        began = perf_counter()
        self.blur(source, target, names)
        return perf_counter() - began


def folder_peers() -> list[FolderPeer]:
    """Return all of them, those that are missing here with the reason."""
    mogrify = ["magick", "mogrify"] if shutil.which("magick") else ["mogrify"]
    return [
        FolderPeer("Python loop with cv2", None, _opencv_loop),
        _tool("ImageMagick mogrify", mogrify, _imagemagick),
        _tool("GraphicsMagick mogrify", ["gm"], _graphicsmagick),
        _tool("vips gaussblur", ["vips"], _vips),
    ]


def mean_difference(one: Path, other: Path) -> float:
    """Return how far two pictures' samples are apart on average, in levels; infinite by shape."""
    ours, theirs = (image_files.load(path).samples for path in (one, other))
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    return float(np.abs(ours.astype(np.float32) - theirs).mean())


def _tool(title: str, program: list[str], blur: Callable[..., None]) -> FolderPeer:
    is_here = shutil.which(program[0]) is not None
    return FolderPeer(title, None if is_here else "not installed here", partial(blur, program))


def _opencv_loop(source: Path, target: Path, names: Sequence[str]) -> None:
    import cv2

    for name in names:
        picture = cv2.imread(str(source / name))
        if picture is None:
            raise OSError(f"OpenCV cannot read {name}.")
        blurred = cv2.GaussianBlur(picture, (KSIZE, KSIZE), SIGMA, borderType=cv2.BORDER_REPLICATE)
        is_tiff = name.endswith(".tif")
        cv2.imwrite(str(target / name), blurred, NOT_PACKED if is_tiff else ())


def _imagemagick(program: list[str], source: Path, target: Path, names: Sequence[str]) -> None:
    how = ["-virtual-pixel", "edge", "-gaussian-blur", f"{KSIZE // 2}x{SIGMA}"]
    _run([*program, "-path", str(target), *how, *names], source)


def _graphicsmagick(program: list[str], source: Path, target: Path, names: Sequence[str]) -> None:
    how = ["-virtual-pixel", "edge", "-gaussian", f"{KSIZE // 2}x{SIGMA}"]
    _run([*program, "mogrify", "-output-directory", str(target), *how, *names], source)


def _vips(program: list[str], source: Path, target: Path, names: Sequence[str]) -> None:
    for name in names:
        quality = "[Q=95]" if name.endswith(".jpg") else ""  # its own is 75, others' are near 95
        files = [name, f"{target / name}{quality}", str(SIGMA)]
        _run([*program, "gaussblur", *files, "--min-ampl", str(VIPS_SMALLEST)], source)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
