"""A child process: its replies, its end with its parent, and what it says that is no reply."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernels.core.child_process import ChildProcess, next_request, reply, take_replies
from kernels.core.device_turns import outcome_of
from tests.conftest import ROOT

HERE = "tests.kernels.core.test_child_process"


def main(greeting: str) -> None:
    """What the child does: print, and reply with what it was sent."""
    replies = take_replies()
    reply(replies, {"ready": greeting})
    while (request := next_request()) is not None:
        print("not a reply")  # noqa: T201
        if request == "end":
            sys.exit(3)
        if request == "garble":
            os.write(replies, b"no JSON\n")
        else:
            reply(replies, {"got": request})


@pytest.fixture
def child():
    made = ChildProcess(HERE, "hello")
    assert outcome_of(made.replies()) == {"ready": "hello"}
    yield made
    made.kill()
    assert made.code() is not None


def test_each_request_has_its_reply_and_a_line_that_is_none_is_named_so(child):
    assert child.is_alive
    assert child.held_bytes > 1 << 20
    for request in ("one", "a" * 100_000):
        child.send(request)
        assert outcome_of(child.replies()) == {"got": request}
    child.send("garble")
    assert "no JSON" in outcome_of(child.replies())["garbled"]


def test_one_that_has_ended_says_so_and_can_be_sent_more(child):
    child.send("end")
    assert outcome_of(child.replies()) is None
    child.send("more")
    assert outcome_of(child.replies()) is None
    assert (child.code(), child.is_alive) == (3, False)
    assert child.has_reply.is_set()


def test_it_ends_with_its_parent():
    program = (
        "import os; from kernels.core.child_process import ChildProcess\n"
        f"child = ChildProcess({HERE!r}, 'hello')\n"
        "next(child.replies(60.0), None)\n"
        "print(child._process.pid, flush=True); os._exit(0)"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True)
    state, until = Path(f"/proc/{int(done.stdout)}/stat"), time.monotonic() + 60
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until, "a child outlives its parent"
        time.sleep(0.01)


def test_a_request_arrives_whole_though_its_writes_are_cut_short(child, monkeypatch):
    pipe = child._process.stdin

    class Cut:
        close = pipe.close

        def write(self, data):
            return pipe.write(data[:5])

    monkeypatch.setattr(child._process, "stdin", Cut())
    child.send("a long request")
    assert outcome_of(child.replies()) == {"got": "a long request"}
