"""The stages that a picture goes through from file to file."""

from __future__ import annotations

from typing import Literal

Stage = Literal["decode", "filter", "verify", "encode"]
