import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.authoring.importers import ImportedWorkflows, detect, import_files
from handrail.authoring.importers.result import SourceKind
from handrail.errors import UsageError

PATHS = st.sampled_from(
    [
        "workflow.ts",
        "prompts/10-a.md",
        "grimoires/a.yaml",
        "spells/a.md",
        "a.json",
        "../x.json",
        "versions/versions.json",
    ]
)
KINDS: st.SearchStrategy[SourceKind] = st.sampled_from(["workrail", "coven", "cyrus"])
WORDS = st.sampled_from(
    [
        "loop",
        "while",
        "agent",
        "script",
        "merge",
        "spell",
        "a",
        "one",
        "{{.a}}",
        "{{a}}",
        "x\ny",
        "",
        "wr.bindings.a",
        "ü",
    ]
)
VALUES = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(-5, 2000) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["var", "equals", "and", "or", "not", "type", "id", "condition", "text"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
STEP_KEYS = st.sampled_from(
    [
        *("id", "title", "type", "prompt", "promptBlocks", "promptFragments", "agentRole", "guidance", "loop", "body"),
        *("requireConfirmation", "runCondition", "outputContract", "assessmentRefs", "assessmentConsequences"),
        *("validationCriteria", "templateCall", "functionReferences", "verification", "parallelDelegations"),
        *("synthesis", "name", "spell", "command", "when", "input", "output", "on_fail", "on_success", "timeout"),
        *("steps", "max_iterations", "require_review"),
    ]
)
STEPS = st.lists(st.dictionaries(STEP_KEYS, VALUES, max_size=7), max_size=4)


def _attempt(files: dict[str, str], kind: SourceKind | None = None) -> ImportedWorkflows | None:
    try:
        return import_files(files, kind)
    except UsageError:
        return None


@given(st.dictionaries(PATHS, st.text(max_size=60), max_size=4), KINDS | st.none())
def test_no_text_crashes_an_import(files: dict[str, str], kind: SourceKind | None) -> None:
    imported = _attempt(files, kind)
    assert imported is None or kind in (None, imported.kind)
    assert imported is None or any(path.endswith("/workflow.yaml") for path in imported.files)


@given(
    STEPS, st.dictionaries(st.sampled_from(["name", "assessments", "references", "extensionPoints", "about"]), VALUES)
)
def test_no_json_crashes_the_import(steps: list[dict[str, object]], more: dict[str, object]) -> None:
    root = {"id": "one", **more, "steps": [{"id": "first", "prompt": "Set a."}, *steps]}
    imported = _attempt({"one.json": json.dumps(root)})
    assert imported is not None
    assert imported.notes


@given(STEPS)
def test_no_yaml_crashes_the_import(steps: list[dict[str, object]]) -> None:
    files = {"grimoires/one.yaml": json.dumps({"name": "one", "steps": steps}), "spells/a.md": "{{.a}} {{if .b}}"}
    imported = _attempt({**files, "grimoires/two.yaml": "name: two\nsteps: [{name: a, type: script, command: ls}]\n"})
    assert imported is not None
    assert "two/workflow.yaml" in imported.files
    lost = [note for note in imported.notes if (note.severity, note.file) == ("lost", "grimoires/one.yaml")]
    assert "one/workflow.yaml" in imported.files or lost


@pytest.mark.parametrize(
    "files",
    [{}, {"a.txt": "hello"}, {"a.json": "{"}, {"a.yaml": "a: b"}, {"README.md": "# x"}],
)
def test_files_of_no_known_kind_are_refused_with_what_is_understood(files: dict[str, str]) -> None:
    assert detect(files) is None
    with pytest.raises(UsageError, match="not of a kind that can be imported") as refused:
        import_files(files)
    assert "workflow.ts" in str(refused.value.next_step)


def test_a_broken_file_is_refused_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"grimoires/a.yaml line 3"):
        import_files({"grimoires/a.yaml": "name: x\nsteps: [\n"})


def test_a_path_that_leaves_the_folder_is_named() -> None:
    imported = import_files({"a.json": '{"steps": [{"id": "one", "prompt": "x"}]}', "../b.md": "x"})
    assert any(note.file == "../b.md" and note.severity == "lost" for note in imported.notes)
    assert all(".." not in path for path in imported.files)


def test_a_second_workflow_of_the_same_name_gets_a_number() -> None:
    text = '{"id": "one", "steps": [{"id": "a", "prompt": "x"}]}'
    imported = import_files({"a.json": text, "b.json": text})
    assert [path for path in imported.files if path.endswith(".yaml")] == ["one/workflow.yaml", "one-2/workflow.yaml"]
