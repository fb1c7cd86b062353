"""Agents that the engine launched call its tools: what each does, whoever dies meanwhile, and what is refused."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rpds import HashTrieMap

from handrail.agents.gemini.adapter import GeminiAgent
from handrail.agents.played.scripted import ScriptedAgent
from handrail.engine.fold.step_tools import MAX_CHILDREN, refusal
from handrail.model.history.events import ChildEnded, MessageGiven, QuestionAsked, RunStarted
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import AgentAction, AgentLoopAction
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentCall, ToolServer, unmet
from support.compiler.native_case import compile_text
from support.pull.tools_room import ToolsRoom, tool

pytestmark = pytest.mark.system  # takes long

WAITS = {"run": "until test -e ../../../../../go; do sleep 0.05; done", "say": "done"}
"""A turn that lasts until the room closes; a work tree lies five folders below the room's."""


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[ToolsRoom]:
    made = ToolsRoom(tmp_path)
    yield made
    made.close()


def test_every_call_is_recorded_and_the_step_goes_on_with_a_persons_answer(tools: ToolsRoom) -> None:
    tools.work(done_when="[{exists: never.txt}]", retry="0")
    said = tools.run(
        code=3,
        do=[
            {
                "call_tool": [
                    tool("report_progress", message="halfway  there", percent=50, expect="noted"),
                    tool("list_runs", expect="no runs were started"),
                    tool(
                        "create_child_run",
                        workflow="small",
                        goal="be small",
                        save="child",
                        expect="started work-1.",
                        wait=True,
                    ),
                    tool(
                        "give_feedback", run="{child.run}", message="hurry up", expect="has already ended (succeeded)"
                    ),
                    tool("give_feedback", run="small-9", message="hurry up", expect="has not started a run 'small-9'"),
                    tool("create_child_run", workflow="smal", goal="x", expect="there is no workflow 'smal'"),
                    tool("mcp__handrail__list_runs", expect='succeeded, result {"made": "tiny thing"}'),
                    tool("ask_person", question="Red or blue?", expect="end your turn now"),
                ],
                "say": "I wait.",
            },
            {"expect_prompt": "blue, of course", "files": {"never.txt": "now"}, "say": "blue it is", "output": "blue"},
        ],
        tiny=[{"say": "small", "output": "tiny thing", "usage": {"cost": 0.25}}],
    )
    assert "▸ do  reports: halfway there (50 %)" in said
    assert "? do  needs you: Red or blue?" in said
    assert tools.calls() == [
        ("report_progress", True),
        ("list_runs", True),
        ("create_child_run", True),
        ("give_feedback", False),
        ("give_feedback", False),
        ("create_child_run", False),
        ("list_runs", True),
        ("ask_person", True),
    ]
    child = tools.called()[2].result
    assert isinstance(child, dict)
    started = next(event for event in tools.events(str(child["run"])) if isinstance(event, RunStarted))
    assert (started.parent is not None and started.parent.address, started.task) == ("do[child-1]", "be small")
    assert tools.state(str(child["run"])).tree != tools.state().tree
    ended = [event for event in tools.events() if isinstance(event, ChildEnded)]
    assert [(each.child, each.status) for each in ended] == [(child["run"], "succeeded")]
    assert tools.state().spent.usd == 0.25
    tools.handrail("answer", "work-1", "blue, of course")
    tools.until(lambda: tools.state().status == "succeeded")
    assert tools.state().names["done"] == "blue"
    assert len([event for event in tools.events() if isinstance(event, QuestionAsked)]) == 1
    tools.until(lambda: "background" not in tools.handrail("status"))


def test_a_driver_that_is_killed_between_calls_records_each_of_them_once(tools: ToolsRoom) -> None:
    tools.work("[report_progress, create_child_run]")
    names = ["one", "two", "three"]
    reports = [tool("report_progress", message=each, expect="noted") for each in names]
    starts = tool("create_child_run", workflow="small", goal="be small", expect="started")
    tools.begin(do=[{"call_tool": [*reports, starts], "output": "all of it"}], tiny={"output": "tiny thing"})
    for count in range(1, 5):
        tools.until(lambda count=count: len(tools.called()) >= count)
        tools.kill()
        tools.go_on()
    tools.until(lambda: tools.state().is_over)
    assert [each.arguments.get("message", each.tool) for each in tools.called()] == [*names, "create_child_run"]
    assert all(each.success for each in tools.called())
    assert (tools.state().status, tools.state().names["done"]) == ("succeeded", "all of it")
    tools.until(lambda: tools.state(f"{next(iter(tools.state().children))}").is_over)
    assert len(tools.state().children) == 1


@pytest.fixture
def at_work(tools: ToolsRoom) -> ToolsRoom:
    """A room in which the agent of the step `do` is at work until the room closes."""
    tools.work("[report_progress, create_child_run, give_feedback, list_runs]")
    tools.begin(do=[WAITS], tiny=[WAITS])
    tools.until(lambda: bool(tools.events()) and tools.state().pending is not None)
    return tools


