"""A run works in the environment of whoever started it, wherever it is driven."""

from pathlib import Path

import pytest

from support.first_use.shells import KEYS, Shells, print_of

pytestmark = pytest.mark.system  # takes long: many processes of its own

CALLS = "  - {name: a, agent: claude, access: read, prompt: Say who you are., output: said}\n"
ASKS = "  - {name: ok, type: approval, message: 'go?'}\n"
SHOWS = "  - {name: a, command: 'echo \"has=$MYVAR\"', output: said}\n"
TIMES = 14
"""How often a run is started beside a background driver; it used to take about every second one."""


def said(shells: Shells, run: str) -> object:
    """Give what the step of a run said."""
    return shells.run(run)["outputs"]["said"]


def test_a_detached_run_calls_its_agent_with_the_login_of_the_shell_that_started_it(shells: Shells) -> None:
    shells.add("who", CALLS)
    shells.call("ann", "run", "who", "--detach")
    ended = shells.reaches("who-1", "succeeded", "failed", "blocked")
    assert (ended["status"], ended["error"]) == ("succeeded", None)
    assert said(shells, "who-1") == print_of("ann")


def test_a_run_in_a_terminal_is_never_taken_by_the_background_driver_of_another_shell(shells: Shells) -> None:
    shells.add("ask", ASKS)
    shells.add("envy", SHOWS)
    shells.call("nobody", "run", "ask", "--detach")
    shells.reaches("ask-1", "waiting")
    seen: list[object] = []
    for number in range(TIMES):
        shells.call("ann", "run", "envy", HANDRAIL_PASS_ENV="MYVAR", MYVAR=f"mine{number}")
        seen.append(said(shells, f"envy-{number + 1}"))
    assert seen == [f"has=mine{number}" for number in range(TIMES)]


def test_two_shells_share_a_driver_and_each_run_has_its_own_login(shells: Shells) -> None:
    shells.add("who", CALLS)
    for shell in ("ann", "ben", "ann"):
        shells.call(shell, "run", "who", "--detach")
    for number, shell in enumerate(("ann", "ben", "ann"), start=1):
        assert shells.reaches(f"who-{number}", "succeeded", "failed", "blocked")["status"] == "succeeded"
        assert said(shells, f"who-{number}") == print_of(shell)
    environ = Path(f"/proc/{shells.driver()}/environ").read_bytes()
    for key in KEYS.values():
        assert shells.leaks(key) == []
        assert key.encode() not in environ


@pytest.mark.parametrize("detach", [(), ("--detach",)])
def test_an_approval_in_another_terminal_leaves_the_run_its_environment(
    shells: Shells, detach: tuple[str, ...]
) -> None:
    shells.add("who", ASKS + CALLS)
    shells.call("ann", "run", "who", "--detach")
    shells.reaches("who-1", "waiting")
    shells.call("nobody", "approve", "who-1", *detach)
    assert shells.reaches("who-1", "succeeded", "failed", "blocked")["status"] == "succeeded"
    assert said(shells, "who-1") == print_of("ann")


def test_a_run_that_began_in_a_terminal_keeps_its_environment_where_a_driver_is_alive(shells: Shells) -> None:
    shells.add("other", ASKS)
    shells.add("who", ASKS + CALLS)
    shells.call("nobody", "run", "other", "--detach")
    assert shells.call("ann", "run", "who").exit_code == 3
    shells.call("ben", "approve", "who-1")
    assert said(shells, "who-1") == print_of("ann")


def test_whoever_approves_gives_the_environment_where_nobody_holds_the_first_one(shells: Shells) -> None:
    shells.add("who", ASKS + CALLS)
    assert shells.call("ann", "run", "who").exit_code == 3
    shells.call("ben", "approve", "who-1", "--detach")
    assert shells.reaches("who-1", "succeeded", "failed", "blocked")["status"] == "succeeded"
    assert said(shells, "who-1") == print_of("ben")


