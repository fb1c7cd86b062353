"""Walks guided workflows through the pure engine, with an outside performer that is a function."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.engine.contracts.example import minimal_example
from handrail.engine.decide.advance import advance
from handrail.engine.decide.complete_guided import Completion, Submission, complete_guided
from handrail.engine.guided.texts import confirmation_example
from handrail.model.history.events import RunStarted, RunTaken, Shortfall, StepBegan, StepRefused
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from support.compiler.native_case import compile_text, shown
from support.engine.walking import Walk

Json = dict[str, Any]
Shortfalls = tuple[Shortfall, ...]
GuidedPerformer = Callable[[StepBegan, Shortfalls], Submission]


def guided_plan(*steps: Json, **keys: Any) -> Plan:
    """Compile a workflow of these steps."""
    basis: Json = {"id": "sample-flow", "name": "Sample", "description": "A sample.", "version": "1.0.0"}
    return plan_of_json(json.dumps({**basis, **keys, "steps": list(steps)}))


def plan_of_json(text: str) -> Plan:
    """Compile a workflow in WorkRail's form."""
    compiled, _, _ = compile_text(text, main="workflow.json")
    assert compiled.plan is not None, shown(compiled.diagnostics)
    return compiled.plan


def step(name: str, **keys: Any) -> Json:
    """One step; its prompt is short unless given."""
    return {"id": name, "title": f"Title of {name}", "prompt": "Do it.", **keys}


def loop(name: str, *body: Json, **keys: Any) -> Json:
    """A loop; the keys go into `loop`, but for the condition `when`."""
    when = keys.pop("when", None)
    made: Json = {
        "id": name,
        "type": "loop",
        "title": "Again",
        "loop": {"maxIterations": 5, **keys},
        "body": list(body),
    }
    return {**made, "runCondition": when} if when is not None else made


def var(name: str, **operator: Any) -> Json:
    """A condition on a variable."""
    return {"var": name, **operator}


def control(decision: str, **keys: Any) -> JsonValue:
    """An artifact that decides a loop."""
    return {"kind": "wr.loop_control", "decision": decision, **keys}


CONTROL: Json = {"outputContract": {"contractRef": "wr.contracts.loop_control"}}
BY_ARTIFACT: Json = {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"}


def valid(began: StepBegan, shortfalls: Shortfalls = (), context: Mapping[str, JsonValue] | None = None) -> Submission:
    """Give what a step asks for, whatever it is; a list for each variable that was found missing."""
    spec: Any = began.spec
    artifacts: list[JsonValue] = [best(each) for each in spec.get("assessments", [])]
    if "contract" in spec:
        artifacts.append(minimal_example(spec["contract"]["schema"]))
    if spec.get("confirmation") or any(each.code == "not_confirmed" for each in shortfalls):
        artifacts.append(confirmation_example())
    sent = dict(context or {})
    for each in shortfalls:
        if each.code == "missing_context":
            sent[each.about] = 2 if "number of rounds" in each.message else [{"id": "a"}, {"id": "b"}]
    lines: list[str] = spec.get("criteria", [])
    asked = [line.removeprefix("must contain: ") for line in lines if line.startswith("must contain: ")]
    least = [int(found[1]) for line in lines if (found := re.search(r"at least (\d+)", line))]
    notes = "\n".join([f"Did {began.address}.", *asked]).ljust(max(least, default=0), ".")
    return Submission(by="me", notes=notes, artifacts=tuple(artifacts), context=sent)


def best(assessment: Any) -> JsonValue:
    """The last level of every dimension, which is the best one by convention."""
    dimensions: Json = {}
    for each in assessment["dimensions"]:
        dimensions[each["id"]] = {"level": each["levels"][-1], "rationale": "seen"}
    return {"kind": "wr.assessment", "assessmentId": assessment["id"], "dimensions": dimensions}


def always(given: Submission) -> GuidedPerformer:
    """Give the same for every step."""

    def perform(_: StepBegan, __: Shortfalls) -> Submission:
        return given

    return perform


def scripted(given: Mapping[str, Json]) -> GuidedPerformer:
    """Give valid work, with what is written for a step: by its address, or by its name."""

    def perform(began: StepBegan, shortfalls: Shortfalls) -> Submission:
        name = began.address.rpartition("/")[2]
        extra = given.get(began.address, given.get(name, {}))
        usual = valid(began, shortfalls, extra.get("context"))
        artifacts = tuple(extra["artifacts"]) if "artifacts" in extra else usual.artifacts
        return Submission(by="me", notes=extra.get("notes", usual.notes), artifacts=artifacts, context=usual.context)

    return perform


@dataclass
class GuidedWalk(Walk):
    """One run that is held from outside."""

    work: GuidedPerformer = valid
    goal: str = "the goal"
    completions: list[Completion] = field(default_factory=list[Completion])

    def start(self) -> "GuidedWalk":
        self.start_alone()
        self.record(RunTaken(by="me", at=self.now))
        return self

    def start_alone(self) -> "GuidedWalk":
        """Begin the run; the engine drives it."""
        started = RunStarted(
            run="r-1",
            workflow=self.plan.name,
            definition="sha256:0",
            plan="p",
            inputs=self.inputs,
            workspace="/w",
            task=self.goal,
            at=self.now,
        )
        self.record(started)
        return self

    def outside(self) -> bool:
        pending = self.state.pending
        if pending is None or self.state.status != "running":
            return False
        self.now += 1
        last = self.events[pending.seq - 1]
        shortfalls = last.shortfalls if isinstance(last, StepRefused) else ()
        self.give(self.work(self.began(), shortfalls))
        return True

    def settle(self) -> "GuidedWalk":
        """Decide until the outside is needed."""
        self.record(*advance(self.plan, self.state, self.now, self.blobs.__getitem__).events)
        return self

    def once(self) -> Completion:
        """Let the performer act once; give what came of it."""
        self.settle().outside()
        return self.completions[-1]

    def began(self) -> StepBegan:
        """The event that made the pending step pending."""
        assert self.state.pending is not None
        event = self.events[self.state.steps[self.state.pending.address].began - 1]
        assert isinstance(event, StepBegan)
        return event

    def give(self, given: Submission) -> Completion:
        """Complete the pending step."""
        assert self.state.pending is not None
        done = complete_guided(self.plan, self.state, self.state.pending.seq, given, self.now)
        self.record(*done.events)
        self.completions.append(done)
        return done

    @property
    def spec(self) -> Any:
        """What the performer of the pending step is told."""
        return self.began().spec

    @property
    def performed(self) -> list[str]:
        """Addresses of the steps that were begun, in their order."""
        return [event.address for event in self.events if isinstance(event, StepBegan)]


def walked(plan: Plan, given: Mapping[str, Json] | None = None, **inputs: JsonValue) -> GuidedWalk:
    """Walk a plan to where it ends, giving what is written for each step."""
    walk = GuidedWalk(plan, inputs=dict(inputs), work=scripted(given or {}))
    walk.start().go()
    return walk
