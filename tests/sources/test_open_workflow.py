import os
from pathlib import Path

import pytest

from handrail.authoring.python.objects import ResolveContext
from handrail.model.diagnostics import Diagnostic
from handrail.model.source import plain
from handrail.sources.open_workflow import OpenedWorkflow, catalog_for, open_workflow
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.sources.workplace import JSON, YAML, Workplace, write

VERSIONED = """\
def resolve(context):
    version = "versions/10-a.v2.md" if "trial" in context.labels else "prompts/10-a.md"
    return {"name": "fix", "steps": [{"name": "a", "prompt": version}]}
"""


def opened(work: Workplace, name: str, *, trusted: bool | None = None) -> OpenedWorkflow:
    return open_workflow(work.find(name), work.place, trusted=trusted)


def told(found: OpenedWorkflow) -> list[tuple[str, str, str, int, int]]:
    return [(each.code, each.message, each.file, each.line, each.column) for each in found.report]


def only(found: OpenedWorkflow) -> Diagnostic:
    (each,) = found.report
    return each


def test_a_folder_workflow_is_read_with_its_prompts(work: Workplace) -> None:
    work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    work.workflow("fix/prompts/10-a.md", "a")
    found = opened(work, "fix")
    assert found.document is not None
    assert found.document.dialect == "native"
    assert found.bundle is not None
    assert found.bundle.source.path == ".handrail/workflows/fix/workflow.yaml"
    assert found.bundle.files["prompts/10-a.md"].text == "a"
    assert told(found) == []


def test_paths_outside_the_current_folder_are_shown_whole(work: Workplace) -> None:
    main = work.user("mine/workflow.yaml", YAML.format(name="mine"))
    found = opened(work, "mine")
    assert found.bundle is not None
    assert found.bundle.source.path == str(main)


def test_json_is_read_as_workrails_dialect(work: Workplace) -> None:
    work.workflow("t.json", JSON.format(name="wr.t"))
    found = opened(work, "wr.t")
    assert found.document is not None
    assert (found.document.form, found.document.dialect) == ("json", "workrail")


def test_a_folder_must_be_called_as_its_workflow(work: Workplace) -> None:
    work.workflow("fix/workflow.yaml", "steps: []\nname: repair\n")
    found = opened(work, "fix")
    assert told(found) == [
        (
            "folder-name",
            "the folder is called 'fix', but the workflow is called 'repair'",
            ".handrail/workflows/fix/workflow.yaml",
            2,
            7,
        )
    ]
    assert only(found).hint == "rename the folder to 'repair', or write name: fix"
    assert found.report.failed


def test_a_single_file_should_be_called_as_its_workflow(work: Workplace) -> None:
    work.workflow("fix.yaml", YAML.format(name="repair"))
    found = opened(work, "fix")
    assert [each.code for each in found.report] == ["folder-name"]
    assert not found.report.failed


def test_a_folder_of_json_goes_by_its_id(work: Workplace) -> None:
    work.workflow("anything/workflow.json", JSON.format(name="wr.t"))
    assert told(opened(work, "wr.t")) == []


def test_a_linked_folder_of_the_user_goes_by_the_links_name(work: Workplace, tmp_path: Path) -> None:
    write(tmp_path / "dotfiles" / "original" / "workflow.yaml", YAML.format(name="mine"))
    work.folders.workflows.mkdir(parents=True)
    (work.folders.workflows / "mine").symlink_to(tmp_path / "dotfiles" / "original")
    assert told(opened(work, "mine")) == []


def test_a_linked_file_of_the_user_is_read_where_it_lies(work: Workplace, tmp_path: Path) -> None:
    write(tmp_path / "dotfiles" / "mine.yaml", YAML.format(name="mine"))
    write(tmp_path / "dotfiles" / "prompts" / "a.md", "a")
    work.folders.workflows.mkdir(parents=True)
    (work.folders.workflows / "mine.yaml").symlink_to(tmp_path / "dotfiles" / "mine.yaml")
    found = opened(work, "mine")
    assert found.bundle is not None
    assert set(found.bundle.files) == {"mine.yaml", "prompts/a.md"}


