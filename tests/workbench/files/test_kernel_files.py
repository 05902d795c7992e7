"""Kernels of the user's own lie in a folder of theirs."""

from pathlib import Path

from workbench.session.kernel_folder import is_own_file, kernels_folder


def test_the_folder_is_the_one_named_or_lies_in_the_users_data(tmp_path, monkeypatch):
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(tmp_path / "mine"))
    assert kernels_folder() == tmp_path / "mine"
    monkeypatch.delenv("FILTER_WORKBENCH_KERNELS")
    assert kernels_folder().parts[-2:] == ("filter-workbench", "kernels")


def test_a_file_below_it_is_ones_own_and_none_that_a_link_or_dots_lead_out_of(
    tmp_path, monkeypatch
):
    folder = tmp_path / "mine"
    monkeypatch.setenv("FILTER_WORKBENCH_KERNELS", str(folder))
    folder.mkdir()
    (tmp_path / "theirs.cu").write_text("")
    (folder / "link.cu").symlink_to(tmp_path / "theirs.cu")
    assert is_own_file(folder / "new.cu")
    assert not is_own_file(folder / ".." / "theirs.cu")
    assert not is_own_file(folder / "link.cu")
    assert not is_own_file(Path("mine.cu"))
