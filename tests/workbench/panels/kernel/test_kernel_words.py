"""The words that completion knows: all of the prelude, of a job and of CUDA, and no others."""

import re

from kernels.rungs.device_text import LADDER
from workbench.panels.kernel.kernel_words import PRELUDE

TEXT = (LADDER / "prelude.cuh").read_text(encoding="utf-8")
DEFAULTS = TEXT.partition("#ifndef KSIZE")[2].partition("#endif")[0]
CODE = re.sub(r"//.*", "", TEXT.replace(DEFAULTS, ""))
DEFINED = (
    r"^#define (\w+)",
    r"^struct (\w+) ",
    r"^using (\w+) =",
    r"^enum (\w+)",
    r"constexpr (?:int|bool) ([A-Z][A-Z_]+)\b",
    r"^__device__ __forceinline__ [\w* ]+[ *](\w+)\(",
)


def test_every_word_of_the_prelude_is_known_and_none_besides():
    defined = {word for each in DEFINED for word in re.findall(each, CODE, re.M)}
    defined |= set(re.findall(r"\w+", re.search(r"^enum \w+ \{(.*?)\}", CODE, re.M)[1]))
    assert set(PRELUDE) == defined


def test_what_a_function_takes_is_what_stands_in_the_prelude():
    for word, meaning in PRELUDE.items():
        if found := re.search(rf"\b{word}\((.*?)\)", CODE):
            names = re.findall(r"(\w+)(?:,|$)", found[1])
            if names and meaning.startswith("("):
                told = re.findall(r"\w+", meaning.partition(")")[0])
                assert told == names, word
