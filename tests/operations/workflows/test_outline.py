"""Outlines fold what routines put in, at every depth."""

from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import AgentAction, CallAction, GroupAction, LoopAction, Times
from handrail.model.workflow.plan import Injected, Plan, Step
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import Constant, Prompt
from handrail.operations.workflows.outline import outline


def agent(name: str, injected: Injected | None = None) -> Step:
    return Step(name=name, action=AgentAction(AgentTask(prompt=Prompt(name), agent="claude")), injected=injected)


BY = Injected("routine.x", "caller", "called by step 'caller'")
OTHER = Injected("routine.x", "again", "called by step 'again'")
GROUP = Step(name="group", action=GroupAction("routine.y", (), (agent("g1"), agent("g2"))))
LOOP = Step(
    name="loop", action=LoopAction(over=Times(Constant(2)), max_iterations=2, steps=(agent("l1", BY), agent("l2")))
)
PLAN = Plan(name="p", steps=(agent("a"), agent("b", BY), agent("c", BY), agent("d", OTHER), GROUP, LOOP))
NAMES = {"b": {"task": "string"}, "loop/l2": {"round": "int"}}


def test_neighbours_put_in_by_one_call_are_one_step() -> None:
    shown = outline(PLAN, NAMES)
    assert [(step.name, step.kind, step.hidden) for step in shown] == [
        ("a", "agent", 0),
        ("caller", "use", 2),
        ("again", "use", 1),
        ("group", "use", 2),
        ("loop", "loop", 0),
    ]
    assert shown[1].names == {"task": "string"}
    assert [(step.address, step.hidden) for step in shown[4].steps] == [("loop/caller", 1), ("loop/l2", 0)]


def test_expanded_every_step_is_there_with_where_it_came_from() -> None:
    shown = outline(PLAN, NAMES, expand=True)
    assert [step.name for step in shown] == ["a", "b", "c", "d", "group", "loop"]
    assert [step.injected for step in shown[:4]] == [None, BY, BY, OTHER]
    assert [step.address for step in shown[4].steps] == ["group/g1", "group/g2"]
    assert shown[5].steps[1].names == {"round": "int"}


def test_parts_of_a_step_do_not_reach_into_the_steps_inside_it() -> None:
    assert list(parts(LOOP.action, Prompt)) == []
    assert [prompt.text for prompt in parts(agent("a").action, Prompt)] == ["a"]


def test_every_step_has_its_address() -> None:
    addresses = [address for address, _ in walk_steps(PLAN.steps)]
    assert addresses[-5:] == ["group/g1", "group/g2", "loop", "loop/l1", "loop/l2"]


def test_a_called_workflow_is_named() -> None:
    (shown,) = outline(Plan(name="p", steps=(Step(name="x", action=CallAction("other")),)), {})
    assert (shown.says, shown.names) == ("other", {})
