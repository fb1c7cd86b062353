"""The keys of review loops."""

from typing import Any

from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves

LOOP: Json = {
    "name": "review",
    "type": "agent-loop",
    "reviewer": "Find what is wrong.",
    "fixer": "Fix what was found.",
    "output": "review",
}
LAST: Json = {"name": "last", "command": "echo last"}


def finds(*rules: str, severity: str = "high", **more: Any) -> Play:
    """A review with one finding for each rule."""
    found = [
        {"file": "a.py", "line": 1, "rule": rule, "severity": severity, "message": f"breaks {rule}"} for rule in rules
    ]
    return Play(output={"findings": found}, **more)


def always(number: int) -> list[Play]:
    """Reviews that find something new each time."""
    return [finds(f"rule-{each}") for each in range(number)]


ROUNDS = tuple(f"review@{number}/reviewer" for number in range(1, 10))


def plays(reviews: list[Play], **more: Play | list[Play]) -> dict[str, Play | list[Play]]:
    """Give each round its review, and let each fix change something."""
    by_round: dict[str, Play | list[Play]] = dict(zip(ROUNDS, reviews, strict=False))
    fixes = {f"review@{each}/fixer": Play(files={"a.py": f"{each}"}) for each in range(1, 10)}
    return {**by_round, **fixes, **more}


def clean_after(number: int) -> list[Play]:
    return [*always(number), Play(output={"findings": []})]


@proves("roles.reviewer", "roles.prompt", "role.prompt", "roles.fixer")
def test_each_role_is_told_its_prompt(run: Benches) -> None:
    found = run(flow(LOOP), plays=plays(clean_after(1)), git=True)
    assert found.addresses == ["review@1/reviewer", "review@1/fixer", "review@2/reviewer"]
    assert ("Find what is wrong." in found.prompts[0], "Fix what was found." in found.prompts[1]) == (True, True)
    short: Json = {"name": "review", "type": "agent-loop", "prompt": "Look for mistakes."}
    alone = run(flow(short), plays={**plays(clean_after(1)), "review@1/fixer": Play(files={"a.py": "x"})}, git=True)
    assert "Look for mistakes." in alone.prompts[0]
    long = run(flow({**LOOP, "reviewer": {"prompt": "Read every line."}}), plays=plays(clean_after(0)), git=True)
    assert "Read every line." in long.prompts[0]


@proves("roles.arbiter", "roles.arbiter_prompt")
def test_an_arbiter_decides_what_is_worth_fixing(run: Benches) -> None:
    declines = {"review@1/arbiter": Play(output={"actionable": False, "decisions": []})}
    without = run(flow(LOOP), plays=plays(clean_after(1)), git=True)
    judged = run(flow({**LOOP, "arbiter": "Judge it."}), plays={**plays(clean_after(1)), **declines}, git=True)
    short = run(
        flow({**LOOP, "arbiter_prompt": "Judge it too."}), plays={**plays(clean_after(1)), **declines}, git=True
    )
    assert "review@1/arbiter" not in without.addresses
    assert judged.addresses == short.addresses == ["review@1/reviewer", "review@1/arbiter"]
    assert ("Judge it." in judged.prompts[1], "Judge it too." in short.prompts[1]) == (True, True)


@proves("roles.checks")
def test_checks_must_pass_after_each_fix(run: Benches) -> None:
    checked = {**LOOP, "checks": {"ok": "test -e a.py"}}
    assert run(flow(LOOP), plays=plays(clean_after(1)), git=True).commands == []
    assert run(flow(checked), plays=plays(clean_after(1)), git=True).commands == ["test -e a.py"]


@proves("roles.exit_when")
def test_exit_when_ends_the_loop_early(run: Benches) -> None:
    free = run(flow(LOOP), plays=plays(clean_after(2)), git=True)
    early = run(flow({**LOOP, "exit_when": "round >= 2"}), plays=plays(clean_after(2)), git=True)
    assert (len(free.addresses), len(early.addresses)) == (5, 3)
    assert "its end condition was met" in early.told


@proves("roles.converge", "converge.plateau")
def test_converge_ends_a_loop_that_no_longer_gains(run: Benches) -> None:
    def rounds(**more: Any) -> int:
        found = run(flow({**LOOP, "max_iterations": 5, **more}), plays=plays(always(8)), git=True)
        return sum(name.endswith("/reviewer") for name in found.addresses)

    assert rounds(converge="off") == 5
    assert rounds() == rounds(converge={"plateau": 2}) == 3
    assert rounds(converge={"plateau": 1}) == 2


@proves("converge.severity")
def test_findings_below_the_severity_do_not_keep_the_loop_going(run: Benches) -> None:
    low = plays([finds("names", severity="low"), Play(output={"findings": []})])
    assert "review@1/fixer" in run(flow(LOOP), plays=low, git=True).addresses
    assert run(flow({**LOOP, "converge": {"severity": "high"}}), plays=low, git=True).addresses == ["review@1/reviewer"]


@proves("rounds.on_max", "rounds.on_max_iterations")
def test_on_max_decides_about_findings_that_stay_open(run: Benches) -> None:
    loop = {**LOOP, "max_iterations": 1, "converge": "off"}
    ends = [run(flow({**loop, **each}), plays=plays(always(3)), git=True) for each in ({}, {"on_max": "block"})]
    assert [each.status for each in ends] == ["succeeded", "blocked"]
    coven = run(flow({**loop, "on_max_iterations": "exit"}), plays=plays(always(3)), git=True)
    assert coven.status == "failed"


@proves("review step.max_iterations", "review step.max", "review step.max_cycles")
def test_max_cycles_bounds_a_review(run: Benches) -> None:
    review: Json = {"name": "review", "type": "review", "converge": "off"}

    def rounds(**more: int) -> int:
        actionable = {f"review@{each}/arbiter": Play(output={"actionable": True}) for each in range(1, 9)}
        found = run(flow({**review, **more}), plays={**plays(always(8)), **actionable}, git=True)
        return sum(name.endswith("/reviewer") for name in found.addresses)

    assert (rounds(), rounds(max_iterations=1), rounds(max_cycles=1), rounds(max=1)) == (3, 1, 1, 1)


@proves("rounds.max_iterations", "rounds.max", "rounds.max_cycles")
def test_max_iterations_bounds_an_agent_loop_by_whatever_word(run: Benches) -> None:
    without = {name: value for name, value in LOOP.items() if name != "max_iterations"}

    def rounds(**more: int) -> int:
        found = run(flow({**without, "converge": "off", **more}), plays=plays(always(8)), git=True)
        return sum(name.endswith("/reviewer") for name in found.addresses)

    assert (rounds(), rounds(max_iterations=2), rounds(max=2), rounds(max_cycles=2)) == (5, 2, 2, 2)


@proves("repeated agent.budget")
def test_a_role_has_its_own_budget(run: Benches) -> None:
    costly = [finds(f"rule-{each}", cost=1.0) for each in range(8)]

    def rounds(**more: Any) -> int:
        loop = {**LOOP, "converge": "off", "max_iterations": 4, "reviewer": {"prompt": "Find what is wrong.", **more}}
        found = run(flow(loop), plays=plays(costly), git=True)
        return sum(name.endswith("/reviewer") for name in found.addresses)

    assert (rounds(), rounds(budget={"usd": 1.5})) == (4, 2)
