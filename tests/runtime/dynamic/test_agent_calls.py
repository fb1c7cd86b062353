"""Flows call agents, gates with fixes and workflows: each is paid for once, and has its name, proofs and budget."""

from pathlib import Path

import pytest

from handrail.model.history.events import StepBegan
from handrail.operations.runs import lifecycle as runs
from handrail.operations.runs.prepare import RunOptions
from handrail.operations.views.costs import cost_of
from handrail.operations.views.history import step_details
from handrail.operations.views.run_tree import family
from handrail.operations.views.step_addresses import list_addresses
from handrail.runtime.history import events_of
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.runtime.flow_home import Flows

pytestmark = pytest.mark.system  # takes long: many processes of its own

DEVELOPS = """\
from handrail import Gate

inputs = {"issue": "issue"}

async def run(ctx):
    plan = await ctx.run_step("planning", prompt_path="prompts/planning.md", model="opus")
    await ctx.run_step("coding", prompt="Do this: {{ plan }}", values={"plan": plan.output}, session="planning")
    attempts = 0
    while attempts < 3:
        verified = await ctx.run_step("verify", prompt="Verify it.", returns={"ok": "bool"})
        attempts += 1
        if verified.success and verified.output["ok"]:
            break
    checked = await ctx.run_step(Gate("checks", command="test -e fixed", fix="Make the checks pass."))
    answer = "none"
    if "needs-review" in ctx.labels:
        answer = (await ctx.approve("Is it good?")).decision
    return {"attempts": attempts, "checked": checked.success, "answer": answer, "drawn": ctx.random.random()}
"""
SCRIPT = """\
flow/planning: [{run: echo planning >> CALLS, say: the plan}]
flow/coding: [{run: echo coding >> CALLS, files: {code.txt: "done"}, say: coded}]
flow/verify:
  - {run: echo verify >> CALLS, output: {ok: false}}
  - {run: echo verify >> CALLS, output: {ok: true}}
flow/checks/fix: [{run: echo fix >> CALLS, files: {fixed: "yes"}, say: fixed}]
"""
CALLED = ["planning", "coding", "verify", "verify", "fix"]
ADDRESSES = ("flow/planning", "flow/coding", "flow/verify", "flow/verify#2", "flow/checks")


def develop(flows: Flows, *labels: str) -> str:
    """Start a run that plans, codes, verifies twice and is fixed once."""
    flows.write(DEVELOPS, planning="Plan {{ issue.title }}.")
    return flows.start_with_agents(SCRIPT, labels=list(labels))


def intents(flows: Flows, run: str) -> dict[str, StepBegan]:
    """Give how each agent of a run and the runs of its calls was called last."""
    log = flows.home.log
    found = [event for each in family(log, run) for _, event in events_of(log, each)]
    return {event.address: event for event in found if isinstance(event, StepBegan) and event.action == "agent"}


def test_agents_are_called_by_name_with_model_prompt_file_and_conversation(flows: Flows) -> None:
    run = develop(flows)
    state = flows.drive(run)
    assert state.status == "succeeded", state.message
    assert {**flows.result(run), "drawn": 0} == {"attempts": 2, "checked": True, "answer": "none", "drawn": 0}
    assert flows.calls() == CALLED
    called = {address: event.spec for address, event in intents(flows, run).items()}
    assert called["flow/planning"]["prompt_file"] == "prompts/planning.md"
    assert "Plan `Fix it`." in str(called["flow/planning"]["prompt"])
    assert called["flow/coding"]["session"] == state.steps["flow/planning"].session
    assert "2. flow/coding: done - coded" in str(called["flow/verify#2"]["prompt"])
    assert "3. flow/verify: done" in str(called["flow/verify#2"]["prompt"])
    assert called["flow/verify#2"]["turn"] == 2


def test_every_view_has_its_calls_once_and_under_their_names(flows: Flows) -> None:
    run = develop(flows)
    flows.drive(run)
    log = flows.home.log
    shown = [each for each in list_addresses(log, run) if each.startswith("flow/")]
    assert sorted(shown) == sorted([*ADDRESSES, "flow/checks/fix"])
    assert [each["address"] for each in step_details(log, run, "flow/coding")] == ["flow/coding"]
    cost = cost_of(log, run)
    assert cost.total.agent_calls == len(CALLED)
    assert flows.home.state(run).spent.agent_calls == len(CALLED)


