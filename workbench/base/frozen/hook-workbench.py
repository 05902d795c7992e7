"""What PyInstaller cannot see by itself: registries are folders, imagecodecs' names are lazy."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata

WITH_METADATA = ("filter-workbench", "numpy", "imageio", "imagecodecs", "opencv-python-headless")

hiddenimports = [
    name
    for package in ("workbench", "kernels", "imagecodecs", "tree_sitter_cuda")
    for name in collect_submodules(package)
]
datas = [
    *collect_data_files("workbench", include_py_files=False),
    # Kernels' sources, and the programs of the children, which run as files.
    *collect_data_files("kernels", include_py_files=True),
    *(each for package in WITH_METADATA for each in copy_metadata(package)),
]
