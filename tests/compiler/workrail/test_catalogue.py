"""WorkRail's own workflows compile as they are; skipped where the catalogue is not at hand."""

import json
import random
from pathlib import Path
from typing import Any, cast

import pytest

from handrail.compiler.workrail.visit import walk_steps
from handrail.model.codec import decode, encode
from handrail.model.diagnostics import Severity
from handrail.model.workflow.actions import body
from handrail.model.workflow.plan import Plan, Step
from support.compiler.workrail_building import DATA, LIBRARY, Result, compile_text

INVALID = "dashboard-template-workflow.json"
FILES = sorted(path for path in DATA.rglob("*.json") if path.name != INVALID)
ROUTINES = sorted(LIBRARY.glob("routines/*.json"))

needs_catalogue = pytest.mark.skipif(not FILES, reason=f"WorkRail's catalogue is not at {DATA}")
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DATA).as_posix())


def compiled_file(path: Path) -> Result:
    return compile_text(path.read_text(encoding="utf-8"))


def all_steps(steps: tuple[Step, ...]) -> list[Step]:
    return [found for step in steps for found in (step, *all_steps(body(step.action)))]


@needs_catalogue
def test_the_whole_catalogue_is_there() -> None:
    assert len(FILES) == 42


@needs_catalogue
@each_file
def test_a_file_of_the_catalogue_compiles_without_an_error(path: Path) -> None:
    result = compiled_file(path)
    assert [found.message for found in result.report if found.severity is Severity.ERROR] == []
    assert result.plan is not None


@needs_catalogue
def test_the_catalogue_gives_rise_to_few_warnings() -> None:
    found = {(path.name, each.code) for path in FILES for each in compiled_file(path).report}
    assert found == {
        ("coding-task-workflow-agentic.lean.v2.json", "no-effect"),
        ("cross-platform-code-conversion.v2.json", "no-effect"),
        ("wr.discovery.json", "no-effect"),
        ("simple-batch.json", "odd-variable"),
    }


@needs_catalogue
@each_file
def test_a_plan_of_the_catalogue_comes_back_from_its_data(path: Path) -> None:
    plan = compiled_file(path).made
    assert decode(Plan, json.loads(json.dumps(encode(plan)))) == plan


@needs_catalogue
@each_file
def test_compiling_twice_gives_the_same_plan_and_the_same_words(path: Path) -> None:
    one, other = compiled_file(path), compiled_file(path)
    assert (one.plan, one.report.diagnostics) == (other.plan, other.report.diagnostics)


@needs_catalogue
@each_file
def test_the_order_of_keys_changes_nothing_but_required_outputs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    mixed = json.dumps(shuffled(json.loads(text), random.Random(path.name)))
    assert json.dumps(encode(compile_text(mixed).made), sort_keys=True) == json.dumps(
        encode(compile_text(text).made), sort_keys=True
    )


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(item, chance) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    entries = list(cast("dict[str, Any]", value).items())
    chance.shuffle(entries)
    return {name: item if name == "outputRequired" else shuffled(item, chance) for name, item in entries}


@needs_catalogue
@each_file
def test_every_step_of_a_file_arrives_in_the_plan_and_has_a_place(path: Path) -> None:
    result = compiled_file(path)
    plan_names = [step.name for step in all_steps(result.made.steps)]
    assert len(set(plan_names)) == len(plan_names)
    written = json.loads(path.read_text(encoding="utf-8"))["steps"]
    top = [step["id"] for step in written if "templateCall" not in step]
    assert set(top) <= set(plan_names)
    for step in result.made.steps:
        assert result.places.find(step.name) is not None


@needs_catalogue
def test_the_only_invalid_file_of_the_catalogue_is_refused() -> None:
    path = next(DATA.rglob(INVALID))
    result = compiled_file(path)
    assert result.plan is None
    assert {found.code for found in result.report} == {"unknown-key", "wrong-type"}


@needs_catalogue
def test_a_call_in_the_catalogue_gives_the_steps_of_the_librarys_routine() -> None:
    result = compiled_file(DATA / "examples" / "routine-injection-example.json")
    routine = json.loads((LIBRARY / "routines" / "tension-driven-design.json").read_text(encoding="utf-8"))
    names = [step.name for step in result.made.steps]
    assert names == ["phase-0-gather", *(f"phase-1-design.{step['id']}" for step in routine["steps"]), names[-1]]


@needs_catalogue
def test_a_named_body_in_the_catalogue_stands_in_its_loop() -> None:
    result = compiled_file(DATA / "examples" / "loops" / "simple-polling.json")
    assert [step.name for step in result.made.steps] == ["setup", "polling-loop", "handle-result"]
    assert [step.name for step in result.loop(1).steps] == ["check-status"]


@pytest.mark.parametrize("path", ROUTINES, ids=lambda path: path.stem)
def test_a_routine_of_the_library_is_a_workflow_of_its_own(path: Path) -> None:
    result = compiled_file(path)
    assert [found.message for found in result.report if found.is_error] == []
    assert result.made.name in {f"routine-{path.stem}", f"wr.routine-{path.stem}"}


def test_walking_gives_each_loop_before_its_body() -> None:
    from support.compiler.workrail_building import document, loop, step, workflow

    nested = workflow(loop("outer-loop", [loop("inner-loop", [step("deep-step")])]), step("last-step"))
    root = document(json.dumps(nested)).root
    ids = [each.entries["id"].value for each in walk_steps(root)]
    assert [getattr(each, "value", None) for each in ids] == ["outer-loop", "inner-loop", "deep-step", "last-step"]