def test_a_call_that_is_made_again_by_another_server_is_the_same_call(at_work: ToolsRoom) -> None:
    given = {"workflow": "small", "goal": "be small"}
    first, again = at_work.call("create_child_run", **given), at_work.call("create_child_run", **given)
    assert (first.good, again.data["run"]) == (True, first.data["run"])
    child = str(first.data["run"])
    assert at_work.calls() == [("create_child_run", True)]
    # A child is told what the agent of its parent says; nobody else's run is.
    assert at_work.call("give_feedback", run=child, message="hurry up").good
    at_work.until(lambda: any(isinstance(event, MessageGiven) for event in at_work.events(child)))
    told = [event.text for event in at_work.events(child) if isinstance(event, MessageGiven)]
    assert told == ["(from the agent of work-1, which started this run) hurry up"]
    assert at_work.call("report_progress", message="most of it").text == "noted"
    assert "RUNNING" in (shown := at_work.handrail("status").upper())
    assert "MOST OF IT" in shown or "TINY" in shown


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("ask_person", {"question": "Why?"}, "step 'do' does not offer ask_person"),
    ("report_progress", {"problem": "message is missing"}, "message is missing"),
    ("report_progress", {"message": "x" * 100_001}, "longer than 100000 characters"),
    ("create_child_run", {"workflow": "../evil/workflow.yaml", "goal": "x"}, "'../evil/workflow.yaml' is a file"),
    ("create_child_run", {"workflow": "evil", "goal": "x"}, "needs your trust before it runs"),
    ("create_child_run", {"workflow": "small", "goal": "x", "inputs": {"tusk": 1}}, "tusk"),
    ("give_feedback", {"run": "work-1", "message": "x"}, "work-1 has not started a run 'work-1'"),
]


def test_what_cannot_be_done_is_a_failed_call_and_never_a_silent_one(at_work: ToolsRoom) -> None:
    evil = at_work.repo / ".handrail" / "workflows" / "evil"
    evil.mkdir()
    (evil / "workflow.yaml").write_text("name: evil\ndescription: x\nsteps: [{name: a, command: touch /evil}]\n")
    for name, given, why in REFUSED:
        answer = at_work.call(name, **given)
        assert (answer.good, why in answer.text) == (False, True), answer.text
    assert at_work.calls() == [(name, False) for name, _, _ in REFUSED]
    assert [why in each.error for each, (_, _, why) in zip(at_work.called(), REFUSED, strict=True)] == [True] * 7
    foreign = (at_work.token("continue"), at_work.token(seq=1), "at_nothing", f"{at_work.token()}x")
    for token in foreign:
        answer = at_work.call("report_progress", token=token, message="it is me")
        assert not answer.good
    assert len(at_work.called()) == len(REFUSED)
    _require_bounds(at_work.state())
    old = at_work.token()
    (at_work.root / "go").touch()
    at_work.until(lambda: at_work.state().is_over)
    assert at_work.call("report_progress", token=old, message="late").text.startswith("step 'do' has ended")


def _require_bounds(state: RunState) -> None:
    """The runs that agents start are bounded: how many, how deep, and where they work."""
    assert refusal(state) == ""
    many: HashTrieMap[str, JsonValue] = HashTrieMap({f"work-1.{number}": None for number in range(MAX_CHILDREN)})
    assert "have started 20 runs" in refusal(replace(state, children=many))
    assert "3 generations below" in refusal(replace(state, generation=3))
    assert "needs its own worktree" in refusal(replace(state, tree=None))


def test_an_agent_that_takes_no_server_is_refused_where_a_step_asks_for_tools() -> None:
    call = AgentCall(
        run="", address="a", turn=1, prompt="", workspace="", server=ToolServer((), (), ("report_progress",))
    )
    assert unmet("gemini", GeminiAgent().can, call) == (
        "gemini: it cannot use the tools of Handrail (`handrail_tools`)",
    )
    assert unmet("scripted", ScriptedAgent().can, call) == ()


def test_tools_in_a_sandbox_are_refused_before_the_run_starts(tools: ToolsRoom) -> None:
    tools.work(sandbox="bwrap")
    said = tools.run(code=2, do=[{"say": "done"}])
    assert "step 'do': an agent in a sandbox cannot access the log" in said


FORMS = """\
name: case
description: a case
defaults: {handrail_tools: [report_progress]}
steps:
  - {name: one, prompt: Do it.}
  - {name: two, prompt: Do it., handrail_tools: true}
  - {name: three, prompt: Do it., handrail_tools: false}
  - name: four
    type: agent-loop
    handrail_tools: [list_runs]
    reviewer: Review it.
    arbiter: {prompt: Judge it., handrail_tools: [ask_person]}
    fixer: Fix it.
    max_iterations: 2
"""


def test_reviewers_and_arbiters_have_tools_only_where_their_role_says_so() -> None:
    compiled, _, _ = compile_text(FORMS)
    assert compiled.plan is not None
    actions = [step.action for step in compiled.plan.steps]
    plain = [action.task.handrail_tools for action in actions if isinstance(action, AgentAction)]
    assert plain == [
        ("report_progress",),
        ("report_progress", "ask_person", "create_child_run", "give_feedback", "list_runs"),
        (),
    ]
    loop = next(action for action in actions if isinstance(action, AgentLoopAction))
    assert loop.arbiter is not None
    assert loop.fixer is not None
    assert loop.reviewer.handrail_tools == ()
    assert loop.arbiter.handrail_tools == ("ask_person",)
    assert loop.fixer.handrail_tools == ("list_runs",)
