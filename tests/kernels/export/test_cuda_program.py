"""The program that a rung is copied as: compiled as it stands, run, and held against the oracle."""

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from kernels import Job, filters
from kernels.core.device_turns import outcome_of
from kernels.core.errors import CannotRunError
from kernels.core.nonlinear import ORDER, Morphology, Rank
from kernels.core.step import LENGTH, Correlation, Step
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.compiler import HERE as CPU
from kernels.cuda_on_cpu.compiler import runtime
from kernels.engine.list_ways import LIST_RUNGS
from kernels.engine.step_list import parts_ahead
from kernels.export.cuda_program import cuda_program, cuda_program_of_list, number
from kernels.oracle.checking import checking
from kernels.pictures.generated import noise, white
from kernels.rungs.list_steps import tolerances
from kernels.rungs.rung import ladder
from tests.kernels.cases import Case
from tests.kernels.on_cpu import PLAIN
from tests.kernels.runners import RUNGS, in_a_block_it_takes, verdict
from tests.made_up import H200

LAUNCH = re.compile(r"(\w+)<<<(.*)>>>\(\s*")  # what g++ does not know
OWN_RUNTIME, HEADER = Path(__file__).parent / "runtime", "cuda_runtime.h"
CASES = (
    Case("mirror", "uint8", 3, (37, 41), 5, (32, 16)),
    Case("clamp", "float32", 1, (33, 64), 3, (32, 8)),
    Case("zero", "uint16", 4, (20, 31), 7, (16, 16)),
    Case("reflect", "float16", 2, (19, 23), 3, (32, 8)),
    Case("wrap", "uint8", 1, (40, 57), 15, (32, 32)),
)
# Those that differ most in what the program around them has to do; all others nightly.
SOME = ("shared", "separable", "words_of_two", "median_sort", "morphology_passes")
KNOWN = ("weights", "gradient", "median", "extremes", "percentiles", "morphology")
COPIED = [rung for rung in ladder() if rung.filter in KNOWN]
NVCC = [
    pytest.param(rung, marks=() if rung.key == SOME[0] else pytest.mark.full, id=rung.key)
    for rung in (*COPIED, *LIST_RUNGS.values())
]


def taken_by(rung):
    """The cases' jobs that it does."""
    made = [in_a_block_it_takes(case.job(rung.key)) for case in CASES]
    if rung.filter == "morphology":  # no differences
        made = [
            job.but(filter=replace(job.filter, kind=kind))
            for job, kind in zip(made, cycle(ORDER), strict=False)
        ]
    return [job for job in made if not rung.why_not(job, H200)]


