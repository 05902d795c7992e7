"""A compiler is given the options that it knows, and no others."""

import pytest

from kernels.cuda_on_cpu import building, compiler
from kernels.cuda_on_cpu.compiler import Compiler, Flavour

FLAVOURS = [each for each in vars(compiler).values() if isinstance(each, Flavour)]
GNU, CLANG = Compiler(("g++",), True, "12.2.0"), Compiler(("clang++",), False, "15.0.7")
UNKNOWN_TO_CLANG = ("-fno-tree-", "-fno-thread-", "-fno-plt", "--param", "-Wmaybe-")


@pytest.mark.parametrize("flavour", FLAVOURS, ids=lambda each: each.name)
def test_clang_is_given_nothing_that_only_gnu_knows(flavour):
    given = (*CLANG.options, *flavour.flags_for(CLANG), *CLANG.warnings)
    assert [each for each in given if each.startswith(UNKNOWN_TO_CLANG)] == []
    assert set(flavour.flags_for(GNU)) == {*flavour.flags, *flavour.gnu_flags}


def test_a_users_file_is_optimised_only_where_each_call_of_its_text_stays_one():
    levels = [
        [flag for flag in compiler.TRIED.flags_for(each) if flag.startswith("-O")][-1]
        for each in (GNU, CLANG)
    ]
    assert levels == ["-Og", "-O0"]


def test_clang_looks_for_what_a_flavour_wants_and_links_no_library_of_its_own_for_it(
    tmp_path, monkeypatch
):
    said = tmp_path / "said"
    script = tmp_path / "clang++"
    script.write_text(
        f"""#!/bin/sh
echo "$*" >> {said}
while [ "$1" != -o ]; do shift; done
cp /bin/sh "$2"
"""
    )
    clang = Compiler(("/bin/sh", str(script)), False, "15.0.7")
    monkeypatch.setattr(building, "the_compiler", lambda: clang)
    building.build("int one;", compiler.TRIED, tmp_path)
    *_, compiled, linked = (line.split() for line in said.read_text().splitlines())
    wanted = compiled.index("-fsanitize=alignment,return,bounds")
    assert compiled.index("-fno-sanitize=undefined") < wanted  # the last of them counts
    assert "-c" in compiled
    assert {"-shared", "-fno-sanitize=undefined"} <= {*linked}