@pytest.mark.parametrize(
    ("text", "code"), [("a: [", "yaml-syntax"), ("- a", "wrong-type"), ("x" * 1_100_000, "file-too-large")]
)
def test_broken_content_is_reported(work: Workplace, text: str, code: str) -> None:
    work.workflow("fix/workflow.yaml", text)
    found = opened(work, "fix")
    assert found.document is None
    assert [each.code for each in found.report] == [code]


def test_content_that_is_no_text_is_reported(work: Workplace) -> None:
    work.workflow("fix/workflow.yaml", "").write_bytes(b"\xff")
    assert only(opened(work, "fix")).message == "the file cannot be used: it is not UTF-8 text"


def test_a_problem_of_the_files_is_reported(work: Workplace) -> None:
    work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    work.workflow("fix/workflow.json", JSON.format(name="fix"))
    found = opened(work, "fix")
    assert found.document is None
    assert (
        only(found).message
        == "'fix' cannot be used: it contains both workflow.yaml and workflow.json; keep one of them"
    )


def test_a_repositorys_link_to_the_outside_is_never_read(work: Workplace, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "secret.yaml")
    (work.repo / ".handrail" / "workflows").mkdir(parents=True)
    (work.repo / ".handrail" / "workflows" / "x.yaml").symlink_to(tmp_path / "secret.yaml")
    found = opened(work, "x")
    assert found.bundle is None
    assert [each.code for each in found.report] == ["workflow-files"]


def test_a_folder_of_prompts_that_leaves_is_reported(work: Workplace, tmp_path: Path) -> None:
    write(tmp_path / "prompts" / "a.md", "a")
    work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    (work.repo / ".handrail" / "workflows" / "fix" / "prompts").symlink_to(tmp_path / "prompts")
    message = "the folder 'prompts' cannot be used: it leads outside the workflow's folder"
    assert [(each.code, each.message) for each in opened(work, "fix").report] == [("path-escape", message)]


def test_a_file_that_vanished_is_reported(work: Workplace) -> None:
    main = work.workflow("fix.yaml", YAML.format(name="fix"))
    found = work.find("fix")
    main.unlink()
    assert [each.code for each in open_workflow(found, work.place).report] == ["file-unreadable"]


@pytest.mark.parametrize("path", ["py/workflow.py", "py.py"])
def test_untrusted_python_is_never_imported(work: Workplace, path: str) -> None:
    work.workflow(path, work.python("py"))
    found = opened(work, "py")
    assert found.document is None
    assert only(found).code == "untrusted"
    assert only(found).message == "this workflow is Python and has not been trusted"
    assert only(found).hint == f"read it, then: handrail trust .handrail/workflows/{path}"
    assert not work.mark.exists()


def test_python_by_its_path_is_not_trusted_either(work: Workplace, tmp_path: Path) -> None:
    main = write(tmp_path / "elsewhere" / "workflow.py", work.python("elsewhere"))
    assert only(opened(work, str(main))).code == "untrusted"
    assert not work.mark.exists()


def test_trusted_python_gives_its_workflow(work: Workplace) -> None:
    main = work.workflow("py/workflow.py", work.python("py"))
    TrustStore(work.folders).trust_snapshot(take(main))
    found = opened(work, "py")
    assert told(found) == []
    assert found.document is not None
    assert found.document.form == "python"
    assert plain(found.document.root) == {"name": "py", "steps": [{"name": "one", "prompt": "Do the thing."}]}
    assert work.mark.exists()


def test_changed_python_is_not_imported(work: Workplace) -> None:
    main = work.workflow("py/workflow.py", work.python("py"))
    TrustStore(work.folders).trust_snapshot(take(main))
    work.workflow("py/prompts/10-a.md", "new")
    assert only(opened(work, "py")).message == "this workflow is Python and has changed since it was trusted"
    assert not work.mark.exists()


def test_the_users_own_python_runs(work: Workplace) -> None:
    work.user("py/workflow.py", work.python("py"))
    assert opened(work, "py").document is not None


def test_the_caller_may_answer_for_trust(work: Workplace) -> None:
    work.user("py/workflow.py", work.python("py"))
    assert opened(work, "py", trusted=False).document is None
    assert not work.mark.exists()
    work.workflow("other/workflow.py", work.python("other"))
    assert opened(work, "other", trusted=True).document is not None


