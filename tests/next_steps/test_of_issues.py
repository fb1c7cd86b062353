"""The next steps of runs on issues, typed as printed."""

import os
import time

from handrail.wiring.conversations import POLL_FILE
from support.cli.running import ASKING, Runs
from support.next_steps.follow import follow, in_process


def test_status_says_how_to_look_while_no_driver_runs(runs: Runs) -> None:
    runs.add("ask", ASKING)
    assert runs.call("run", "ask").exit_code == 3
    assert "nobody looks" not in runs.text("status")
    marker = runs.shop.home / "data" / POLL_FILE
    marker.touch()
    os.utime(marker, (time.time() + 600, time.time() + 600))
    follow(
        in_process(runs),
        runs.call("status").output,
        "nobody looks at issues and pull requests while no driver runs; handrail status --refresh looks now",
        shows="ask-1",
    )
    assert not marker.exists(), "there is nothing left to look at"
