"""Every published workflow, imported to native YAML, is walked through the tools to the same steps as the original.

Here a spread of them is walked; HANDRAIL_SOAK=1 walks all, in more ways. In every second way variables change from
round to round of a loop, as they do when an agent makes progress.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from handrail.authoring.importers import ImportedWorkflows, import_files
from handrail.frozen import frozen
from support.places import WORKRAIL
from support.pull.found_values import FoundValues
from support.pull.imported_walk import tree_of, walk_import, walk_original, write_import
from support.pull.room import Json, Pull

FILES = {path.relative_to(WORKRAIL).as_posix(): path for path in sorted(WORKRAIL.rglob("*.json"))}
ALL = bool(os.environ.get("HANDRAIL_SOAK"))
WAYS = "abcdefghi" if ALL else "ab"
LEAST_THAT_AGREE = 30
SPREAD = (
    "adaptive-ticket-creation.json",
    "bug-investigation.agentic.v2.json",
    "examples/loops/simple-batch.json",
    "examples/loops/simple-polling.json",
    "examples/loops/simple-retry.json",
    "examples/loops/simple-search.json",
    "examples/routine-injection-example.json",
    "intelligent-test-case-generation.json",
    "mr-review-workflow.agentic.v2.json",
    "personal-learning-materials-creation-branched.json",
    "routines/hypothesis-challenge.json",
    "scoped-documentation-workflow.json",
    "test-artifact-loop-control.json",
)
"""Each has something that none of the others has: branches, assessments, every kind of loop, routines, criteria."""


@frozen
class Difference:
    """Why the steps of an import may differ, and what the importer says of it."""

    reason: str
    note: str


RUN_ONCE = "steps run once, in order; WorkRail starts over from the top"
NAMED_FIRST = "a variable has the value from the step that sets it first"
DIFFERENT = {
    "coding-task-workflow-agentic.json": Difference(
        "a loop changes a variable, and WorkRail goes back to a step that it had skipped", RUN_ONCE
    ),
    "coding-task-workflow-agentic.lean.v2.json": Difference(
        "a slice sets again what an earlier step had named, and the rest of the round reads it", NAMED_FIRST
    ),
    "cross-platform-code-conversion.v2.json": Difference(
        "the last loop changes a variable, and WorkRail goes back to the design that it had skipped", RUN_ONCE
    ),
    "examples/dashboard-template-workflow.json": Difference(
        "the original is refused, so that there is nothing to compare with", "not valid in WorkRail either"
    ),
}

needs_catalogue = pytest.mark.skipif(not FILES, reason=f"WorkRail's catalogue is not at {WORKRAIL}")


def imported(path: Path) -> ImportedWorkflows:
    return import_files({path.name: path.read_text("utf-8")})


def walks(pull: Pull, path: Path, ways: str) -> list[tuple[list[str], list[str]]]:
    """Walk a workflow and its import in several ways; give what each visited."""
    raw: Json = json.loads(path.read_text("utf-8"))
    native = Pull(pull.folder / "native")
    shutil.copy(path, pull.home / "workflows" / path.name)
    made = imported(path)
    name, inputs = write_import(native, made), list(tree_of(made)["input"])
    try:
        found: list[tuple[list[str], list[str]]] = []
        for number, way in enumerate(ways):
            values = FoundValues(raw, way, changes=number % 2 == 1)
            found.append((walk_original(pull, raw["id"], values, inputs), walk_import(native, name, values, inputs)))
        native.assert_sound()
        return found
    finally:
        native.close()


@needs_catalogue
@pytest.mark.parametrize("name", [name for name in FILES if name not in DIFFERENT and (ALL or name in SPREAD)])
def test_an_import_visits_the_steps_of_its_original(name: str, pull: Pull) -> None:
    for original, native in walks(pull, FILES[name], WAYS):
        assert native == original
        assert original


@needs_catalogue
@pytest.mark.skipif(not ALL, reason="HANDRAIL_SOAK=1 walks them")
@pytest.mark.parametrize("name", [name for name in DIFFERENT if name in FILES and "dashboard" not in name])
def test_an_import_that_is_said_to_differ_does_so_only_where_values_change(name: str, pull: Pull) -> None:
    same = [original == native for original, native in walks(pull, FILES[name], WAYS)]
    assert all(same[::2])
    assert not all(same[1::2])


@needs_catalogue
def test_an_original_that_is_refused_is_the_only_one(pull: Pull) -> None:
    path = FILES["examples/dashboard-template-workflow.json"]
    shutil.copy(path, pull.home / "workflows" / path.name)
    assert pull.start(json.loads(path.read_text("utf-8"))["id"]).is_error


@needs_catalogue
@pytest.mark.parametrize("name", DIFFERENT)
def test_the_importer_says_why_the_steps_may_differ(name: str) -> None:
    assert any(DIFFERENT[name].note in note.message for note in imported(FILES[name]).notes)


@needs_catalogue
def test_most_imports_visit_the_same_steps() -> None:
    assert len(FILES.keys() - DIFFERENT.keys()) >= LEAST_THAT_AGREE


@needs_catalogue
@pytest.mark.parametrize("name", FILES)
def test_assessments_references_and_rules_survive_the_import(name: str) -> None:
    raw: Json = json.loads(FILES[name].read_text("utf-8"))
    made = imported(FILES[name])
    native = tree_of(made)
    assert sorted(native.get("assessments", {})) == sorted(each["id"] for each in raw.get("assessments", []))
    assert [each["id"] for each in native.get("references", [])] == [each["id"] for each in raw.get("references", [])]
    for old, new in (("metaGuidance", "guidance"), ("features", "features"), ("capabilities", "capabilities")):
        assert native.get(new) == raw.get(old)
