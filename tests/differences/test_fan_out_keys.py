"""The keys of fan-outs, merges and commits, in real repositories."""

from pathlib import Path
from subprocess import run as call

from handrail.ports.processes import Ended
from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves
from support.differences.workbench import Trace

TASKS = [{"id": "a", "title": "the gate"}, {"id": "b", "title": "the fence", "needs": ["a"]}]
FAN: Json = {"name": "build", "type": "parallel-agents", "for_each": TASKS, "prompt": "Build it.", "output": "built"}
MERGE: Json = {"name": "join", "type": "merge", "from": "${built}"}
MADE = {"build[a]/build": Play(files={"a.txt": "a\n"}), "build[b]/build": Play(files={"b.txt": "b\n"})}
BOTH_WRITE = {name: Play(files={"same.txt": f"{name}\n"}) for name in ("build[a]/build", "build[b]/build")}


def began(trace: Trace) -> list[str]:
    """The items in the order in which their agents were called."""
    return [each.address for each in trace.calls]


@proves("parallel-agents step.for_each", "parallel-agents step.prompt", "for_each.as")
def test_each_item_gets_the_prompt(run: Benches) -> None:
    found = run(flow({**FAN, "prompt": "Build {{ item.title }}."}), git=True)
    assert sorted(each.partition("# Your task")[2].split()[1] for each in found.prompts) == ["the", "the"]
    assert all(any(word in each for each in found.prompts) for word in ("the gate", "the fence"))
    named = run(flow({**FAN, "as": "task", "prompt": "Build {{ task.title }}."}), git=True)
    assert "the gate" in named.prompt


@proves("parallel-agents step.steps")
def test_a_body_of_steps_is_done_for_each_item(run: Benches) -> None:
    body = [{"name": "make", "command": "echo make"}, {"name": "test", "command": "echo test"}]
    fan = {name: value for name, value in FAN.items() if name != "prompt"}
    found = run(flow({**fan, "steps": body}), git=True)
    assert sorted(found.commands) == ["echo make", "echo make", "echo test", "echo test"]


def test_a_failed_item_lets_the_others_go_on_and_is_repeated_alone(run: Benches) -> None:
    breaks = {"build[b]/build": [Play(status="crashed"), Play(files={"b.txt": "b\n"})]}
    found = run(flow(FAN, MERGE), git=True, plays={**MADE, **breaks})
    assert (found.status, sorted(began(found))) == ("blocked", ["build[a]/build", "build[b]/build"])
    found.resume()
    assert (found.status, began(found)[2:]) == ("succeeded", ["build[b]/build"])
    assert (found.file("a.txt"), found.file("b.txt")) == ("a\n", "b\n")


@proves("for_each.key")
def test_a_key_names_the_branch_of_an_item(run: Benches) -> None:
    usual, named = run(flow(FAN), git=True), run(flow({**FAN, "key": "item.title | length"}), git=True)
    assert sorted(began(usual)) == ["build[a]/build", "build[b]/build"]
    assert sorted(began(named)) == ["build[8]/build", "build[9]/build"]


@proves("parallel-agents step.after")
def test_after_lets_an_item_start_from_others(run: Benches) -> None:
    body = [
        {"name": "make", "command": "test -e a.txt; found=$?; touch ${item.id}.txt; exit $found", "on_fail": "continue"}
    ]
    fan = {name: value for name, value in FAN.items() if name != "prompt"} | {"steps": body}

    def codes(**more: str) -> list[int]:
        trace = run(flow({**fan, **more}), git=True)
        found = [each for each in trace.bench.processes.started if "found" in each.argv[-1]]
        ended = (trace.bench.processes.look(each.folder) for each in found)
        return sorted(each.code for each in ended if isinstance(each, Ended))

    assert codes() == [1, 1]
    assert codes(after="item.needs | default([])") == [0, 1]


@proves("parallel-agents step.max_concurrent")
def test_max_concurrent_bounds_the_items_under_way(run: Benches) -> None:
    many = [{"id": name} for name in "abcd"]
    usual, one = (
        run(flow({**FAN, "for_each": many}), git=True),
        run(flow({**FAN, "for_each": many, "max_concurrent": 1}), git=True),
    )
    assert "4 items, 3 at a time" in usual.told
    assert "4 items, 1 at a time" in one.told
    assert began(one) == [f"build[{name}]/build" for name in "abcd"]


@proves("merge step.from")
def test_merge_brings_the_branches_together(run: Benches) -> None:
    apart, joined = run(flow(FAN), plays=MADE, git=True), run(flow(FAN, MERGE), plays=MADE, git=True)
    assert (apart.file("a.txt"), joined.file("a.txt"), joined.file("b.txt")) == ("", "a\n", "b\n")


@proves("merge step.checks")
def test_checks_undo_a_merge_that_breaks_them(run: Benches) -> None:
    free = run(flow(FAN, MERGE), plays=MADE, git=True)
    held = run(flow(FAN, {**MERGE, "checks": {"no": "! test -e b.txt"}}), plays=MADE, git=True)
    assert (free.commands, held.commands) == ([], ["! test -e b.txt", "! test -e b.txt"])
    assert (held.file("a.txt"), held.file("b.txt")) == ("a\n", "")


@proves("merge step.on_conflict", "on_conflict.prompt")
def test_on_conflict_lets_an_agent_resolve_it(run: Benches) -> None:
    alone = run(flow(FAN, MERGE), plays=BOTH_WRITE, git=True)
    helped_by = {**BOTH_WRITE, "join/b/resolve": Play(files={"same.txt": "both\n"})}
    short = run(flow(FAN, {**MERGE, "on_conflict": "Keep both sides."}), plays=helped_by, git=True)
    long = run(flow(FAN, {**MERGE, "on_conflict": {"prompt": "Keep them both."}}), plays=helped_by, git=True)
    assert alone.status == "blocked"
    assert (short.status, short.file("same.txt")) == ("succeeded", "both\n")
    assert ("Keep both sides." in short.prompt, "Keep them both." in long.prompt) == (True, True)


@proves("commit step.message", "commit step.paths")
def test_a_commit_has_its_message_and_its_paths(run: Benches) -> None:
    write: Json = {"name": "write", "command": "echo x > a.txt; echo x > b.txt"}

    def committed(**more: object) -> tuple[str, list[str]]:
        found = run(flow(write, {"name": "keep", "type": "commit", "message": "docs: explain", **more}), git=True)
        tree = Path(found.state.workspace)
        words = ["git", "show", "--name-only", "--format=%s", "HEAD"]
        said = call(words, cwd=tree, env=found.bench.environ, capture_output=True, text=True, check=True).stdout
        title, *files = said.split("\n")
        return title, [each for each in files if each]

    assert committed() == ("docs: explain", ["a.txt", "b.txt"])
    assert committed(message="fix: it", paths=["a.txt"]) == ("fix: it", ["a.txt"])
