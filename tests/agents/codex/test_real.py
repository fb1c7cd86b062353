"""Runs whose steps the real Codex performs, against a scripted model on loopback."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from handrail.operations.runs import lifecycle as runs
from handrail.testing.models.scripts import Cut, Fail, Hang, Say, Shell, Structured
from support.agents.codex_steps import step
from support.agents.opened_rooms import Open, opened, real_agents
from support.agents.real_agents import hide, program
from support.agents.real_room import RealRoom
from support.moved_time import MovedTime

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system("claude", "codex")
BIG = 2_000_000
# Until it has a session of its own, the end of its shell takes it along.
ESCAPES = Shell("setsid sleep 300 </dev/null >/dev/null 2>&1 & sleep 0.3; echo begun")
"""Leaves a process that goes on in a session of its own; only without the sandbox, which ends with its command."""


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def status_of(room: RealRoom, run: str) -> str:
    """How the call of the step ended, as its adapter named it."""
    return str(room.ending(run).details.get("agent_status", "ok"))


def test_a_file_is_edited_in_the_work_tree_and_the_call_is_priced_by_its_tokens(opened: Open) -> None:
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.txt\n+new\n*** End Patch\nEOF\n"
    room = opened(a=[Shell("echo hello > a.txt"), Shell(patch), Say("All done.")])
    state = room.run(step("a", "model: gpt-5.4, system_prompt: Be PRECISE-ABOVE-ALL., output: said"))
    assert (state.status, state.names["said"]) == ("succeeded", "All done.")
    assert (room.tree(state.run) / "a.txt").read_text() == "hello\n"
    assert (room.tree(state.run) / "b.txt").read_text() == "new\n"
    assert not (room.repo / "a.txt").exists()
    asked = room.model.asked("a")
    assert (len(asked), asked[0]["model"]) == (3, "gpt-5.4")
    told = json.dumps(asked[0]["input"])
    assert "Be PRECISE-ABOVE-ALL.\\n\\n" in told
    assert told.index("PRECISE-ABOVE-ALL") < told.index("Go. [[s:a]]")
    spent = room.spent(state.run)
    assert (spent["tokens"], spent["unpriced"]) == (3300, 0)
    assert spent["usd"] == spent["estimated"] == pytest.approx((3000 * 2.5 + 300 * 15) / 1e6)


def test_a_result_is_given_in_its_shape_and_one_that_misses_it_is_asked_for_again(opened: Open) -> None:
    room = opened(a=[Structured({"count": 5})], b=[Say("five"), Say('{"count": 5}')])
    good = room.start(step("a", "returns: {count: int}, output: found"))
    again = room.start(step("b", "returns: {count: int}, output: found, retry: 1, system_prompt: Be SYSTEM-ONCE."))
    room.drive()
    assert [room.state(each).status for each in (good, again)] == ["succeeded"] * 2
    assert [room.state(each).names["found"] for each in (good, again)] == [{"count": 5}] * 2
    text = json.dumps(room.model.asked("a")[0]["text"])
    assert '"strict": true' in text
    assert '"additionalProperties": false' in text
    assert json.dumps(room.model.asked("b")[1]["input"]).count("SYSTEM-ONCE") == 1
    assert [room.spent(again)["tokens"], room.state(again).spent.tokens] == [1100, 2200]


def test_who_may_only_read_cannot_write_and_who_may_edit_writes_in_the_work_tree_alone(opened: Open) -> None:
    room = opened(
        a=[Shell("echo x > a.txt"), Say("done")],
        b=[Shell('echo x > b.txt; echo x > "$HOME/outside.txt"'), Say("done")],
        c=[Shell('echo x > "$HOME/full.txt"'), Say("done")],
    )
    read, edit = room.start(step("a", "access: read")), room.start(step("b"))
    full = room.start(step("c", "access: full"))
    room.drive()
    assert [room.state(each).status for each in (read, edit, full)] == ["succeeded"] * 3
    assert names(room.tree(read)) == [".git"]
    assert "Read-only file system" in json.dumps(room.model.asked("a")[1]["input"])
    assert names(room.tree(edit)) == [".git", "b.txt"]
    assert "full.txt" in names(room.home.home)
    assert "outside.txt" not in names(room.home.home)


def test_a_conversation_goes_on_and_is_charged_only_for_what_is_new(opened: Open) -> None:
    room = opened(a=[Shell("true"), Say("It is 42.")], b=[Say("As I said.")], c=[Say("And again.")])
    third = step("c", "session: one", name="three")
    state = room.run(step("a"), step("b", "session: one, system_prompt: Be SYSTEM-TWO.", name="two"), third)
    assert state.status == "succeeded"
    assert "It is 42." in json.dumps(room.model.asked("b")[0]["input"])
    assert "SYSTEM-TWO" in json.dumps(room.model.asked("b")[0]["input"])
    assert "As I said." in json.dumps(room.model.asked("c")[0]["input"])
    tokens = [room.spent(state.run, name)["tokens"] for name in ("one", "two", "three")]
    assert tokens == [2200, 1100, 1100]
    assert state.spent.tokens == 4400
    final = json.loads(room.transcript(state.run)[-1])
    assert final["usage"]["input_tokens"] == 4000


def test_what_the_service_refuses_ends_the_step_as_what_it_is(opened: Open) -> None:
    room = opened(
        e401=[Fail(401, "no such key")],
        e429=[Fail(429, "slow down", (("retry-after", "7"),))],
        e500=[Fail(500, "broken")],
        e503=[Fail(503, "later")],
        e502=[Fail(502, "broken")],
        cut=[Cut()],
    )
    begun = {name: room.start(step(name)) for name in room.model.scripts}
    room.drive()
    assert {name: (status_of(room, run), room.state(run).status) for name, run in begun.items()} == {
        "e401": ("auth", "blocked"),
        "e429": ("rate_limited", "waiting"),
        "e500": ("overloaded", "waiting"),
        "e503": ("overloaded", "waiting"),
        "e502": ("api_error", "blocked"),
        "cut": ("network", "waiting"),
    }
    assert "401 Unauthorized" in room.state(begun["e401"]).message


def test_a_line_of_two_megabytes_is_read_whole(opened: Open) -> None:
    room = opened(a=[Say("x" * BIG)])
    state = room.run(step("a", "output: said"))
    assert state.status == "succeeded", state.message
    assert state.names["said"] == "x" * BIG


def test_an_agent_that_hangs_is_ended_by_the_timeout_of_its_step(opened: Open, moved_time: MovedTime) -> None:
    room = opened(a=[ESCAPES, Hang()])
    run = room.start(step("a", "access: full, timeout: 1h"))
    room.during(lambda: moved_time.move(3601), lambda: len(room.model.asked("a")) == 2)
    assert (status_of(room, run), room.state(run).status) == ("timeout", "blocked")
    assert room.ending(run).details["session"]
    assert room.marked(run) == {}


def test_an_agent_that_is_killed_has_crashed_and_leaves_nothing(opened: Open) -> None:
    room = opened(a=[ESCAPES, Hang()])
    run = room.start(step("a", "access: full"))

    def kill() -> None:
        alive = room.marked(run)
        assert "sleep" in alive.values()
        for pid in [pid for pid, name in alive.items() if name == "codex"]:
            os.kill(pid, signal.SIGKILL)

    room.during(kill, lambda: len(room.model.asked("a")) == 2)
    assert (status_of(room, run), room.state(run).status) == ("crashed", "blocked")
    assert room.marked(run) == {}


def test_stopping_a_run_leaves_no_process_not_even_one_that_went_away(opened: Open) -> None:
    room = opened(a=[ESCAPES, Hang()])
    run = room.start(step("a", "access: full"))
    seen: list[str] = []

    def stop() -> None:
        seen.extend(room.marked(run).values())
        runs.stop(room.writer, run, "ann")

    room.during(stop, lambda: len(room.model.asked("a")) == 2)
    assert "codex" in seen
    assert "sleep" in seen
    assert room.state(run).status == "cancelled"
    assert room.marked(run) == {}


def test_what_it_says_before_it_begins_is_told(opened: Open) -> None:
    room = opened(a=[Say("never")])
    (room.home.codex / "config.toml").write_text("model = [")
    state = room.run(step("a"))
    assert state.status == "blocked"
    assert "config.toml" in room.ending(state.run).error


def test_where_the_sandbox_cannot_work_the_run_needs_a_person(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    room = opened(a=[Shell("echo x > a.txt"), Say("All done.")])
    alone = room.home.root / "alone"
    alone.mkdir()
    (room.home.root / "bin" / "codex").unlink()
    _without_its_sandbox(alone / "codex")
    (room.home.root / "bin" / "codex").symlink_to(alone / "codex")
    # Codex looks for one beside itself, and then for that of the machine.
    hide("bwrap", room.home.root / "others", monkeypatch)
    state = room.run(step("a"))
    assert (status_of(room, state.run), state.status) == ("denied", "blocked")
    assert "sandbox does not work on this machine" in state.message


def _without_its_sandbox(copy: Path) -> None:
    """Put the program where the one that makes its sandbox does not lie beside it."""
    real = program("codex")
    assert real is not None
    try:
        os.link(real, copy)
    except OSError:
        shutil.copy(real, copy)
