import json
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.authoring.importers import ImportedWorkflows, detect, import_files
from handrail.authoring.importers.workrail.keys import STEP_KEYS
from handrail.authoring.importers.workrail.workflow import CARRIED
from handrail.model.workflow.values import JsonValue
from support.authoring.workrail_sources import Steps
from support.places import WORKRAIL

DATA = WORKRAIL
FILES = sorted(DATA.rglob("*.json")) if DATA.is_dir() else []
needs_data = pytest.mark.skipif(not FILES, reason="the WorkRail files are not there")


def _steps_of(value: JsonValue) -> Steps:
    found: Steps = []
    for step in value if isinstance(value, list) else []:
        if isinstance(step, dict):
            found += [step, *_steps_of(step.get("body"))]
    return found


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_every_file_compiles_after_its_import(path: Path, problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_files({path.name: path.read_text("utf-8")})
    assert imported.kind == "workrail"
    assert problems(imported) == []


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_every_key_is_carried_over_or_named(path: Path) -> None:
    text = path.read_text("utf-8")
    root = json.loads(text)
    messages = " ".join(note.message for note in import_files({path.name: text}).notes)
    keys = {key for key in root if key not in CARRIED}
    keys |= {key for step in _steps_of(root["steps"]) for key in step if key not in STEP_KEYS}
    assert [key for key in sorted(keys) if f"'{key}'" not in messages] == []


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_every_prompt_text_is_still_there(path: Path) -> None:
    text = path.read_text("utf-8")
    prompts = "".join(import_files({path.name: text}).files.values())
    for step in _steps_of(json.loads(text)["steps"]):
        prompt = step.get("prompt")
        if isinstance(prompt, str) and "{{" not in prompt and "{%" not in prompt:
            assert prompt in prompts


def test_a_workflow_is_recognised_by_its_steps() -> None:
    assert detect({"a.json": '{"steps": [{"id": "x"}]}'}) == "workrail"
    assert detect({"a.json": '{"steps": []}'}) is None
    assert detect({"a.json": "[1]"}) is None
