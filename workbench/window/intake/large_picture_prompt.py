"""Questions about very large pictures: the memory they take, and a way to stop opening them."""

from __future__ import annotations

from collections.abc import Callable

from workbench.session.opener import Opener
from workbench.widgets.message_bar import MessageBar


def ask_about_large_pictures(opener: Opener, messages: MessageBar) -> None:
    """Ask before a picture that takes much memory is opened, and let the user stop it meanwhile."""

    def ask(sentence: str, go_on: Callable[[], None]) -> None:
        asked[:] = [sentence]
        leave = ("Leave it", lambda: messages.clear("warning"))
        messages.show_message("warning", sentence, actions=[("Open it", go_on), leave])

    def tell(sentence: str, stop: Callable[[], None]) -> None:
        if messages.kind == "warning" and messages.sentence not in asked:
            return  # that waits to be read; the view says what is being opened as well

        def end() -> None:
            stop()
            leave_off()

        messages.show_message("info", sentence, actions=[("Stop", end)], stays=True)
        said.append(sentence)

    def go_on_telling(sentence: str) -> None:
        if said:
            messages.reword(said[-1], sentence)
            said.append(sentence)

    def leave_off() -> None:
        if messages.sentence in said:  # no other message meanwhile
            messages.clear("info")
        said.clear()

    said: list[str] = []
    asked: list[str] = []
    opener.asked.connect(ask)
    opener.began.connect(tell)
    opener.went_on.connect(go_on_telling)
    opener.busy.connect(lambda name: None if name else leave_off())
