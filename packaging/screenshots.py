"""Draw the screenshots of the papers and the help, one per mode of the window: `make screenshots`.

Between the markers of README.md each mode has a line, between those of docs/window.md its paragraph
and its picture.  A folder named on the command line gets the screenshots instead.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from io import BytesIO
from pathlib import Path
from subprocess import DEVNULL, run
from tempfile import TemporaryDirectory

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from kernels import Engine
from kernels.core.device import NoDevice
from workbench.base.columns import with_tables, wrapped
from workbench.model.names import modes

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
WINDOW_PAGE = ROOT / "docs" / "window.md"
DRAWN = ROOT / "assets" / "screenshots"
SIZE = "1280x800"
COLORS = 256

WORDS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# With a GPU `auto` takes a rung whose blocks have a shape of their own.
ON_GPU = {"blocks": ["--implementation", "shared"], "anatomy": ["--implementation", "shared"]}
DARK = ("result",)  # drawn in the dark theme as well
# The measurements of the user who draws them: hidden, so that the pictures are everybody's.
MEASURED = "FILTER_WORKBENCH_CACHE"


def shots() -> dict[str, list[str]]:
    """The files' names, and the words that draw them; a mode's own words come last and hold."""
    made = {}
    for mode, words in WORDS.items():
        said = ["--mode", mode, *words.split()]
        made[f"{mode}.png"] = ["--theme", "light", *said]
        if mode in DARK:
            made[f"{mode}-dark.png"] = ["--theme", "dark", *said]
    return made


def draw(name: str, words: list[str], folder: Path) -> None:
    """Draw one into `folder`.  Raises CalledProcessError where that fails."""
    raw = folder / f"raw-{name}"
    command = [sys.executable, "-m", "tests.window_driver", str(raw), "--size-px", SIZE, *words]
    run(command, check=True, stdout=DEVNULL, cwd=ROOT)
    (folder / name).write_bytes(smaller(raw.read_bytes()))


def smaller(encoded: bytes) -> bytes:
    """The same PNG with a palette of its own; the settings inside it are kept."""
    packed, kept = BytesIO(), PngInfo()
    with Image.open(BytesIO(encoded)) as image:
        few = image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
        for key, text in image.text.items():  # type: ignore[attr-defined]
            kept.add_itxt(key, text)
    few.save(packed, "PNG", optimize=True, pnginfo=kept)
    return packed.getvalue()


def lines() -> str:
    """The text between README's markers: a line per mode, linked to its paragraph."""
    made = []
    for mode in modes().values():
        anchor = re.sub(r"[^\w -]", "", mode.title.lower()).replace(" ", "-")
        said = f"- [{mode.title}](docs/window.md#{anchor}): {mode.first_sentence}"
        made.append(wrapped(said, "  "))
    return "\n".join(made)


def paragraphs() -> str:
    """The text between the markers of the page about the window."""
    parts = []
    for key, mode in modes().items():
        picture = f"![{mode.title}](../assets/screenshots/{key}.png)"
        parts += [f"### {mode.title}", wrapped(mode.words), picture]
    return "\n\n".join(parts)


def main(arguments: list[str]) -> int:
    target = Path(arguments[0]) if arguments else DRAWN
    has_gpu = not isinstance(Engine().device, NoDevice)
    # Against the best on the CPU a CPU's figures say nothing.
    on_cpu = [] if has_gpu else ["--baseline", "sequential"]
    with TemporaryDirectory() as name:
        folder = Path(name)
        os.environ[MEASURED] = str(folder / "nobody")
        for file, said in shots().items():
            on_gpu = ON_GPU.get(Path(file).stem, []) if has_gpu else []
            draw(file, [*on_cpu, *on_gpu, *said], folder)
            print(file, flush=True)
        target.mkdir(parents=True, exist_ok=True)
        for old in target.glob("*.png"):
            old.unlink()
        for file in shots():
            shutil.copy(folder / file, target / file)
    if not arguments:
        for page, made in ((README, lines()), (WINDOW_PAGE, paragraphs())):
            page.write_text(with_tables(page.read_text("utf-8"), {"modes": made}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
