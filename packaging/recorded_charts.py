"""Draw the charts of docs/sweeps.md from the sessions in assets/recorded/: `make charts`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from kernels.sweeps.session_files import SUFFIXES, read_session
from workbench.base.columns import with_tables
from workbench.charts.data.figure import Choices, Figure
from workbench.charts.data.points import Data
from workbench.charts.drawing.chart_export import svg_of
from workbench.charts.kinds import chart_kinds

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "sweeps.md"
RECORDED = ROOT / "assets" / "recorded"
DRAWN = ROOT / "assets" / "charts"
NOT_MEASURED = "*Not measured yet: see `workbench sweep`.*"

# (the session's name, without its ending; the chart's kind; what speed-ups are against)
CHARTS = (
    ("camerino_image_size", "time_by_size", None),
    ("firenze_transfers", "ladder", "opencv"),
    ("camerino_block_shape", "block_shapes", None),
)


def figures() -> Iterator[tuple[str, Figure]]:
    """(file name, chart) of every session that is there."""
    kinds = {kind.key: kind for kind in chart_kinds()}
    for name, kind, baseline in CHARTS:
        path = next(filter(Path.is_file, (RECORDED / f"{name}{end}" for end in SUFFIXES)), None)
        if path is not None:
            session = read_session(path)
            yield f"{name}.svg", kinds[kind].figure(Data([session], Choices(baseline=baseline)))


def words(drawn: list[tuple[str, Figure]]) -> str:
    """The text between the markers."""
    parts = []
    for name, figure in drawn:
        said = " ".join(f"{figure.title}. {figure.sentence}".split())
        plain = re.sub(r"([\\`*_\[\]<>|])", r"\\\1", said)  # of what Markdown would take as its own
        parts.append(f"![{plain}](../assets/charts/{name})")
    return "\n\n".join(parts) or NOT_MEASURED


def main() -> int:
    drawn = list(figures())
    DRAWN.mkdir(parents=True, exist_ok=True)
    for old in DRAWN.glob("*.svg"):
        old.unlink()
    for name, figure in drawn:
        (DRAWN / name).write_text(svg_of(figure), encoding="utf-8")
    PAGE.write_text(
        with_tables(PAGE.read_text("utf-8"), {"charts": words(drawn)}), encoding="utf-8"
    )
    print(f"Drew {len(drawn)} charts into {DRAWN.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
