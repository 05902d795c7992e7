"""What a program says to a batch on a pipe, and what that makes of the pictures to come."""

import os
import signal
from threading import Thread

import pytest

from workbench.cli.stopping import HeldBack, RemoteControl, TerminatedError


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
        try:
            control.obey()
            ended.append("resumed")
        except TerminatedError:
            ended.append("stopped")

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


def until_it_raises(ask):
    while True:
        ask()


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


def test_a_stop_ends_a_pause_too(pipe):
    control, say = pipe
    say(b"pause\n")
    paused(control)
    thread, ended = obeying(control)
    say(b"stop\n")
    thread.join()
    assert ended == ["stopped"]


def test_ctrl_c_waits_for_a_rest_and_a_second_one_for_nothing(capfd):
    with (held_back := HeldBack()):
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            held_back.rest()
        held_back.rest()  # what is half done is brought to its end
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert "Ctrl+C again does not wait" in capfd.readouterr().err


def test_a_stop_comes_once_where_it_rests_and_each_time_where_it_obeys(pipe):
    control, say = pipe
    control.rest()
    say(b"stop\n")
    with pytest.raises(TerminatedError):
        until_it_raises(control.rest)
    control.rest()  # what is half done is brought to its end
    for _ in range(2):
        with pytest.raises(TerminatedError):
            control.obey()
