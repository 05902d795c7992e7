"""What a user may do, by name."""

from tests.soak.acts import controls, files, keys, mouse, windows

ACTS = keys.ACTS | controls.ACTS | mouse.ACTS | files.ACTS | windows.ACTS