@pytest.mark.parametrize(("at", "again"), [("flow/coding", CALLED[1:]), ("flow/verify#2", CALLED[3:]), (None, [])])
def test_a_copy_keeps_the_calls_before_its_place_and_pays_for_none_of_them(
    flows: Flows, at: str | None, again: list[str]
) -> None:
    run = develop(flows, "needs-review")
    assert flows.drive(run).reason == "approval"
    copy = runs.fork(flows.home.writer, run, at, "me")
    assert flows.drive(copy).reason == "approval"
    assert flows.calls() == [*CALLED, *again]
    for each in (run, copy):
        runs.answer(flows.home.writer, each, "approve", "me")
        flows.drive(each)
    ended = [flows.home.state(each) for each in (run, copy)]
    assert [each.status for each in ended] == ["succeeded", "succeeded"]
    assert flows.calls() == [*CALLED, *again]
    if not again:
        assert flows.result(run) == flows.result(copy)
    assert (flows.home.shop.parent / ended[1].workspace / "code.txt").read_text() == "done"


def test_going_back_to_a_call_pays_only_for_it_and_those_after_it(flows: Flows) -> None:
    run = develop(flows, "needs-review")
    flows.drive(run)
    runs.rewind(flows.home.writer, run, "flow/verify#2", "me")
    assert flows.drive(run).reason == "approval"
    assert flows.calls() == [*CALLED, *CALLED[3:]]
    shown = [each for each in list_addresses(flows.home.log, run) if each.startswith("flow/verify")]
    assert shown == ["flow/verify", "flow/verify#2"]


FAILS = """\
inputs = {"issue": "issue"}

async def run(ctx):
    await ctx.run_step("first", prompt="Do it.")
    made = await ctx.run_step("second", prompt="Make it.", done_when=[{"exists": "made"}])
    if not made.success:
        raise RuntimeError(made.error)
    return made.output
"""


def test_proofs_hold_and_a_failed_flow_that_is_resumed_tries_only_its_last_failed_call_again(flows: Flows) -> None:
    flows.write(FAILS)
    run = flows.start_with_agents(
        """\
        flow/first: [{run: echo first >> CALLS, say: one}]
        flow/second: [{run: echo second >> CALLS}, {run: echo second >> CALLS, files: {made: "x"}, say: two}]
        """
    )
    failed = flows.drive(run)
    assert failed.status == "failed"
    assert "made" in failed.message
    runs.resume(flows.home.writer, run, "me")
    state = flows.drive(run)
    assert (state.status, state.names["flow"]) == ("succeeded", "two")
    assert flows.calls() == ["first", "second", "second"]


def test_a_budget_in_the_module_bounds_the_calls_of_agents(flows: Flows) -> None:
    flows.write(
        """
        from handrail import Budget

        inputs = {"issue": "issue"}
        budget = Budget(agent_calls=2)

        async def run(ctx):
            while True:
                await ctx.run_step("again", prompt="Do it.")
        """
    )
    run = flows.start_with_agents("flow/again: {run: echo again >> CALLS, say: done, repeat: true}")
    flows.drive(run)
    log = flows.home.log
    blocked = flows.home.state(family(log, run)[-1])
    assert (blocked.status, blocked.reason) == ("blocked", "budget")
    assert flows.calls() == ["again", "again"]


def test_items_in_parallel_are_merged_reviewed_and_committed(flows: Flows) -> None:
    flows.write(
        """
        from handrail import AgentLoop, Commit, Merge, ParallelAgents

        inputs = {"issue": "issue"}

        async def run(ctx):
            fan = ParallelAgents("build", for_each="${items}", as_="item", key="item", prompt="Build {{ item }}.")
            built = await ctx.run_step(fan, values={"items": ["a", "b"]})
            merged = await ctx.run_step(Merge("combine", from_="${built}"), values={"built": built.output})
            review = AgentLoop("review", reviewer="Review it.", fixer="Fix it.", max_iterations=2)
            reviewed = await ctx.run_step(review)
            await ctx.run_step("change", command="echo more > more.txt")
            kept = await ctx.run_step(Commit("keep", message="Keep it"))
            return [each.success for each in (built, merged, reviewed, kept)]
        """
    )
    run = flows.start_with_agents(
        """\
        "flow/build[a]/build": {files: {a: "a"}, say: built}
        "flow/build[b]/build": {files: {b: "b"}, say: built}
        flow/review/reviewer: {output: {findings: []}}
        """
    )
    state = flows.drive(run)
    assert flows.result(run) == [True, True, True, True]
    work = Path(state.workspace)
    assert {each.name for each in work.iterdir()} >= {"a", "b", "more.txt"}


