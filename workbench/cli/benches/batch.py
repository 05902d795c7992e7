"""Measure a batch of files beside each of its stages alone: `workbench bench batch`.

With --peers beside a loop with OpenCV and the command-line tools that people filter folders with.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from kernels import Engine
from kernels.core.cpu_load import usable_cores
from kernels.core.device import Device
from kernels.core.plain_data import to_plain
from kernels.core.version import program_version
from kernels.pictures.generated import of_kind
from workbench.base import diagnostics, numbers
from workbench.base.columns import aligned, columns
from workbench.base.memory import use_freed_memory_again
from workbench.batch.batch_run import running
from workbench.batch.batch_worker import engine_on
from workbench.batch.device_run import SPAWN, DeviceRun, processes_each, shared_jobs
from workbench.batch.filtering import UNTIMED, Outcome, Recipe, encode, filter_, read, sync
from workbench.batch.pairs import FilePair, FilePairs, Group
from workbench.cli import this_machine
from workbench.cli.benches.ways import seconds_of
from workbench.cli.output import CommandError, write_whole
from workbench.files import image_files
from workbench.model.state import State

FORMATS = {".png": "PNG", ".jpg": "JPEG", ".tif": "TIFF"}
SIZE = (1080, 1920)  # rows, columns
RUNS = 24  # files of each format; where there are many cores, EACH for each of them
EACH = 8
ROUNDS = 3  # in turns; the quickest counts, since everything else only slows it down
MIDDLE = 1 / 4, 9 / 10  # of the finished files: all stages have begun, and none has ended
FILES_EACH = 16  # of a batch, for each thread: five times as many as are under way
START_S = 120.0  # within which all processes have begun

KSIZE, SIGMA = 5, 1.1
# libvips leaves out weights below this share of the middle's: exp(−2²/2σ²) = 0.19 is the last one.
VIPS_SMALLEST = 0.1
NOT_PACKED = (259, 1)  # a TIFF, as ours are: cv2.IMWRITE_TIFF_COMPRESSION, none
LEVELS = 2.0  # between two outputs on average: rounding, and a JPEG's loss

RECIPE = Recipe(State(), sampling=UNTIMED, check_every=0)
STAGES = ("decode", "filter", "encode")
HEADER = ("", *STAGES, "batch", "of slowest alone", "limit", "of it")
PEERS_TITLE = "The same files by other means (our batch's rate over theirs)"
Row = tuple[str, ...]


# Blurs files of a folder into another; OSError or CalledProcessError where it fails.
Blur = Callable[[Path, Path, Sequence[str]], None]


def folder_peers() -> dict[str, Blur | None]:
    """Map other programs by their titles; None: not installed here."""
    mogrify = ["magick", "mogrify"] if shutil.which("magick") else ["mogrify"]
    edge, blur = ["-virtual-pixel", "edge"], f"{KSIZE // 2}x{SIGMA}"
    graphics = ["gm", "mogrify", *edge, "-gaussian", blur, "-output-directory"]
    tools = (
        ("ImageMagick mogrify", _run_once, [*mogrify, *edge, "-gaussian-blur", blur, "-path"]),
        ("GraphicsMagick mogrify", _run_once, graphics),
        ("vips gaussblur", _run_vips, ["vips", "gaussblur"]),
    )
    found: dict[str, Blur | None] = {"Python loop with cv2": _opencv_loop}
    for title, run, command in tools:
        found[title] = partial(run, command) if shutil.which(command[0]) else None
    return found


def _opencv_loop(source: Path, target: Path, names: Sequence[str]) -> None:
    import cv2

    for name in names:
        if (picture := cv2.imread(str(source / name))) is None:
            raise OSError(f"OpenCV cannot read {name}.")
        blurred = cv2.GaussianBlur(picture, (KSIZE, KSIZE), SIGMA, borderType=cv2.BORDER_REPLICATE)
        cv2.imwrite(str(target / name), blurred, NOT_PACKED if name.endswith(".tif") else ())


def _run_once(command: list[str], source: Path, target: Path, names: Sequence[str]) -> None:
    subprocess.run([*command, str(target), *names], cwd=source, check=True, capture_output=True)


def _run_vips(command: list[str], source: Path, target: Path, names: Sequence[str]) -> None:
    for name in names:
        quality = "[Q=95]" if name.endswith(".jpg") else ""  # its own is 75, others' are near 95
        words = [name, f"{target / name}{quality}", str(SIGMA), "--min-ampl", str(VIPS_SMALLEST)]
        subprocess.run([*command, *words], cwd=source, check=True, capture_output=True)


@dataclass(frozen=True, slots=True)
class PeerRate:
    """The rate of another program on the same folder.

    off_by   levels between its outputs and ours, on average; JPEGs lose some themselves
    why_not  the reason for having no rate: it is not here, it failed, or its pictures are others
    """

    per_s: float | None
    off_by: float | None = None
    why_not: str | None = None

    def words(self, ours: float) -> str:
        if self.per_s is None:
            return str(self.why_not)
        rate = f"{numbers.three_digits(self.per_s)} per s"
        return f"{rate} ({numbers.fine_ratio(ours / self.per_s)}; {self.off_by:.2f} levels off)"


def peer_rate(blur: Blur | None, source: Path, target: Path, names: tuple[str, ...]) -> PeerRate:
    """Time a program on the files that the batch has just written to `target`."""
    if blur is None:
        return PeerRate(None, why_not="not installed here")
    written = target.with_name("theirs")
    written.mkdir()
    try:
        seconds = seconds_of(lambda: blur(source, written, names))
        off_by = _mean_difference(target / names[0], written / names[0])
    except (CalledProcessError, OSError) as error:
        return PeerRate(None, why_not=f"failed: {error}")
    finally:
        shutil.rmtree(written, ignore_errors=True)
    if off_by > LEVELS:
        return PeerRate(None, why_not=f"other pictures: {off_by:.1f} levels off")
    return PeerRate(len(names) / seconds, off_by)


def _mean_difference(one: Path, other: Path) -> float:
    """Average the difference of two pictures' samples, in levels; infinite by shape."""
    ours, theirs = (image_files.load(path).samples for path in (one, other))
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    return float(np.abs(ours.astype(np.float32) - theirs).mean())


