"""The places of all panels in a window, by their titles."""

from __future__ import annotations

from kernels.core.plain_data import from_plain, parse_toml
from workbench.base.paths import asset
from workbench.widgets.lazy_panel import Dock

_TABLE = parse_toml(asset("panels.toml").read_text("utf-8"), "panels.toml")
DOCKS = {title: from_plain(Dock, {"title": title, **facts}) for title, facts in _TABLE.items()}
