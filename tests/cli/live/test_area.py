"""Live lines on a terminal whose window is closed in the middle of them."""

import os
from pathlib import Path

import pytest

from handrail.cli.live.area import LiveArea


def test_a_window_that_was_closed_a_moment_ago_stops_nobody() -> None:
    ours, theirs = os.openpty()
    with open(theirs, "w", encoding="utf-8", closefd=False) as out:
        area = LiveArea(out, color=False)
        area.draw(["one"])
        assert b"one" in os.read(ours, 1000)
        os.close(ours)
        os.set_blocking(theirs, False)
        area.draw(["two"])
        area.say("three")
        with pytest.raises(OSError, match="Input/output error"):
            out.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), theirs)
    os.close(theirs)


def test_a_disk_that_is_full_is_still_a_fault() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as out:
        with pytest.raises(OSError, match="No space left"):
            LiveArea(out, color=False).draw(["one"])
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