def test_a_failing_workflow_py_is_reported_at_its_line(work: Workplace) -> None:
    work.user("py/workflow.py", "def resolve(context):\n    return {}['x']\n")
    found = opened(work, "py")
    assert found.document is None
    assert (only(found).code, only(found).message) == ("python-error", "KeyError: 'x'")
    assert (only(found).line, only(found).column, only(found).text) == (2, 12, "    return {}['x']")


def test_a_workflow_py_that_returns_nothing_is_reported(work: Workplace) -> None:
    work.user("py/workflow.py", "def resolve(context):\n    pass\n")
    found = opened(work, "py")
    assert found.document is None
    assert found.report.failed


def test_python_must_be_called_as_its_folder(work: Workplace) -> None:
    work.user("py/workflow.py", work.python("other"))
    assert only(opened(work, "py")).code == "folder-name"


def test_a_version_that_resolve_returns_is_honoured(work: Workplace) -> None:
    work.user("fix/workflow.py", VERSIONED)
    work.user("fix/prompts/10-a.md", "first")
    work.user("fix/versions/10-a.v2.md", "second")
    work.user("fix/versions/10-a.v3.md", "third")
    plain_run = open_workflow(work.find("fix"), work.place)
    assert plain_run.bundle is not None
    assert "versions/10-a.v2.md" not in plain_run.bundle.files
    trial = open_workflow(work.find("fix"), work.place, context=ResolveContext("1", ("trial",), "r"))
    assert trial.document is not None
    files = trial.document.bundle.files
    assert files["versions/10-a.v2.md"].text == "second"
    assert "versions/10-a.v3.md" not in files


@pytest.mark.parametrize("path", ["versions/../../../secret.md", "versions/link.md"])
def test_a_version_outside_the_folder_is_refused(work: Workplace, path: str) -> None:
    secret = write(work.home / "secret.md", "secret")
    work.user("fix/workflow.py", VERSIONED.replace("versions/10-a.v2.md", path))
    (work.folders.workflows / "fix" / "versions").mkdir()
    (work.folders.workflows / "fix" / "versions" / "link.md").symlink_to(secret)
    found = open_workflow(work.find("fix"), work.place, context=ResolveContext("1", ("trial",), "r"))
    assert found.bundle is not None
    assert path not in found.bundle.files
    assert found.bundle.refused.get("versions/link.md") == "it leads outside the workflow's folder"


def test_the_catalog_finds_other_workflows_by_name(work: Workplace) -> None:
    work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    catalog = catalog_for(work.place)
    document = catalog.workflow("fix")
    assert document is not None
    assert catalog.workflow("fix") is document
    assert catalog.workflow("wr.routine-ideation") is catalog.workflow("routine-ideation")
    assert catalog.workflow("routine-ideation") is not None
    assert catalog.workflow("none") is None
    assert catalog.builtins.prompt("fix-checks") is not None


def test_the_catalog_never_runs_untrusted_python(work: Workplace) -> None:
    work.workflow("py/workflow.py", work.python("py"))
    catalog = catalog_for(work.place)
    assert catalog.workflow("py") is None
    assert {"py", "routine-ideation", "fix-bug"} <= set(catalog.names())
    assert not work.mark.exists()


def test_the_catalog_survives_a_damaged_record_of_trust(work: Workplace) -> None:
    work.workflow("py/workflow.py", work.python("py"))
    write(work.folders.data / "trust.json", "{")
    assert catalog_for(work.place).workflow("py") is None
    assert not work.mark.exists()


def test_the_catalog_holds_the_projects_bindings(work: Workplace) -> None:
    assert catalog_for(work.place).bindings is None
    work.repository(".workrail/bindings.json", '{"a": "b"}')
    bindings = catalog_for(work.place).bindings
    assert bindings is not None
    assert (bindings.path, bindings.text) == (".workrail/bindings.json", '{"a": "b"}')


def test_every_built_in_workflow_can_be_opened(work: Workplace) -> None:
    for found in work.all():
        each = open_workflow(found, work.place)
        assert each.document is not None
        assert told(each) == []
