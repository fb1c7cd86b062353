"""Builds small WorkRail-style workflows for the tests and compiles them with the real library."""

import json
from collections.abc import Mapping as Map
from dataclasses import dataclass
from functools import cache
from typing import Any

from handrail.authoring.readers.json_reader import read_json
from handrail.compiler.builtins import Builtins
from handrail.compiler.catalog import Catalog
from handrail.compiler.outcome import StepPositions
from handrail.compiler.workrail.lower import lower_workrail
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.source import Bundle, Document, Mapping, SourceText
from handrail.model.workflow.guidance import DelegateAction, GuidedAction, GuidedLoopAction, GuidedWorkflow
from handrail.model.workflow.plan import Plan, Step
from support.compiler.named_workflows import NamedWorkflows
from support.places import ROOT

LIBRARY = ROOT / "src" / "handrail" / "library"
DATA = ROOT.parent / "shared" / "data" / "workrail-3.29"

Json = dict[str, Any]


@cache
def builtins() -> Builtins:
    paths = [path for path in LIBRARY.rglob("*") if path.suffix in {".json", ".md"}]
    return Builtins(
        {
            path.relative_to(LIBRARY).as_posix(): SourceText(path.name, path.read_text(encoding="utf-8"))
            for path in paths
        }
    )


def document(text: str, path: str = "workflow.json") -> Document:
    source, report = SourceText(path, text), Report()
    root = read_json(source, report)
    assert isinstance(root, Mapping), [found.message for found in report]
    return Document("json", "workrail", root, Bundle(path, {path: source}))


def catalog(own: Map[str, Json] | None = None, bindings: str | None = None) -> Catalog:
    """The library, with workflows and a bindings file of the project."""
    found = {name: document(json.dumps(data, indent=2), f"{name}.json") for name, data in (own or {}).items()}
    source = SourceText("bindings.json", bindings) if bindings is not None else None
    return Catalog(builtins(), source, NamedWorkflows(found.get))


@dataclass
class Result:
    plan: Plan | None
    report: Report
    places: StepPositions

    @property
    def made(self) -> Plan:
        assert self.plan is not None, [found.message for found in self.report]
        return self.plan

    @property
    def guided(self) -> GuidedWorkflow:
        assert self.made.guided is not None
        return self.made.guided

    @property
    def codes(self) -> list[str]:
        return [found.code for found in self.report]

    @property
    def only(self) -> Diagnostic:
        assert len(self.report.diagnostics) == 1, [found.message for found in self.report]
        return self.report.diagnostics[0]

    def step(self, index: int = 0) -> Step:
        return self.made.steps[index]

    def action(self, index: int = 0) -> GuidedAction:
        action = self.step(index).action
        assert isinstance(action, GuidedAction)
        return action

    def loop(self, index: int = 0) -> GuidedLoopAction:
        action = self.step(index).action
        assert isinstance(action, GuidedLoopAction)
        return action

    def delegate(self, index: int = 0) -> DelegateAction:
        action = self.step(index).action
        assert isinstance(action, DelegateAction)
        return action


def compile_text(text: str, using: Catalog | None = None) -> Result:
    report, places = Report(), StepPositions()
    plan = lower_workrail(document(text), using or catalog(), report, places)
    return Result(plan, report, places)


def compiled(*steps: Json, using: Catalog | None = None, **keys: Any) -> Result:
    """Compile a workflow of these steps, with these keys beside them."""
    return compile_text(json.dumps(workflow(*steps, **keys), indent=2), using)


def workflow(*steps: Json, **keys: Any) -> Json:
    basis: Json = {"id": "sample-flow", "name": "Sample", "description": "A sample.", "version": "1.0.0"}
    return {**basis, **keys, "steps": list(steps or (step(),))}


def step(name: str = "first-step", **keys: Any) -> Json:
    basis: Json = {"id": name, "title": f"Title of {name}"}
    if not {"promptBlocks", "templateCall", "prompt"} & set(keys):
        basis["prompt"] = "Do it."
    return {**basis, **keys}


def loop(name: str = "the-loop", body: Any = None, **keys: Any) -> Json:
    """A loop step; keys that are not those of a step go into `loop`."""
    config = {"type": "while", "maxIterations": 3, **keys}
    return {"id": name, "type": "loop", "title": "Again", "loop": config, "body": body or [step("inner-step")]}


def routine(name: str, *steps: Json, **keys: Any) -> Json:
    return {**workflow(*steps, **keys), "id": f"routine-{name}"}


def marked(found: Diagnostic) -> str:
    """The text a diagnostic points at."""
    return found.text[found.column - 1 : found.end_column - 1]
