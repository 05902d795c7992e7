"""Measure a batch of files beside each of its stages alone: `workbench bench batch`.

With --peers beside a loop with OpenCV and the command-line tools that people filter folders with.

The batch has the same files again and again, as many as a large folder, and its rate is that of its
middle: when all stages have begun, and none has ended.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from threading import Barrier
from time import perf_counter
from typing import Any

import numpy as np

from kernels import Engine
from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device
from kernels.core.version import program_version
from kernels.pictures.generated import of_kind
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.base.memory import use_freed_memory_again
from workbench.batch.batch_run import running
from workbench.batch.device_process import engine_on
from workbench.batch.device_run import SPAWN, DeviceRun, processes_each, shared_jobs
from workbench.batch.filtering import UNTIMED, Outcome, Recipe, encode, filter_, read, sync
from workbench.batch.pairs import FilePair, FilePairs, Group
from workbench.batch.stage_times import FinishedRow
from workbench.cli import this_machine
from workbench.cli.output import CommandError, write_whole
from workbench.files import image_files
from workbench.model.state import State

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


START_S = 120.0  # within which all processes have begun


def seconds_alone(
    engine: Engine, pairs: Iterable[FilePair], recipe: Recipe, jobs: int
) -> list[float]:
    """Return the seconds of decoding, of filtering and of encoding, in this process.

    Raises CommandError where a file fails.
    """
    return _seconds_alone(engine, pairs, recipe, jobs, lambda: None)


def seconds_in_processes(
    devices: Sequence[int | None], pairs: Iterable[FilePair], recipe: Recipe, jobs: int
) -> list[float]:
    """Return the same, in a process for each of the devices, which share files and threads.

    All of them begin a stage at a time.  Raises CommandError where a file fails.
    """
    each, count = list(pairs), len(devices)
    barrier = SPAWN.Barrier(count, timeout=START_S)
    with ProcessPoolExecutor(count, SPAWN, _begin, (barrier,)) as pool:
        parts = (each[at::count] for at in range(count))
        shares = shared_jobs(jobs, count)
        work = partial(_in_process, recipe)
        return [max(times) for times in zip(*pool.map(work, devices, parts, shares), strict=True)]


_barrier: Barrier


def _begin(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier
    use_freed_memory_again()


def _in_process(
    recipe: Recipe, device: int | None, pairs: list[FilePair], jobs: int
) -> list[float]:
    """Return the seconds of this process, whose first picture, which is for warming up, is none."""
    engine = engine_on(device)
    try:
        _seconds_alone(engine, pairs[:1], recipe, jobs, lambda: None)
        return _seconds_alone(engine, pairs, recipe, jobs, _barrier.wait)
    except BaseException:
        _barrier.abort()  # the others wait for this one
        raise
    finally:
        engine.close()


def _seconds_alone(
    engine: Engine,
    pairs: Iterable[FilePair],
    recipe: Recipe,
    jobs: int,
    begin: Callable[[], object],
) -> list[float]:
    """Return the seconds of each stage.

    begin  is called before each, and waits until all processes are there
    """
    outcomes = [Outcome(pair) for pair in pairs]

    def encoding(outcome: Outcome) -> Outcome:
        if outcome.goes_on:
            encode(outcome, recipe)
        return outcome

    with ThreadPoolExecutor(jobs) as pool, ThreadPoolExecutor(jobs) as disk:
        begin()
        decode_s = _seconds(lambda: pool.map(lambda each: read(each, recipe), outcomes))
        begin()
        filter_s = sum(_filter_seconds(engine, each, recipe) for each in outcomes)
        begin()
        encode_s = _seconds(lambda: disk.map(sync, pool.map(encoding, outcomes)))
    if failed := next(filter(None, (each.error for each in outcomes)), None):
        raise CommandError(failed)
    return [decode_s, filter_s, encode_s]


def _filter_seconds(engine: Engine, outcome: Outcome, recipe: Recipe) -> float:
    """Return how long one is filtered; its result is then one that a GPU's link does not keep.

    In a batch the page-locked memory of a result is free again once it is written.
    """
    if not outcome.goes_on:
        return 0.0
    began = perf_counter()
    filter_(engine, outcome, recipe, lambda _: None)
    took_s = perf_counter() - began
    if outcome.result is not None:
        outcome.result = replace(outcome.result, picture=outcome.result.picture.copy())
    return took_s


def _seconds(start: Callable[[], Iterable[None]]) -> float:
    """Return how long it takes until all that is started is done."""
    began = perf_counter()
    for _ in start():
        pass
    return perf_counter() - began


EXTENSIONS = (".png", ".jpg", ".tif")
SIZE = (1080, 1920)  # rows, columns
RUNS = 24  # files of each format; where there are many cores, EACH for each of them
EACH = 8
ROUNDS = 3  # in turns; the quickest counts, since whatever else runs only slows it down
MIDDLE = 1 / 4, 9 / 10  # of what is finished: all has begun, and none has ended
FILES_EACH = 16  # of a batch, for each thread: five times as many as are under way
HEADER = ("", "decode", "filter", "encode", "batch", "of slowest alone", "of what cores allow")
PEERS_TITLE = "The same files by other means (our batch's rate over theirs)"


@dataclass(frozen=True, slots=True)
class Rates:
    """Pictures per second: of each stage while nothing else is done, and of the batch.

    Encoding has the waits for the disk in it, which keep no core busy.
    """

    decode: float
    filter: float
    encode: float
    batch: float

    @property
    def slowest(self) -> float:
        """Return the rate of the slowest stage, which has all cores to itself."""
        return min(self.decode, self.filter, self.encode)

    def allowed(self, *, on_gpu: bool) -> float:
        """Return the rate that the cores allow: those that decode also encode.

        On a CPU they filter as well; a GPU does that meanwhile, and may be the limit.
        """
        files_s = 1 / self.decode + 1 / self.encode
        return min(1 / files_s, self.filter) if on_gpu else 1 / (files_s + 1 / self.filter)

    def cells(self, name: str, *, on_gpu: bool) -> tuple[str, ...]:
        """Return a row of the table."""
        each = (self.decode, self.filter, self.encode, self.batch)
        limits = self.slowest, self.allowed(on_gpu=on_gpu)
        return (
            name,
            *(f"{numbers.three_digits(rate)} per s" for rate in each),
            *(numbers.percent(self.batch / limit) for limit in limits),
        )


@dataclass(frozen=True, slots=True)
class PeerRate:
    """Tell how another program did the same folder.

    off_by   levels between its answers and ours, on average; JPEGs lose some themselves
    why_not  why there is no rate: it is not here, it failed, or its pictures are others
    """

    per_s: float | None
    off_by: float | None = None
    why_not: str | None = None

    def words(self, ours: float) -> str:
        """Return a cell of the table: its rate, and our rate over it."""
        if self.per_s is None:
            return str(self.why_not)
        rate = f"{numbers.three_digits(self.per_s)} per s"
        return f"{rate} ({numbers.fine_ratio(ours / self.per_s)}; {self.off_by:.2f} levels off)"


@dataclass(frozen=True, slots=True)
class Measured:
    """A format's rates, and those of other programs by their titles."""

    rates: Rates
    peers: dict[str, PeerRate]