@dataclass(frozen=True, slots=True)
class Rates:
    """Pictures per second: of each stage while nothing else is done, and of the batch.

    Encoding has the waits for the disk in it, which keep no core busy.
    """

    decode: float
    filter: float
    encode: float
    batch: float

    def cells(self, name: str, *, on_gpu: bool) -> Row:
        """Make a row of the table, with the limit of the batch.

        Cores that decode also encode.  On a CPU they filter as well; a GPU does that meanwhile.
        """
        alone = (self.decode, self.filter, self.encode)
        files_s = 1 / self.decode + 1 / self.encode
        allowed, limit = 1 / (files_s + 1 / self.filter), "the cores"
        if on_gpu:
            allowed, limit = min((self.filter, "filtering"), (1 / files_s, "the files"))
        return (
            name,
            *(numbers.three_digits(rate) for rate in (*alone, self.batch)),
            numbers.percent(self.batch / min(alone)),
            limit,
            numbers.percent(self.batch / allowed),
        )


@dataclass(frozen=True, slots=True)
class Folder:
    """Files of one format, and how to filter them.

    devices  the GPU, or None, of each process that a batch has; none: it has this one
    jobs     I/O threads
    """

    source: Path
    target: Path
    names: tuple[str, ...]
    engine: Engine
    devices: tuple[int | None, ...]
    jobs: int

    def pairs(self, times: int = 1) -> FilePairs:
        """The files again and again, into folders in `target`, but for the first time."""
        again = (self.target / str(number) for number in range(1, times))
        more = (Group(self.source, each, self.names, below=each) for each in again)
        return FilePairs([Group(self.source, self.target, self.names), *more], str)


def run(arguments: Namespace) -> int:
    """Print the rates of every format, and write them where --json says."""
    use_freed_memory_again()  # as a batch does
    engine = this_machine.engine_maker(arguments)()
    jobs = usable_cores()
    files = arguments.runs or max(RUNS, EACH * jobs)
    processes = processes_each(jobs, jobs * FILES_EACH)
    device = engine.device.index if isinstance(engine.device, Device) else None
    devices = (device,) * processes if processes > 1 else ()
    shared = f" in {processes} processes" if devices else ""
    size = f"{SIZE[1]}×{SIZE[0]}"
    facts = [
        ("Bench", f"batch, Filter Workbench {program_version()}"),
        ("CPU", f"{this_machine.cpu()}; {jobs} threads{shared} read and write"),
        ("GPU", diagnostics.gpu(engine.device)),
        ("Files", f"{files} of each format, {size} RGB, 5×5 Gaussian; pictures/s"),
    ]
    print(aligned(facts), end="\n\n", flush=True)
    peers = folder_peers() if arguments.peers else {}
    rates, theirs = {}, {}
    for extension in FORMATS:
        names = tuple(f"{number}{extension}" for number in range(files))
        with TemporaryDirectory(prefix="workbench-bench-") as where:
            paths = Path(where) / "in", Path(where) / "out"
            folder = Folder(*paths, names, engine, devices, jobs)
            rates[extension], theirs[extension] = _measured(folder, peers)
    data = {
        **this_machine.heading("batch", engine),
        **{"jobs": jobs, "files": files, "size": SIZE, "processes": processes},
        **{"per_s": to_plain(rates), "peers": to_plain(theirs)},
    }
    ours, others = tables_of(data)
    print(columns(ours))
    if others:
        print(f"\n{PEERS_TITLE}:", columns(others), sep="\n")
    if arguments.json:
        write_whole(arguments.json, json.dumps(data, indent=1))
    return 0


