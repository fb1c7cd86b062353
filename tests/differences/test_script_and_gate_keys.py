"""The keys of scripts, gates and of the agents that repair what gates find."""

from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves

LAST: Json = {"name": "last", "command": "echo last"}
GATE: Json = {"name": "checks", "type": "gate", "checks": {"a": "test -e a.txt", "b": "test -e b.txt"}}
MAKES = {"checks/fix": Play(files={"a.txt": "", "b.txt": ""})}


@proves("script step.command")
def test_the_command_of_a_script_is_executed(both: Benches) -> None:
    assert both(flow({"name": "a", "command": "echo one"})).commands == ["echo one"]
    assert both(flow({"name": "a", "command": "echo two"})).commands == ["echo two"]


@proves("script step.env", "gate step.env")
def test_env_gives_variables_to_commands(both: Benches) -> None:
    script, gate = {"name": "a", "command": "echo $CHANNEL"}, {"name": "a", "type": "gate", "command": "test $CHANNEL"}
    for step in (script, gate):
        without, given = (
            both(flow({**step, "on_fail": "continue"})),
            both(flow({**step, "env": {"CHANNEL": "nightly"}})),
        )
        assert ("CHANNEL" in without.environments[-1], given.environments[-1]["CHANNEL"]) == (False, "nightly")


@proves("script step.repeatable")
def test_a_script_that_may_not_run_twice_is_started_as_such(both: Benches) -> None:
    def once(**more: bool) -> bool:
        return both(flow({"name": "a", "command": "echo one", **more})).bench.processes.started[-1].once

    assert (once(), once(repeatable=False)) == (False, True)


@proves("script step.on_success")
def test_on_success_leaves_the_loop(both: Benches) -> None:
    ping = {"name": "ping", "command": "echo ping"}

    def rounds(**more: str) -> int:
        loop = {"name": "again", "type": "loop", "for": 3, "max_iterations": 5, "steps": [{**ping, **more}]}
        return len(both(flow(loop)).commands)

    assert (rounds(), rounds(on_success="exit_loop")) == (3, 1)


@proves("gate step.command", "gate step.checks")
def test_a_gate_runs_its_command_or_all_of_its_checks(both: Benches) -> None:
    one = both(flow({"name": "a", "type": "gate", "command": "exit 1"}, LAST))
    assert (one.commands, one.status) == (["exit 1"], "blocked")
    two = both(flow(GATE, LAST))
    assert two.commands == ["test -e a.txt", "test -e b.txt"]
    assert both(flow(GATE, LAST), files={"a.txt": "", "b.txt": ""}).commands[-1] == "echo last"


@proves("gate step.fix", "fix.prompt")
def test_fix_lets_an_agent_repair_what_failed(run: Benches) -> None:
    assert run(flow(GATE, LAST)).calls == []
    short = run(flow({**GATE, "fix": "Make the files."}, LAST), plays=MAKES)
    long = run(flow({**GATE, "fix": {"prompt": "Write the files."}}, LAST), plays=MAKES)
    assert (short.status, long.status) == ("succeeded", "succeeded")
    assert ("Make the files." in short.prompt, "Write the files." in long.prompt) == (True, True)
    assert "a: exit 1; b: exit 1" in short.prompt.partition("# What failed")[2]


@proves("repeated agent.max", "repeated agent.max_iterations", "repeated agent.max_cycles")
def test_max_bounds_the_fixes(run: Benches) -> None:
    def fixes(**more: int) -> int:
        return len(run(flow({**GATE, "fix": {"prompt": "Make the files.", **more}})).calls)

    assert (fixes(), fixes(max=1), fixes(max_iterations=1), fixes(max_cycles=1)) == (3, 1, 1, 1)


@proves("repeated agent.budget")
def test_a_fix_has_its_own_budget(run: Benches) -> None:
    costly = {"checks/fix": Play(cost=1.0)}

    def fixes(**more: Json) -> int:
        return len(run(flow({**GATE, "fix": {"prompt": "Make the files.", **more}}), plays=costly).calls)

    assert (fixes(), fixes(budget={"usd": 0.5})) == (3, 1)


FAILED: Json = {"name": "strict", "type": "gate", "checks": {"types": "exit 1", "tests": "test -e a.txt"}}
ONE = "steps.strict.failed | length == 1 and 'types' in steps.strict.failed"


@proves("gate step.warn_when")
def test_warn_when_makes_a_failure_a_warning(both: Benches) -> None:
    def ended(files: dict[str, str], **more: str) -> tuple[str, bool]:
        found = both(flow({**FAILED, **more}, LAST), files=files)
        return found.status, "echo last" in found.commands

    green = {"a.txt": ""}
    assert ended(green) == ("blocked", False)
    assert ended(green, warn_when=ONE) == ("succeeded", True)
    assert ended({}, warn_when=ONE) == ("blocked", False)


@proves("every step.message")
def test_the_message_of_a_gate_is_told_with_its_failure(both: Benches) -> None:
    words = "Red: ${steps.strict.failed | join(', ')}."
    plain, told = both(flow(FAILED)), both(flow({**FAILED, "message": words}))
    assert plain.state.message == "step 'strict' failed: tests: exit 1; types: exit 1"
    assert told.state.message == "step 'strict' failed: Red: tests, types. (tests: exit 1; types: exit 1)"