def run(arguments: Namespace) -> int:
    """Print the rates of every format, and write them where --json says."""
    use_freed_memory_again()  # as a batch does
    engine = this_machine.engine_maker(arguments)()
    jobs = usable_cores()
    files = arguments.runs or max(RUNS, EACH * jobs)
    processes = len(_devices(engine, jobs)) or 1
    print(aligned(_facts(engine, jobs, files, processes)), end="\n\n", flush=True)
    peers = folder_peers() if arguments.peers else []
    found: dict[str, Measured] = {}
    for extension in EXTENSIONS:
        with TemporaryDirectory(prefix="workbench-bench-") as folder:
            found[extension] = _measured(engine, Path(folder), extension, (jobs, files), peers)
    on_gpu = isinstance(engine.device, Device)
    rows = (each.rates.cells(name, on_gpu=on_gpu) for name, each in found.items())
    print(columns([HEADER, *rows]))
    if peers:
        print(f"\n{PEERS_TITLE}:")
        print(columns([("", *found), *(_peer_row(peer.title, found) for peer in peers)]))
    if arguments.json:
        data = {**_data(engine, jobs, files, found), "processes": processes}
        write_whole(arguments.json, json.dumps(data, indent=1))
    return 0


def _data(engine: Engine, jobs: int, files: int, found: dict[str, Measured]) -> dict[str, Any]:
    return {
        **this_machine.heading("batch", engine),
        "jobs": jobs,
        "files": files,
        "size": SIZE,
        "per_s": {name: asdict(each.rates) for name, each in found.items()},
        "peers": {name: _told(each.peers) for name, each in found.items()},
    }


def _peer_row(title: str, found: dict[str, Measured]) -> tuple[str, ...]:
    return title, *(each.peers[title].words(each.rates.batch) for each in found.values())


def _told(peers: dict[str, PeerRate]) -> dict[str, dict[str, object]]:
    return {title: asdict(each) for title, each in peers.items()}


