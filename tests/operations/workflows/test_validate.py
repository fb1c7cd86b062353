"""What is checked when something is named, and that no content of a file gets through as an exception."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import NotFound, UsageError
from handrail.model.diagnostics import Diagnostic, Report, Severity
from handrail.operations.workflows.find_targets import find_one_workflow, find_workflows
from handrail.operations.workflows.inspect import inspect_workflow
from handrail.operations.workflows.list import list_workflows, workflow_names
from handrail.operations.workflows.validate import CheckedFile, Validation, validate
from handrail.sources.tiers import Location, here


def place(root: Path) -> Location:
    (root / ".git").mkdir(exist_ok=True)
    return here(root, {"HANDRAIL_HOME": str(root / "home")})


def found(severity: Severity, code: str = "unknown-key") -> Diagnostic:
    return Diagnostic(severity, code, "m", "f", 1, 1, 2, "")


@pytest.mark.parametrize(
    ("diagnostics", "ok", "plain", "strict"),
    [
        ([], True, 0, 0),
        ([found(Severity.ADVICE)], True, 0, 0),
        ([found(Severity.WARNING)], True, 0, 4),
        ([found(Severity.ERROR)], False, 4, 4),
        ([found(Severity.ERROR, "untrusted")], False, 4, 4),
    ],
)
def test_the_exit_code_follows_from_what_was_found(
    diagnostics: list[Diagnostic], ok: bool, plain: int, strict: int
) -> None:
    validation = Validation((CheckedFile("f", ok, None, tuple(diagnostics)),))
    assert (validation.exit_code(), validation.exit_code(strict=True)) == (plain, strict)


def test_an_error_of_the_configuration_fails_the_verdict() -> None:
    validation = Validation((), (found(Severity.ERROR),))
    assert (validation.ok, validation.exit_code()) == (False, 4)


def test_a_file_that_is_named_twice_is_checked_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\nsteps: []\n")
    assert len(validate(place(tmp_path), ["a.yaml", "./a.yaml", str(tmp_path / "a.yaml")]).files) == 1


NOTHING = {"long": "x" * 5000, "nul": "bad\0name", "blank": "", "none": "no/such/path", "up": "..", "folder": "empty"}


@pytest.mark.parametrize("target", NOTHING.values(), ids=NOTHING)
def test_what_names_nothing_is_not_found(tmp_path: Path, target: str) -> None:
    (tmp_path / "work" / "empty").mkdir(parents=True)
    with pytest.raises(NotFound):
        find_workflows(place(tmp_path / "work"), target, Report())
    with pytest.raises(NotFound):
        find_one_workflow(place(tmp_path / "work"), target)


def test_without_a_repository_nothing_can_be_meant(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not in a repository"):
        validate(Location(here(tmp_path, {"HANDRAIL_HOME": str(tmp_path)}).folders, None, tmp_path), [])


def test_names_are_given_without_opening_a_file(tmp_path: Path) -> None:
    folder = tmp_path / ".handrail" / "workflows" / "broken"
    folder.mkdir(parents=True)
    (folder / "workflow.yaml").write_text("{{{")
    assert "broken" in workflow_names(place(tmp_path))


@given(st.binary(max_size=300), st.sampled_from(["w.yaml", "w.json"]))
def test_any_bytes_give_a_verdict(content: bytes, name: str) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / name).write_bytes(content)
        validation = validate(place(root), [f"./{name}"])
        assert validation.exit_code() in {0, 4}
        assert inspect_workflow(place(root), f"./{name}").about.valid is validation.ok


LINES = st.sampled_from(
    [
        "name: w",
        "steps:",
        "  - name: a",
        "    prompt: Do it.",
        "    type: loop",
        "    steps: []",
        "input: {a: b}",
        "- x",
        "  {{",
        "\t",
    ]
)


@given(st.lists(LINES, max_size=12))
def test_any_lines_of_workflows_give_a_verdict(lines: list[str]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        target = root / ".handrail" / "workflows" / "w.yaml"
        target.parent.mkdir(parents=True)
        target.write_text("\n".join(lines))
        (listed,) = list_workflows(place(root), tier="repository").workflows
        assert listed.valid or listed.diagnostics