def jobs():
    """One for each rung, by turns, so that all cases come up."""
    for place, rung in enumerate(COPIED):
        taken = taken_by(rung)
        job = taken[place % len(taken)]
        if place % 2 and rung.filter == "weights":  # an offset, to samples that it stands out from
            full = float(white(job.picture.dtype))
            small = np.clip(job.picture.astype(np.float32), -full, full).astype(job.picture.dtype)
            job = job.but(picture=small, offset=0.3 * full)
        marks = () if rung.key in SOME else pytest.mark.nightly
        yield pytest.param(rung, job, marks=marks, id=f"{rung.key}-{job.pixel_type}")


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A compiler's, to which a program and its libraries are added; our runtime's header is parsed
    once, as g++ keeps it."""
    if reason := compiler.why_not():
        pytest.skip(f"device code does not run on this CPU: {reason}")
    found, folder = compiler.the_compiler(), tmp_path_factory.mktemp("parsed")
    includes = [f"-I{each}" for each in (folder, CPU, OWN_RUNTIME)]
    words = [*found.words, *found.options, "-O0", *includes]
    if found.is_gnu:
        parsed = ["-x", "c++-header", OWN_RUNTIME / HEADER, "-o", folder / f"{HEADER}.gch"]
        subprocess.run([*words, *parsed], check=True)
    return words


@pytest.fixture
def on_cpu(words, tmp_path, build_cache):
    """Compiles a program against a runtime of ours; returns what runs it, words after its name."""

    def build(text):
        text = LAUNCH.sub(r"launch_on_cpu(\1, \2, ", text).replace("RUNS = 20", "RUNS = 2")
        program = tmp_path / "program"
        linked = map(str, outcome_of(runtime(compiler.the_compiler(), PLAIN, build_cache)))
        files = ["-x", "c++", "-", "-x", "none", *linked, "-o", program]
        subprocess.run([*words, *files], input=text, text=True, check=True)
        return lambda *more: subprocess.run(
            [program, *map(str, more)], capture_output=True, text=True
        )

    return build


@pytest.mark.parametrize(("rung", "job"), list(jobs()))
def test_the_program_filters_as_the_oracle_does(rung, job, on_cpu, tmp_path):
    given, made = tmp_path / "in.raw", tmp_path / "out.raw"
    given.write_bytes(job.picture.tobytes())
    run = on_cpu(cuda_program(rung, job, H200))
    done = run(given, made)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{rung.key}: median " in done.stdout
    assert f"in {job.height} of {job.height} rows: right" in done.stdout
    answer = np.frombuffer(made.read_bytes(), job.picture.dtype).reshape(job.picture.shape)
    assert verdict(job, answer).ok


def a_list(picture, is_rounded=False):
    """A list's job, and a rung for each of its runs."""
    rng, mix = np.random.default_rng(3), 1.0 if is_rounded else 0.25
    blur, edges = (
        Correlation(filters.get(key).weights(size)) for key, size in (("gaussian", 7), ("edges", 3))
    )
    other = rng.standard_normal((3, 3), np.float32)
    steps = (
        Step(blur, "separable", title="Gaussian blur"),
        Step(Correlation(other, float(white(picture.dtype)) / 8), "shared", (16, 16), mix=mix),
        Step(edges, "gradient_fused", title="Edges"),
        LENGTH,
        Step(blur, "separable", title="Gaussian blur"),  # the program of the first once more
    )
    if picture.shape[2] == 4:  # bytes as long as ranks alone go over them
        steps = (Step(Rank(3), "median_columns", title="Median"), *steps)
    job = Job(picture, steps, "mirror", is_rounded)
    parts = [part for _, part in parts_ahead(job)]
    fused = {True: "gradient_fused", False: "shared"}
    parts = [
        each.but(implementation=fused[each.has_length])
        if each.implementation == "gradient_fused"
        else each
        for each in parts
    ]
    return job, [(RUNGS[each.implementation], each) for each in parts]


@pytest.mark.parametrize(
    ("pixel_type", "channels", "is_rounded"),
    [
        *(("uint8", 4, False), ("uint16", 3, True)),
        pytest.param("float32", 1, False, marks=pytest.mark.nightly),
        pytest.param("float16", 2, False, marks=pytest.mark.nightly),
    ],
)
def test_a_list_is_one_program_of_a_step_after_the_other(
    pixel_type, channels, is_rounded, on_cpu, tmp_path
):
    job, ways = a_list(noise(29, 37, channels, pixel_type), is_rounded)
    given, made = tmp_path / "in.raw", tmp_path / "out.raw"
    given.write_bytes(job.picture.tobytes())
    done = on_cpu(cuda_program_of_list(ways, job, H200))(given, made)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.count(f"in {job.height} of {job.height} rows: right") == len(job.runs)
    answer = np.frombuffer(made.read_bytes(), job.picture.dtype).reshape(job.picture.shape)
    tolerances = [rung.tolerance(part) for rung, part in ways]
    *_, check = checking(job, answer, tolerances, None)
    assert check.ok, check


def test_the_check_of_a_lists_program_names_the_step_that_is_wrong(on_cpu):
    job, ways = a_list(noise(20, 30, 1))
    text = cuda_program_of_list(ways, job)
    wrong = text.replace("0.75f * ", "").replace("PITCH, 0.25f, ", "PITCH, 0.3f, ")
    assert wrong != text
    done = on_cpu(wrong)()
    assert done.returncode == 1
    verdicts = re.findall(r"(step_\d), .*: (right|WRONG)", done.stdout)
    assert verdicts == [("step_1", "right"), ("step_2", "WRONG"), *verdicts[2:]]
    assert {verdict for _, verdict in verdicts[2:]} == {"right"}


def test_a_step_that_its_rung_cannot_do_is_refused():
    job, ways = a_list(noise(20, 30, 1))
    with pytest.raises(CannotRunError, match="separable"):
        cuda_program_of_list([ways[0], (RUNGS["separable"], ways[1][1]), *ways[2:]], job)


@pytest.mark.parametrize("key", ["bilateral_taps", "patches", "guided_windows", "morphology_ring"])
def test_what_the_check_does_not_know_is_refused_in_a_sentence(key):
    job = CASES[0].job(key)
    if RUNGS[key].filter == "morphology":
        job = job.but(filter=Morphology(5, "top_hat"))
    with pytest.raises(CannotRunError, match="A program checks itself"):
        cuda_program(RUNGS[key], job, H200)


