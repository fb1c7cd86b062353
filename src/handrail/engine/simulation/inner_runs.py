"""Explores runs inside a run: the items of a fan-out, and called workflows, each separately."""

import json
from collections.abc import Callable
from dataclasses import field, replace
from typing import TypeAlias, cast

from handrail.engine.composite.fan_out import item_plan, result_of
from handrail.engine.fold.apply import apply
from handrail.engine.simulation.deciding_values import deciders_of_outputs
from handrail.engine.simulation.endings import end_step
from handrail.engine.simulation.world import Choice, Observations, Outcome, World, variables_of
from handrail.engine.state.codec import step_rows
from handrail.engine.state.position import enclosing_step, find_current_step
from handrail.engine.state.scope import names_inside, value_of
from handrail.frozen import frozen
from handrail.model.history.events import ItemEnded, RunStarted
from handrail.model.history.run_state import RunState, WorkState
from handrail.model.workflow.actions import CallAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue

MAX_OUTCOMES = 6
MAX_DEPTH = 3

Explore: TypeAlias = Callable[[World, RunState], tuple[list[Outcome], Observations]]


@frozen
class InnerRunExplorer:
    """Explores runs inside a run, each kind of them once."""

    explore: Explore
    known: dict[str, list[Outcome]] = field(default_factory=dict[str, list[Outcome]])

    def item(self, world: World, state: RunState, place: str, facts: Observations) -> list[Choice]:
        """List how the first item in progress may end."""
        work, step = cast("WorkState", state.stack[-1].work), enclosing_step(world.plan, state)
        data = work.data
        results = cast("dict[str, JsonValue]", data["results"])
        key = next((each for each in cast("dict[str, str]", data["started"]) if each not in results), None)
        if key is None or step is None:
            return []
        item = cast("list[JsonValue]", data["items"])[cast("list[str]", data["keys"]).index(key)]
        plan = item_plan(world.plan, step)
        outcomes = self._explore_item(
            replace(world, plan=plan, prefix=f"{place}/", known={}), _start_item_run(state, item), facts
        )
        return [
            Choice(
                f"item {key} {each.says}",
                (ItemEnded(address=work.address, key=key, result=_result(key, item, each), at=0.0),),
                place,
            )
            for each in {each.status: each for each in reversed(outcomes)}.values()
        ]

    def _explore_item(self, world: World, started: tuple[RunStarted, bytes], facts: Observations) -> list[Outcome]:
        event, scope = started
        mark = json.dumps([world.prefix, scope.decode(), event.inputs], default=str)
        if mark not in self.known:
            self.known[mark] = []
            first = apply(None, event, 1, lambda _: scope)
            self.known[mark], seen = self.explore(world, first)
            _merge_facts(facts, seen)
        return self.known[mark]

    def child(self, world: World, state: RunState, place: str, facts: Observations) -> list[Choice]:
        """List how a called workflow may end."""
        step, _ = find_current_step(world.plan, state)
        name = step.action.workflow if isinstance(step.action, CallAction) else ""
        plan = world.called.get(name)
        if plan is None or name in world.calls or len(world.calls) >= MAX_DEPTH:
            facts.unexplored.setdefault(place, f"the workflow '{name}' cannot be analysed")
            outcomes = [Outcome("succeeded", {}, "done"), Outcome("failed", {}, "fails")]
        else:
            asked = deciders_of_outputs(world.reading, step)
            own = replace(world, plan=plan, prefix="", calls=(*world.calls, name), asked=asked, known={})
            outcomes = self._explore_call(own, _inputs(world, state, plan), place)
        return [
            Choice(each.says, (end_step(state, ok=each.status == "succeeded", output=each.output),), place)
            for each in outcomes[:MAX_OUTCOMES]
        ]

    def _explore_call(self, world: World, inputs: dict[str, JsonValue], place: str) -> list[Outcome]:
        mark = json.dumps([place, world.calls, inputs])
        if mark not in self.known:
            started = _start_called_run(world.plan, inputs)
            self.known[mark], _ = self.explore(world, apply(None, started, 1, lambda _: b""))
        return self.known[mark]


def _start_called_run(plan: Plan, inputs: dict[str, JsonValue]) -> RunStarted:
    return RunStarted(
        run="simulated",
        workflow=plan.name,
        definition="",
        plan="",
        inputs=inputs,
        workspace="",
        checks={"project": "the project's checks"},
        task="the task",
        env=variables_of(plan),
        at=0.0,
    )


def _start_item_run(state: RunState, item: JsonValue) -> tuple[RunStarted, bytes]:
    """Build the start of an item's run, which sees the names and steps of the run around it."""
    work = cast("WorkState", state.stack[-1].work)
    names = names_inside(state, {str(work.data["item"]): item})
    seen = {"names": names, "latest": dict(state.latest.items()), "steps": step_rows(state)}
    scope = json.dumps({**seen, "previous": state.previous}).encode()
    started = RunStarted(
        run="simulated",
        workflow=state.workflow,
        definition="",
        plan="",
        inputs=state.inputs,
        workspace="",
        checks=state.checks,
        project=state.project,
        task=state.task,
        env=state.env,
        scope="scope",
        at=0.0,
    )
    return started, scope


def _inputs(world: World, state: RunState, plan: Plan) -> dict[str, JsonValue]:
    step, _ = find_current_step(world.plan, state)
    given = {each.name: value_of(each.value, state) for each in step.input}
    defaults: dict[str, JsonValue] = {each.name: each.default for each in plan.inputs if not each.required}
    return {**defaults, **given}


def _result(key: str, item: JsonValue, outcome: Outcome) -> dict[str, JsonValue]:
    good = outcome.status == "succeeded"
    error = "" if good else "it failed"
    return result_of(key, item, outcome.status, branch=f"work-{key}", commit=key, output=outcome.output, error=error)


def _merge_facts(facts: Observations, more: Observations) -> None:
    """Add the facts that were seen inside; the paths there begin with the item."""
    for name in ("begun", "skipped", "at_limit", "undefined", "doomed", "stuck", "unexplored", "approvals"):
        known = getattr(facts, name)
        for place, path in getattr(more, name).items():
            known.setdefault(place, path)
    facts.passed_over |= more.passed_over
    facts.rounds |= more.rounds
    facts.left_early |= more.left_early