def _facts(engine: Engine, jobs: int, files: int, processes: int) -> list[tuple[str, str]]:
    shared = f" in {processes} processes" if processes > 1 else ""
    return [
        ("Bench", f"batch, Filter Workbench {program_version()}"),
        ("CPU", f"{this_machine.cpu()}; {jobs} threads{shared} read and write"),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Files", f"{files} of each format, {SIZE[1]}×{SIZE[0]} RGB; 5×5 Gaussian"),
    ]


def _measured(
    engine: Engine,
    folder: Path,
    extension: str,
    counts: tuple[int, int],
    peers: Iterable[FolderPeer],
) -> Measured:
    """Return the best rates of some rounds, in which stages, batch and peers take turns.

    counts  threads that read and write, and files
    """
    jobs, files = counts
    source, target = folder / "in", folder / "out"
    source.mkdir()
    target.mkdir()
    names = tuple(f"{number}{extension}" for number in range(files))
    image_files.save(source / names[0], of_kind("photo", *SIZE, 3, "uint8"))
    for name in names[1:]:
        shutil.copyfile(source / names[0], source / name)
    pairs = FilePairs([Group(source, target, names)], str)
    recipe = Recipe(State(), sampling=UNTIMED, check_every=0)
    rounds: list[list[float]] = []
    batches: list[float] = []
    theirs: dict[str, list[PeerRate]] = {peer.title: [] for peer in peers}
    devices = _devices(engine, jobs)
    for _ in range(ROUNDS):
        if devices:
            rounds.append(seconds_in_processes(devices, pairs, recipe, jobs))
        else:
            rounds.append(seconds_alone(engine, pairs, recipe, jobs))
        many = _many(source, target, names, jobs)
        batches.append(_batch_per_s(engine, devices, many, target, recipe, jobs))
        for peer in peers:
            theirs[peer.title].append(peer_rate(peer, source, target, names))
    decode, filtering, encoding = (files / min(times) for times in zip(*rounds, strict=True))
    rates = Rates(decode, filtering, encoding, batch=max(batches))
    return Measured(rates, {title: _best(each) for title, each in theirs.items()})


def peer_rate(peer: FolderPeer, source: Path, target: Path, names: tuple[str, ...]) -> PeerRate:
    """Return a peer's rate on the files that the batch has just written to `target`."""
    if peer.why_not:
        return PeerRate(None, why_not=peer.why_not)
    written = target.with_name("theirs")
    try:
        seconds = peer.seconds(source, written, names)
        off_by = mean_difference(target / names[0], written / names[0])
    except (CalledProcessError, OSError) as error:
        return PeerRate(None, why_not=f"failed: {error}")
    finally:
        shutil.rmtree(written, ignore_errors=True)
    if off_by > LEVELS:
        return PeerRate(None, why_not=f"other pictures: {off_by:.1f} levels off")
    return PeerRate(len(names) / seconds, off_by)


def _best(rates: list[PeerRate]) -> PeerRate:
    return max(rates, key=lambda each: each.per_s or 0)


def _devices(engine: Engine, jobs: int) -> tuple[int | None, ...]:
    """Return the GPU, or None, of each process that a batch of many files has; none: it has one."""
    processes = processes_each(jobs, jobs * FILES_EACH)
    device = engine.device.index if isinstance(engine.device, Device) else None
    return (device,) * processes if processes > 1 else ()


def _many(source: Path, target: Path, names: tuple[str, ...], jobs: int) -> FilePairs:
    """Return the same files again and again, into folders in `target`, but for the first time."""
    again = range(1, -(-jobs * FILES_EACH // len(names)))
    more = (Group(source, target / str(n), names, below=target / str(n)) for n in again)
    return FilePairs([Group(source, target, names), *more], str)


def _batch_per_s(
    engine: Engine,
    devices: tuple[int | None, ...],
    pairs: FilePairs,
    target: Path,
    recipe: Recipe,
    jobs: int,
) -> float:
    """Return the rate of a batch as the command does it: in this process, or in one for each."""
    if not devices:
        return _per_s(running(engine, pairs, recipe, jobs))
    run = DeviceRun(devices, recipe, target, jobs, _refuse)
    return _per_s(run.rows(pairs))


def _per_s(finished: Generator[Outcome | FinishedRow, None, None]) -> float:
    """Return the rate at which these are finished.  Raises CommandError where one fails."""
    times: list[float] = []
    with closing(finished):
        for each in finished:
            times.append(perf_counter())
            if each.error:
                _refuse(each.error)
    return middle_per_s(times)


def _refuse(sentence: str) -> None:
    raise CommandError(sentence)


def middle_per_s(finished_s: Sequence[float]) -> float:
    """Return the rate in the middle of a batch, from the time at which each picture was finished.

    The start of processes takes as long however much there is to do.
    """
    first, last = (round(share * (len(finished_s) - 1)) for share in MIDDLE)
    return (last - first) / (finished_s[last] - finished_s[first])
