"""Lists of steps on the GPU: each step alone, their sum, all launched one by one, as a graph."""

import argparse

from kernels import Engine, Job, Sampling, filters
from kernels.core.device import Device
from kernels.core.job import Result
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.core.step import LENGTH, Correlation, Step
from kernels.cuda.listed_run import filtering_list
from kernels.pictures.generated import noise

LISTS = {
    "blur, edges": ("gaussian 5", "gradient 1"),
    "blur, sharpen": ("gaussian 5", "sharpen 3"),
    "unsharp by mix": ("gaussian 9 0.5", "sharpen 3"),
    "three blurs": ("gaussian 5", "gaussian 5", "gaussian 5"),
    "wide, Laplacian": ("gaussian 31", "laplacian 3"),
    "box, box, box, box": ("box 7", "box 7", "box 7", "box 7"),
    "emboss on blur": ("gaussian 7", "emboss 3 0.5", "gaussian 3"),
    "eight": (
        *("gaussian 3", "box 3", "sharpen 3", "gaussian 5"),
        *("box 5", "emboss 3", "box 3", "gaussian 3"),
    ),
}
PICTURES = {"768×512 uint8 RGB": (512, 768), "4096² uint8 RGB": (4096, 4096)}
NEVER = 1 << 30


def steps_of(words):
    for each in words:
        key, size, *mix = each.split()
        chosen = filters.get(key)
        ksize = chosen.nearest_size(int(size))
        share = float(mix[0]) if mix else 1.0
        yield Step(Correlation(chosen.weights(ksize)), "auto", mix=share, title=chosen.title)
        yield from (LENGTH,) * chosen.gradient


def median_us(steps):
    *_, last = (each for each in steps if isinstance(each, Result))
    return last.kernel.median_ms * 1e3, last


def main():
    argparse.ArgumentParser(prog="python -m tests.benches.lists", description=__doc__).parse_args()
    engine = Engine()
    assert isinstance(engine.device, Device), engine.device.reason
    print(f"{engine.device.name}; µs, cold, medians; auto; border clamp")
    print("picture | list | steps alone | sum | one by one | graph | check")
    for picture, (height, width) in PICTURES.items():
        samples = noise(height, width, 3)
        samples.flags.writeable = False
        for name, words in LISTS.items():
            job = Job(samples, tuple(steps_of(words)))
            result = engine.run(job, Sampling(max_samples=20, check_taps=20_000_000))
            runs = engine.on_one_gpu(result)
            assert runs, name
            alone = []
            for rung, part in runs:
                found = engine.gpu.filtering(rung, part, SWEEP_SAMPLING)
                alone.append(median_us(found)[0])
            one, _ = median_us(filtering_list(engine.gpu, job, runs, SWEEP_SAMPLING, NEVER))
            graph, last = median_us(filtering_list(engine.gpu, job, runs, SWEEP_SAMPLING))
            words = " + ".join(f"{each:.1f}" for each in alone)
            facts = (picture, name, words, f"{sum(alone):.1f}", f"{one:.1f}", f"{graph:.1f}")
            same = (last.picture == result.picture).all()
            print(
                " | ".join((*facts, f"{result.check}; {'same' if same else 'OTHER BYTES'}")),
                flush=True,
            )


if __name__ == "__main__":
    main()
