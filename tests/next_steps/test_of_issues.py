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


def test_an_empty_list_says_how_to_fill_it_and_what_it_leaves_out(runs: Runs) -> None:
    shell = in_process(runs)
    follow(
        shell,
        runs.text("issues", "list"),
        "no issues in {} yet; handrail issues create TITLE creates one",
        fill={"TITLE": "'It crashes'"},
        shows="It crashes",
    )
    (issue,) = (each["id"] for each in runs.json("issues", "list")["issues"])
    runs.text("issues", "claim", issue)
    said, why = runs.text("issues", "ready"), f"{issue} is not ready: it is claimed by ann"
    follow(shell, said, "nothing is ready; handrail issues ready --explain says why", shows=why)
    runs.text("issues", "close", issue)
    said = runs.text("issues", "list")
    follow(shell, said, "no issue matches; handrail issues list --all shows the closed ones too", shows=issue)


def test_refusals_say_what_to_type_instead(runs: Runs) -> None:
    shell = in_process(runs)
    refused = runs.text("issues", "create", " ", code=2)
    follow(shell, refused, 'handrail issues create "TITLE"', fill={"TITLE": "First"}, shows="First")
    (first,) = (each["id"] for each in runs.json("issues", "list")["issues"])
    second = runs.json("issues", "create", "Second", "--dep", first)["id"]
    refused = runs.text("issues", "dep", "add", first, second, code=2)
    follow(
        shell,
        refused,
        "remove one of these dependencies first: handrail issues dep remove {} ISSUE",
        fill={"ISSUE": first},
        shows=f"{second} no longer depends on {first}",
    )
    refused = runs.text("issues", "comment", first, " ", code=2)
    follow(shell, refused, 'handrail issues comment ISSUE "TEXT"', fill={"ISSUE": first, "TEXT": "Yes."}, shows=first)
    refused = runs.text("issues", "update", first, code=2)
    follow(shell, refused, "handrail issues update --help", shows="--add-label")
    runs.text("issues", "close", first)
    refused = runs.call("issues", "claim", first).output
    follow(shell, refused, "handrail issues update {} --status open", shows=f"{first}: open")
    follow(shell, runs.text("issues", "list", "-n", "1"), "{} more: handrail issues list -n 0", shows=first)
    refused = runs.text("issues", "show", "nope-1", code=2)
    follow(shell, refused, "handrail issues list --all", shows=first)


def test_the_help_of_the_group_names_the_command_to_begin_with(runs: Runs) -> None:
    issue = runs.json("issues", "create", "It crashes")["id"]
    said = runs.text("help", "commands") + runs.text("issues", "--help")
    follow(in_process(runs), said, "The issues of this repository: `handrail issues list`.", shows=issue)
