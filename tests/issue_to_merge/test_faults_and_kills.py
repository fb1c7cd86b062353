"""Whatever happens at a call of the host, or to the driver that makes it: everything is there once afterwards."""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest

from support.github.faults import How
from support.github.json_values import Json
from support.issue_to_merge.crossings import CLOSES, CROSSINGS, DELIVERS, FAULTS, LISTS, TASKS, Crossing
from support.issue_to_merge.host_room import HostRoom

pytestmark = pytest.mark.system  # takes long: many processes of its own

RUN = "work-1-a1"
KILLS: tuple[How, ...] = ("timeout before", "timeout")
"""The call hangs, before its effect or after it, and its process is killed meanwhile."""
TRIES = 5


def spread(hows: Iterable[How]) -> list[Any]:
    """List every crossing with every fault."""
    return [pytest.param(point, how, id=f"{point.name}, {how}") for point, how in itertools.product(CROSSINGS, hows)]


def command(room: HostRoom, point: Crossing) -> tuple[str, ...]:
    """Prepare the room, and return what a person types."""
    room.add("delivers", DELIVERS)
    room.add("closes", CLOSES)
    room.github.person("ann", "write").open_issue("It crashes", "Always.")
    inputs = ("--input", TASKS) if point.workflow == "delivers" else ()
    return "run", point.workflow, "--issue", "1", *inputs


def finish(room: HostRoom, words: tuple[str, ...]) -> None:
    """Do what a person does until the run has succeeded: type it again, resume it, look."""
    for _ in range(TRIES):
        found = room.call("status", RUN, "--json", code=None)
        status = "" if found.exit_code else found.document["runs"][0]["status"]
        if status == "succeeded":
            break
        room.call(*(("resume", RUN) if status else words), code=None)
    room.reach(RUN, "succeeded")
    assert len(room.json("status", "--all")["runs"]) == 1
    room.refresh_until(lambda: any("has finished" in each["body"] for each in room.progress(1)))


def check(room: HostRoom, point: Crossing) -> None:
    """Check that everything is there once."""
    assert len(room.progress(1)) == 1
    claims = [each for each in room.github.comments(1) if "handrail:claim" in each["body"]]
    assert len(claims) == 1, claims
    if point.workflow == "closes":
        room.refresh_until(lambda: room.github.read("/issues/1")["state"] == "closed")
        return
    (pull,) = room.github.pulls()
    assert (pull["title"], pull["head"]["ref"], pull["draft"]) == ("Change it more", "work/k", True)
    assert pull["head"]["sha"] == room.box.git("rev-parse", f"work/{RUN}")
    assert [each["name"] for each in pull["labels"]] == ["agent"]
    assert [each["login"] for each in pull["requested_reviewers"]] == ["ann"]
    check_issues(room.github.issues(), room)
    heads = [new for _, new in room.moved_heads()]
    assert len(heads) == len(set(heads)) == 2, heads


def check_issues(issues: list[Json], room: HostRoom) -> None:
    """Check that the list became two issues, of which one depends on the other."""
    assert [each["title"] for each in issues] == ["It crashes", "Do one", "Do two"]
    numbers = {each["title"]: each["number"] for each in issues}
    blocked = room.github.read(f"/issues/{numbers['Do two']}/dependencies/blocked_by")
    assert [each["number"] for each in blocked] == [numbers["Do one"]]


@pytest.mark.parametrize(("point", "how"), spread(FAULTS))
def test_a_fault_of_the_host_loses_and_doubles_nothing(room: HostRoom, point: Crossing, how: How) -> None:
    words = command(room, point)
    fault = room.github.fail(point.call, how, point.nth)
    room.call(*words, code=None)
    finish(room, words)
    assert fault.struck == 1
    check(room, point)


@pytest.mark.parametrize("how", ["duplicated", "reordered"])
@pytest.mark.parametrize("point", LISTS, ids=lambda point: point.name)
def test_a_list_that_repeats_or_turns_its_entries_loses_and_doubles_nothing(
    room: HostRoom, point: Crossing, how: How
) -> None:
    words = command(room, point)
    fault = room.github.fail(point.call, how, times=999)
    room.call(*words, code=None)
    finish(room, words)
    assert fault.struck > 0
    check(room, point)


@pytest.mark.parametrize(("point", "how"), spread(KILLS))
def test_a_driver_that_is_killed_at_a_call_loses_and_doubles_nothing(room: HostRoom, point: Crossing, how: How) -> None:
    words = command(room, point)
    fault = room.github.fail(point.call, how, point.nth)
    room.kill_at(fault, *words)
    finish(room, words)
    assert fault.struck == 1
    check(room, point)