def tables_of(data: dict[str, Any]) -> tuple[list[Row], list[Row]]:
    """Make the rows of the rates, and of other programs if there are any, from --json's data."""
    rates = {FORMATS[name]: Rates(**found) for name, found in data["per_s"].items()}
    peers = {FORMATS[name]: found for name, found in data["peers"].items() if found}
    on_gpu = data["machine"]["gpu"] is not None
    ours = [HEADER, *(each.cells(name, on_gpu=on_gpu) for name, each in rates.items())]
    theirs = [
        (title, *(PeerRate(**peers[each][title]).words(rates[each].batch) for each in peers))
        for title in next(iter(peers.values()), ())
    ]
    return ours, [("", *peers), *theirs] if theirs else []


def _measured(folder: Folder, peers: dict[str, Blur | None]) -> tuple[Rates, dict[str, PeerRate]]:
    """Take the best rates of some rounds, in which stages, batch and peers take turns."""
    source, target, names = folder.source, folder.target, folder.names
    source.mkdir()
    target.mkdir()
    image_files.save(source / names[0], of_kind("photo", *SIZE, 3, "uint8"))
    for name in names[1:]:
        shutil.copyfile(source / names[0], source / name)
    stages, batches, theirs = [], [], []
    for _ in range(ROUNDS):
        stages.append(_seconds_alone(folder))
        batches.append(_batch_per_s(folder))
        theirs.append({each: peer_rate(peers[each], source, target, names) for each in peers})
    decode, filtering, encoding = (len(names) / min(each) for each in zip(*stages, strict=True))
    best = {
        title: max((each[title] for each in theirs), key=lambda rate: rate.per_s or 0)
        for title in theirs[0]
    }
    return Rates(decode, filtering, encoding, batch=max(batches)), best


def _batch_per_s(folder: Folder) -> float:
    pairs = folder.pairs(-(-folder.jobs * FILES_EACH // len(folder.names)))
    finished = running(folder.engine, pairs, RECIPE, folder.jobs)
    if folder.devices:
        finished = DeviceRun(folder.devices, RECIPE, folder.jobs, _fail).outcomes(pairs)
    times: list[float] = []
    with closing(finished):
        for each in finished:
            times.append(perf_counter())
            _fail(each.error)
    return middle_per_s(times)


def _fail(sentence: str | None) -> None:
    if sentence:
        raise CommandError(sentence)


def middle_per_s(finished_s: Sequence[float]) -> float:
    """Rate in the middle of a batch, from the time at which each picture was finished.

    The start of processes takes as long however much there is to do.
    """
    first, last = (round(share * (len(finished_s) - 1)) for share in MIDDLE)
    return (last - first) / (finished_s[last] - finished_s[first])


def _seconds_alone(folder: Folder) -> list[float]:
    count, pairs = len(folder.devices), list(folder.pairs())
    if not count:
        return _stages(folder.engine, pairs, folder.jobs)
    with SPAWN.Manager() as manager, ProcessPoolExecutor(count, SPAWN) as pool:
        barrier = manager.Barrier(count, timeout=START_S)
        parts, shares = (pairs[at::count] for at in range(count)), shared_jobs(folder.jobs, count)
        times = pool.map(_in_process, folder.devices, parts, shares, repeat(barrier))
        return [max(each) for each in zip(*times, strict=True)]


def _in_process(device: int | None, pairs: list[FilePair], jobs: int, barrier: Any) -> list[float]:
    use_freed_memory_again()
    with closing(engine_on(device)) as engine:
        try:
            _stages(engine, pairs[:1], jobs)  # to warm up
            return _stages(engine, pairs, jobs, barrier.wait)
        except BaseException:
            barrier.abort()  # the others wait for this one
            raise


def _stages(
    engine: Engine, pairs: Iterable[FilePair], jobs: int, begin: Callable[[], object] = lambda: None
) -> list[float]:
    """Time each stage in this process.  Raises CommandError where a file fails.

    begin  is called before each, and waits until all processes are there
    """
    outcomes = [Outcome(pair) for pair in pairs]

    def encoding(outcome: Outcome) -> Outcome:
        if outcome.goes_on:
            encode(outcome, RECIPE)
        return outcome

    with ThreadPoolExecutor(jobs) as pool, ThreadPoolExecutor(jobs) as disk:
        begin()
        decode_s = seconds_of(lambda: list(pool.map(lambda each: read(each, RECIPE), outcomes)))
        begin()
        filter_s = sum(_filter_seconds(engine, each) for each in outcomes if each.goes_on)
        begin()
        encode_s = seconds_of(lambda: list(disk.map(sync, pool.map(encoding, outcomes))))
    _fail(next(filter(None, (each.error for each in outcomes)), None))
    return [decode_s, filter_s, encode_s]


def _filter_seconds(engine: Engine, outcome: Outcome) -> float:
    """Time one filtering; copy its result out of page-locked memory, untimed."""
    took_s = seconds_of(lambda: filter_(engine, outcome, RECIPE, lambda _: None))
    if outcome.result is not None:
        outcome.result = replace(outcome.result, picture=outcome.result.picture.copy())
    return took_s
