"""A folder with some of the Kodak pictures: which of them are not right is said, three by name."""

import pytest

from workbench.files.kodak import NAMES, use_folder


@pytest.mark.parametrize(
    ("count", "listed"),
    [
        (1, "kodim01.png"),
        (3, "kodim01.png, kodim02.png, kodim03.png"),
        (4, "kodim01.png, kodim02.png, kodim03.png …"),
    ],
)
def test_what_is_missing_is_listed(kodak, tmp_path, count, listed):
    for path in sorted(kodak.glob("kodim*.png"))[count:]:
        (tmp_path / path.name).symlink_to(path)
    _, sentence = use_folder(tmp_path)
    right = len(NAMES) - count
    assert sentence == (
        f"{right} of the 24 Kodak pictures in {tmp_path.name} are right, not {listed}."
    )
