"""What PyInstaller cannot see by itself: registries are folders, imagecodecs' names are lazy."""

from contextlib import suppress
from importlib.metadata import PackageNotFoundError

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata

from workbench.base.diagnostics import DISTRIBUTION, packages

hiddenimports = [
    name
    for package in ("workbench", "kernels", "imagecodecs", "tree_sitter_cuda")
    for name in collect_submodules(package)
]
datas = [
    *collect_data_files("workbench", include_py_files=False),
    # Kernels' sources, and the programs of the children, which run as files.
    *collect_data_files("kernels", include_py_files=True),
]
for package in (DISTRIBUTION, *packages()):
    with suppress(PackageNotFoundError):  # of another system
        datas += copy_metadata(package)
