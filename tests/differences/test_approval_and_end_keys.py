"""The keys of approvals, of the end of a run, and of calls of other workflows."""

from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves

DRAFT: Json = {"name": "draft", "prompt": "Write a draft.", "output": "text"}
OTHER: Json = {"name": "other", "prompt": "Write something else."}
ASK: Json = {"name": "ok", "type": "approval", "message": "Good?"}
LAST: Json = {"name": "last", "command": "echo last"}
CHILD = "name: child\ninput: {word: string = none}\nsteps:\n  - {name: say, command: 'echo ${word}'}\n"


@proves("approval step.show")
def test_show_displays_values_with_the_question(both: Benches) -> None:
    plays = {"draft": Play("A blue fence.")}
    assert "A blue fence." not in both(flow(DRAFT, ASK), plays=plays).lines[-3:]
    shown = both(flow(DRAFT, {**ASK, "show": ["text"]}), plays=plays)
    assert any("text: A blue fence." in line for line in shown.lines[-4:])


@proves("approval step.show")
def test_show_diff_displays_what_the_run_changed(run: Benches) -> None:
    plays = {"draft": Play(files={"fence.txt": "blue\n"})}
    plain, shown = (run(flow(DRAFT, each), plays=plays, git=True) for each in (ASK, {**ASK, "show": "diff"}))
    assert ("+blue" in plain.told, "+blue" in shown.told) == (False, True)


@proves("approval step.revise")
def test_revise_names_the_step_that_a_revision_goes_back_to(both: Benches) -> None:
    near = both(flow(DRAFT, OTHER, ASK)).answer("revise", "shorter")
    far = both(flow(DRAFT, OTHER, {**ASK, "revise": "draft"})).answer("revise", "shorter")
    began = [[event.address for event in each.events if event.kind == "step_began"] for each in (near, far)]
    assert began[0][2] == "other"
    assert began[1][2] == "draft"


@proves("approval step.max", "approval step.max_iterations", "approval step.max_cycles")
def test_max_bounds_the_revisions(run: Benches) -> None:
    assert "[r]evise" in run(flow(DRAFT, ASK)).told
    for word in ("max", "max_iterations", "max_cycles"):
        assert "[r]evise" not in run(flow(DRAFT, {**ASK, word: 0})).told


@proves("approval step.on_reject")
def test_on_reject_stop_offers_no_revision(run: Benches) -> None:
    assert "[r]evise" in run(flow(DRAFT, {**ASK, "on_reject": "revise"})).told
    assert "[r]evise" not in run(flow(DRAFT, {**ASK, "on_reject": "stop"})).told


@proves("end step.status", "every step.message")
def test_an_end_ends_the_run_as_its_status_says(both: Benches) -> None:
    end: Json = {"name": "stop", "type": "end"}
    assert both(flow(end, LAST)).status == "succeeded"
    failed = both(flow({**end, "status": "failed", "message": "Nothing to do."}, LAST))
    assert (failed.status, failed.commands) == ("failed", [])
    assert "Nothing to do." in failed.told


@proves("workflow step.workflow")
def test_a_workflow_step_runs_another_workflow(both: Benches) -> None:
    calls = {"name": "call", "workflow": "child", "input": {"word": "hello"}}
    found = both(flow(calls, LAST), workflows={"child": CHILD})
    assert found.commands == ['echo "$HR_1"', "echo last"]
    assert found.environments[0]["HR_1"] == "hello"


@proves("use step.use")
def test_a_use_step_puts_the_steps_of_another_workflow_in_its_place(both: Benches) -> None:
    uses = {"name": "here", "use": "child", "input": {"word": "hello"}}
    found = both(flow(uses, LAST), workflows={"child": CHILD})
    assert found.commands == ['echo "$HR_1"', "echo last"]
    assert "here/say" in found.state.steps
    left_out = both(flow({"name": "here", "use": "child"}), workflows={"child": CHILD})
    assert left_out.environments[0]["HR_1"] == "none"