WHOLE = {
    "blur, grey, edges": (
        Step(Correlation(filters.get("gaussian").weights(5)), mix=0.75, threshold=0.02),
        Step(Correlation(filters.get("sharpen").weights(3)), is_grey=True),
        Step(Correlation(filters.get("edges").weights(3))),
        LENGTH,
    ),
    "median, opening, offset": (
        Step(Rank(3), title="Median"),
        Step(Morphology(3, "opening"), title="Opening"),
        Step(Correlation(filters.get("box").weights(3), 0.125), mix=0.5),
    ),
}


OF_LISTS = (
    ("blur, grey, edges", "clamp", "uint8", 3, {}),
    ("median, opening, offset", "wrap", "float32", 4, {"filters_alpha": True}),
    ("median, opening, offset", "mirror", "uint16", 2, {"is_rounded": True}),
    ("blur, grey, edges", "zero", "float16", 4, {}),
    ("median, opening, offset", "reflect", "float32", 1, {}),
)


@pytest.mark.parametrize(
    ("key", "steps", "border", "pixel_type", "channels", "how"),
    [  # the first three in turn; all other pairs nightly
        pytest.param(key, *case, marks=() if n < 3 and n % 2 == m else pytest.mark.nightly)
        for n, case in enumerate(OF_LISTS)
        for m, key in enumerate(LIST_RUNGS)
    ],
)
def test_a_list_in_one_launch_is_one_program(
    key, steps, border, pixel_type, channels, how, on_cpu, tmp_path
):
    job = Job(noise(45, 61, channels, pixel_type), WHOLE[steps], border, **how)
    given, made = tmp_path / "in.raw", tmp_path / "out.raw"
    given.write_bytes(job.picture.tobytes())
    done = on_cpu(cuda_program(LIST_RUNGS[key], job, H200))(given, made)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert f"{key}: median " in done.stdout
    assert "in 45 of 45 rows: right" in done.stdout
    answer = np.frombuffer(made.read_bytes(), job.picture.dtype).reshape(job.picture.shape)
    *_, check = checking(job, answer, tolerances(job), None)
    assert check.ok, check


NOTICED = {
    "a median": (
        "in_order(low, in_order(a.middle, b.middle, c.middle).middle, high).middle",
        "low",
    ),
    "a luma": ("__fmul_rn(0.587f, green)", "__fmul_rn(0.6f, green)"),
    "a border": ("case CLAMP: i = i < 0 ? 0", "case CLAMP: i = i < 0 ? 1"),  # of the check
}


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [  # in turn; all other pairs nightly
        pytest.param(
            *(key, *words), marks=() if n % len(LIST_RUNGS) == m else pytest.mark.nightly, id=name
        )
        for n, (name, words) in enumerate(NOTICED.items())
        for m, key in enumerate(LIST_RUNGS)
    ],
)
def test_the_check_of_a_whole_list_notices(key, right, wrong, on_cpu):
    steps = (Step(Rank(3)), Step(Correlation(filters.get("sharpen").weights(3)), is_grey=True))
    text = cuda_program(LIST_RUNGS[key], Job(noise(30, 40, 3), steps), H200)
    assert text.count(right) == 1
    done = on_cpu(text.replace(right, wrong))()
    assert (done.returncode, "WRONG" in done.stdout) == (1, True)


def test_a_list_of_steps_has_orders_and_thresholds_but_no_grey(on_cpu):
    steps = (
        Step(Rank(3), "median_network", threshold=20.0, mix=0.5),
        Step(Morphology(5, "closing"), "morphology_passes"),
    )
    job = Job(noise(29, 37, 3), steps, "mirror")
    between = np.zeros(job.picture.shape, np.float32)
    ways = [(RUNGS[run.steps[0].implementation], job.part(run, between)) for run in job.runs]
    text = cuda_program_of_list(ways, job, H200)
    done = on_cpu(text)()
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.count("right") == 2
    assert on_cpu(text.replace(", 0.5f, 20.0f)", ", 0.5f, 21.0f)"))().returncode == 1
    grey = job.but(is_grey=True)
    with pytest.raises(CannotRunError, match="choose list_tiles or list_ring"):
        cuda_program_of_list(ways, grey, H200)


