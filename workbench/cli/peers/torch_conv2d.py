"""PyTorch's conv2d (cuDNN): every channel by itself, in its planar layout.  Zeros lie beyond."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.cli.peers import PeerWay, Task, importable, to_host

TITLE = "PyTorch conv2d"
DIRECT_KSIZE = 31  # beyond, cuDNN takes seconds to choose how


def missing() -> str | None:
    """Return why PyTorch cannot be used here; None if it can."""
    if reason := importable("torch", TITLE):
        return reason
    import torch

    return None if torch.cuda.is_available() else "This PyTorch finds no GPU."


def ways(task: Task) -> Iterator[PeerWay]:
    """Yield each way to do the task with it."""
    import torch

    job = task.job
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    device = torch.device("cuda", task.clock.device.index)
    stream = torch.cuda.ExternalStream(task.clock.stream.ptr, device=device)
    if job.pixel_type == "uint16":
        return
    with torch.cuda.stream(stream), torch.no_grad():
        planes = torch.as_tensor(job.picture.copy(), device=device).permute(2, 0, 1)[None]
        planes = planes.contiguous()
        half = job.pixel_type == "float16"
        kept = torch.float16 if half else torch.float32

        def on_device(weights: Any) -> Any:
            made = torch.as_tensor(weights.copy(), device=device, dtype=kept)
            return made.expand(job.channels, 1, *weights.shape).contiguous()

        kernels = [("PyTorch conv2d", [on_device(job.weights)])]
        if job.ksize > DIRECT_KSIZE:
            kernels = []
        if task.separable is not None:
            column, row = task.separable
            kernels.append(
                ("PyTorch conv2d × 2", [on_device(column[:, None]), on_device(row[None, :])])
            )
        for name, stages in kernels:
            found: list[Any] = []

            def convolve(stages: list[Any] = stages, found: list[Any] = found) -> None:
                with torch.cuda.stream(stream), torch.no_grad():
                    image = planes if planes.is_floating_point() else planes.float()
                    for each in stages:
                        padding = (each.shape[2] // 2, each.shape[3] // 2)
                        image = torch.nn.functional.conv2d(
                            image, each, padding=padding, groups=job.channels
                        )
                    if not planes.is_floating_point():
                        image = image.round_().clamp_(0, 255).to(torch.uint8)
                    found[:] = [image]

            yield PeerWay(
                name,
                convolve,
                lambda found=found: to_host(task.cp, found[0][0].permute(1, 2, 0).contiguous()),  # type: ignore[misc]
                border="zero",
            )