CHILD = """
name: child
input: {who: string}
steps: [{name: greet, command: 'echo hello ${who}', output: greeting}]
"""


def test_workflows_and_steps_with_tries_are_called_too(flows: Flows) -> None:
    file = flows.home.folders.config / "workflows" / "child.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(CHILD)
    run = flows.start(
        """
        from handrail import Call, Script

        async def run(ctx):
            called = await ctx.run_step("sub", workflow="child", input={"who": "${name}"}, values={"name": "Ann"})
            same = await ctx.run_step(Call("sub", workflow="child", input={"who": "Ben"}))
            unknown = await ctx.run_step("none", workflow="nowhere")
            tried = await ctx.run_step(Script("tried", command="test -e once || { touch once; false; }", retry=1))
            return [called.output, same.output, unknown.error, tried.success]
        """
    )
    state = flows.drive(run)
    assert state.status == "succeeded", state.message
    called, same, unknown, tried = flows.result(run)
    assert (called, same, tried) == ({"greeting": "hello Ann"}, {"greeting": "hello Ben"}, True)
    assert "there is no workflow 'nowhere'" in unknown
    assert state.steps["flow/sub#2"].status == "succeeded"


def test_a_plain_name_in_a_flow_of_ones_own_means_no_workflow_of_the_repository(flows: Flows) -> None:
    own = flows.home.folders.config / "workflows" / "mine.py"
    own.parent.mkdir(parents=True)
    own.write_text(
        "async def run(ctx):\n    return [(await ctx.run_step('a', workflow=each)).success for each in NAMES]\n"
        "NAMES = ['child', 'repository:child']\n"
    )
    theirs = flows.home.shop / ".handrail" / "workflows" / "child.yaml"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(CHILD.replace("who: string", "who: string = Eve"))
    TrustStore(flows.home.folders).trust_snapshot(take(theirs))
    run = flows.start_again(RunOptions("mine", folder=str(flows.home.shop)))
    flows.drive(run)
    assert flows.result(run) == [False, True]


def test_a_flow_asks_for_words_and_lets_time_pass(flows: Flows) -> None:
    run = flows.start(
        """
        async def run(ctx):
            before = ctx.now
            said = await ctx.ask("Which way?")
            await ctx.sleep(3600)
            await ctx.sleep(0)
            return {"said": said, "later": ctx.now >= before, "drawn": ctx.random.randint(1, 6)}
        """
    )
    assert flows.drive(run).message == "Which way?"
    runs.answer_in_words(flows.home.writer, run, "that way", "me")
    asleep = flows.drive(run)
    assert (asleep.status, asleep.reason) == ("waiting", "timer")
    copy = runs.fork(flows.home.writer, run, None, "me")
    assert flows.drive(copy).reason == "timer"
    # A person who resumes a run that sleeps does not want to wait.
    for each in (run, copy):
        runs.resume(flows.home.writer, each, "me")
        flows.drive(each)
    ended = [flows.home.state(each) for each in (run, copy)]
    assert [each.status for each in ended] == ["succeeded", "succeeded"]
    assert flows.result(run) == flows.result(copy)
    assert flows.result(run)["said"] == "that way"


def test_a_sleep_that_is_paused_does_not_become_longer(flows: Flows) -> None:
    run = flows.start("async def run(ctx):\n    await ctx.sleep(3600)\n")
    until = flows.drive(run).until
    flows.home.writer.send(run, "pause", "pause")
    assert flows.drive(run).reason == "pause"
    runs.resume(flows.home.writer, run, "me")
    again = flows.drive(run)
    assert (again.reason, again.until) == ("timer", until)
    runs.stop(flows.home.writer, run, "me")
    assert flows.drive(run).status == "cancelled"
