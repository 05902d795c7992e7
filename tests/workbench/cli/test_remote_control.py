"""What a program says to a batch on a pipe, and what that makes of the pictures to come."""

import os
from threading import Thread

import pytest

from workbench.cli.remote_control import RemoteControl
from workbench.cli.stopping import TerminatedError


@pytest.fixture
def pipe():
    """A control, and what says words to it."""
    read, write = os.pipe()
    yield RemoteControl(read), lambda words: os.write(write, words)
    os.close(write)


def heard(control, items):
    """Take all items on another thread; returns the thread and what it has taken so far."""
    taken = []

    def take():
        try:
            taken.extend(control.obeying(items))
        except TerminatedError:
            taken.append("stopped")

    thread = Thread(target=take)
    thread.start()
    return thread, taken


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


def test_nobody_says_anything_and_all_come():
    assert list(RemoteControl(None).obeying("abc")) == ["a", "b", "c"]


def test_a_pause_stops_the_clock_and_what_comes_until_it_goes_on(pipe):
    control, say = pipe
    say(b"pau")
    say(b"se\npause\n")
    paused(control)
    thread, taken = heard(control, "abc")
    thread.join(0.05)  # in which it would come to its end
    assert (thread.is_alive(), taken) == (True, [])
    say(b"nonsense\nresume\n")
    thread.join()
    assert taken == ["a", "b", "c"]
    before = control.clock()
    while control.clock() == before:
        pass


def test_a_stop_ends_a_pause_too(pipe):
    control, say = pipe
    say(b"pause\n")
    paused(control)
    thread, taken = heard(control, "abc")
    say(b"stop\n")
    thread.join()
    assert taken == ["stopped"]


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


def test_a_stop_that_was_obeyed_is_no_news_to_what_rests(pipe):
    control, say = pipe
    say(b"pause\nstop\n")
    with pytest.raises(TerminatedError):
        until_it_raises(control.obey)
    control.rest()