def test_without_a_login_the_run_says_how_to_log_in_before_it_calls_anybody(shells: Shells) -> None:
    shells.add("who", ASKS + CALLS)
    shells.call("ann", "run", "who", "--detach")
    shells.reaches("who-1", "waiting")
    shells.kill_driver()
    answer = shells.call("nobody", "approve", "who-1")
    assert answer.exit_code == 3
    document = shells.reaches("who-1", "blocked")
    assert (document["reason"], shells.calls) == ("login", 0)
    assert "claude has no login in the environment of this run" in document["error"]
    way = "claude auth login, or set ANTHROPIC_API_KEY, then from that shell: handrail resume who-1"
    assert way in " ".join(answer.text.split())
    again = shells.call("nobody", "resume", "who-1", "--detach")
    assert again.exit_code == 0
    shells.reaches("who-1", "blocked")
    assert shells.calls == 0
    shells.call("ben", "resume", "who-1", "--detach")
    assert shells.reaches("who-1", "succeeded", "failed")["status"] == "succeeded"
    assert said(shells, "who-1") == print_of("ben")
    assert [step["attempts"] for step in shells.run("who-1")["steps"] if step["address"] == "a"] == [1]


def test_a_run_whose_driver_was_killed_goes_on_from_a_shell_with_a_login(shells: Shells) -> None:
    gate, began = shells.box.base / "go", shells.box.loot / "began"
    slow = f"touch {began}; until [ -e {gate} ]; do sleep 0.05; done"
    shells.add("who", f"  - {{name: slow, command: '{slow}', timeout: 60s}}\n{CALLS}")
    started = shells.call("ann", "run", "who", "--detach")
    assert started.exit_code == 0, started.text
    shells.shows(began)
    shells.kill_driver()
    gate.touch()
    assert shells.call("ben", "resume", "who-1").exit_code == 0
    assert said(shells, "who-1") == print_of("ben")


def test_child_runs_and_items_have_the_environment_of_the_run_that_they_come_from(shells: Shells) -> None:
    shells.add("who", CALLS)
    items = "  - {name: each, type: parallel-agents, for_each: [x, y], as: it, steps: [{name: b, agent: claude, "
    items += "access: read, prompt: Say it.}]}\n"
    shells.add("outer", "  - {name: kid, type: workflow, workflow: who, output: kid}\n" + items)
    shells.call("ann", "run", "outer", "--detach")
    assert shells.reaches("outer-1", "succeeded", "failed", "blocked")["status"] == "succeeded"
    assert shells.run("outer-1")["outputs"]["kid"]["said"] == print_of("ann")
    assert shells.calls == 3


def test_a_secret_of_a_run_is_masked_in_what_another_shell_tells_it(shells: Shells) -> None:
    shells.add("who", ASKS + CALLS)
    shells.call("ann", "run", "who", "--detach")
    shells.reaches("who-1", "waiting")
    assert shells.call("nobody", "tell", "who-1", f"use {KEYS['ann'][7:]} for it").exit_code == 0
    shells.call("nobody", "approve", "who-1", "-m", f"the key is {KEYS['ann']}")
    shells.reaches("who-1", "succeeded")
    assert shells.leaks(KEYS["ann"]) == []


def test_status_and_doctor_name_the_logins_that_the_driver_holds_and_never_a_value(shells: Shells) -> None:
    shells.add("who", ASKS + CALLS)
    shells.call("ann", "run", "who", "--detach")
    shells.call("nobody", "run", "who", "--detach")
    shells.reaches("who-2", "waiting")
    held = "holds those of who-1 (claude by ANTHROPIC_API_KEY), who-2 (no login variable)"
    for command in ("status", "doctor"):
        shown = shells.call("ben", command)
        assert held in shown.out.replace("opencode by ANTHROPIC_API_KEY, ", "").replace(
            ", opencode by ANTHROPIC_API_KEY", ""
        )
        driver = shells.call("ben", command, "--json").document["driver"]
        assert driver["logins"] == []
        first, second = driver["environments"]
        assert {"agent": "claude", "variable": "ANTHROPIC_API_KEY"} in first["logins"]
        assert (first["run"], second["run"], second["logins"]) == ("who-1", "who-2", [])
        assert KEYS["ann"] not in shown.text + str(driver)
