"""The stages that a picture goes through from file to file."""

from __future__ import annotations

from typing import Literal, get_args

from kernels import Result

Stage = Literal["decode", "upload", "filter", "download", "verify", "encode", "sync"]
STAGES: tuple[Stage, ...] = get_args(Stage)
BY_FILES: tuple[Stage, ...] = ("decode", "encode")  # which the same threads do
BY_DISK: tuple[Stage, ...] = ("sync",)  # which others wait for, as many of them
BY_ENGINE: tuple[Stage, ...] = ("upload", "filter", "download", "verify")  # and one thread does


def filtering_seconds(result: Result, took_s: float) -> dict[Stage, float]:
    """Return the seconds of filtering by stage; on a GPU both transfers are stages of their own."""
    moved: dict[Stage, float | None] = {"upload": result.upload_ms, "download": result.download_ms}
    seconds: dict[Stage, float] = {stage: ms / 1e3 for stage, ms in moved.items() if ms is not None}
    seconds["filter"] = max(took_s - sum(seconds.values()), 0.0)
    return seconds