def test_it_reads_and_writes_pnm_and_makes_noise_of_its_own(on_cpu, tmp_path):
    job = Case("clamp", "uint16", 3, (9, 13), 3, (32, 8)).job("shared")
    run = on_cpu(cuda_program(RUNGS["shared"], job))
    head, bytes_ = b"P6\n# by hand\n13 9\n65535\n", job.picture.astype(">u2").tobytes()
    given, made = tmp_path / "in.ppm", tmp_path / "out.ppm"
    given.write_bytes(head + bytes_)
    assert run(given, made).returncode == 0
    written = made.read_bytes()
    assert written.startswith(b"P6\n13 9\n65535\n")
    answer = np.frombuffer(written[-len(bytes_) :], ">u2").astype(np.uint16)
    assert verdict(job, answer.reshape(job.picture.shape)).ok
    assert run().returncode == 0
    for wrong, why in (
        (b"P6\n12 9\n65535\n" + bytes_, "another size"),
        (b"P6\n13 9\n255\n" + bytes_, "another pixel type"),
        (b"P5\n13 9\n65535\n" + bytes_, "binary PPM"),
        (head + bytes_[:-1], "as many samples"),
        (b"P6\n#", "no PGM or PPM"),
        (b"P6 99999999999999999999 1", "another size"),
    ):
        given.write_bytes(wrong)
        done = run(given, made)
        assert done.returncode == 2
        assert why in done.stderr


def test_the_check_of_the_program_notices_a_wrong_weight_and_alpha_not_copied(on_cpu):
    job = Case("clamp", "uint8", 1, (20, 20), 3, (32, 8)).job("constant")
    text = cuda_program(RUNGS["constant"], job)
    start = text.index("HOST_WEIGHTS[9] = {")
    spoilt = text[:start] + re.sub(r"(\{\s*)[-\d.e]+f", r"\g<1>0.25f", text[start:], count=1)
    done = on_cpu(spoilt)()
    assert done.returncode == 1
    assert "WRONG" in done.stdout
    job = Case("clamp", "float32", 4, (20, 20), 3, (32, 8)).job("constant")
    text, copies = cuda_program(RUNGS["constant"], job), "= row_of(src, y, pitch)[x];"
    assert text.count(copies) == 1
    done = on_cpu(text.replace(copies, "= row_of(src, y, pitch)[x] * 1.0000002f;"))()
    assert (done.returncode, "WRONG" in done.stdout) == (1, True)


def test_it_may_use_as_much_shared_memory_as_it_says(on_cpu):
    small, large = (
        cuda_program(RUNGS["shared"], case.job("shared"), H200)
        for case in (
            Case("clamp", "float32", 1, (40, 40), 31, (32, 32)),
            Case("clamp", "float32", 4, (40, 40), 47, (32, 32)),
        )
    )
    assert "MaxDynamicSharedMemorySize" not in small
    assert on_cpu(large)().returncode == 0
    refused = on_cpu(re.sub(r".*MaxDynamicSharedMemorySize.*\n", "", large))()
    assert "more shared memory than was asked for" in refused.stderr


def test_but_for_comments_it_is_ascii_so_that_every_compiler_reads_it():
    for rung in COPIED:
        job = taken_by(rung)[0]
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", cuda_program(rung, job), flags=re.DOTALL)
        assert "__global__ void" in code
        assert code.isascii()


@pytest.mark.parametrize("value", [0.0625, 1 / 3, 1e-30, -7.0, 3.4e38, 123456789.0])
def test_a_literal_is_the_number_again(value):
    stored = np.float32(value)
    text = number(stored)
    assert text.endswith("f")
    assert np.float32(text[:-1]) == stored
    assert "." in text or "e" in text  # 7f would be no number


@pytest.mark.parametrize("rung", NVCC)
def test_nvcc_compiles_it_as_it_stands(rung, tmp_path):
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        pytest.skip("there is no nvcc")
    of_list = Job(noise(45, 61, 3), WHOLE["blur, grey, edges"])
    job = of_list if rung.filter == "list" else taken_by(rung)[0]
    text = cuda_program(rung, job, H200)
    if "cufft.h" in text and not (Path(nvcc).resolve().parents[1] / "include/cufft.h").exists():
        pytest.skip("cuFFT's headers are not installed")
    source = tmp_path / f"{rung.key}.cu"
    source.write_text(text)
    library = ["-lcufft"] if "cufft.h" in text else []
    (target,) = re.findall(r"-ftz=true (-arch=.*) \w+\.cu -o", text)
    targets = target.replace("native", "sm_90").split()
    words = [nvcc, "-O3", "-std=c++17", "-ftz=true", *targets, str(source), *library]
    done = subprocess.run([*words, "-o", str(tmp_path / rung.key)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / rung.key).is_file()
