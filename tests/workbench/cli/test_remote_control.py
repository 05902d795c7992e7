"""What a program says to a batch on a pipe, and what that makes of the pictures to come."""

import os
from threading import Thread

import pytest

from workbench.cli.stopping import RemoteControl, TerminatedError, ended_by_sigterm


@pytest.fixture
def pipe():
    """A control, and what says words to it."""
    read, write = os.pipe()
    yield RemoteControl(read), lambda words: os.write(write, words)
    os.close(write)


def obeying(control):
    """Obey on another thread; returns it and how that ended, once it has."""
    ended = []

    def obey():
        control.obey()
        ended.append("resumed")

    thread = Thread(target=obey)
    thread.start()
    return thread, ended


def paused(control):
    """Wait until its clock stands still."""
    while True:
        before = control.clock()
        for _ in range(20_000):
            pass
        if control.clock() == before:
            return


def test_a_pause_stops_the_clock_and_who_obeys_until_it_is_resumed(pipe):
    control, say = pipe
    say(b"pau")
    say(b"se\npause\n")
    paused(control)
    thread, ended = obeying(control)
    thread.join(0.05)  # in which it would come to its end
    assert (thread.is_alive(), ended, control.is_paused()) == (True, [], True)
    say(b"nonsense\nresume\n")
    thread.join()
    assert (ended, control.is_paused()) == (["resumed"], False)
    before = control.clock()
    while control.clock() == before:
        pass


@pytest.mark.parametrize("words", [b"stop\n", None])
def test_a_stop_or_the_end_ends_a_pause_and_is_a_sigterm(words):
    read, write = os.pipe()
    control = RemoteControl(read)
    os.write(write, b"pause\n")
    paused(control)

    def wait_for_ever():
        os.write(write, words) if words else os.close(write)
        while True:
            control.obey()

    with pytest.raises(TerminatedError), ended_by_sigterm():
        wait_for_ever()
