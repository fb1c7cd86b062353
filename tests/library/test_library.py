"""The library's texts keep to the rules they teach, and its workflows find their prompts."""

import json
import re
from pathlib import Path

import pytest
import yaml

from support.library.library_files import (
    CONTRACTS,
    FEATURES,
    JSON_FILES,
    LIBRARY,
    PROMPTS,
    ROUTINES,
    TEXT_FILES,
    WORKFLOWS,
    load,
    maps_of,
    name_of,
)

LAZY = re.compile(r"if appropriate|minimal pass|light scan|you may|smallest|cheapest", re.IGNORECASE)
FOREIGN_WORDS = re.compile(r"grimoire|subroutine|\bseeds?\b", re.IGNORECASE)
HEADER = re.compile(r"<!-- Version: v\d+ -->\n<!-- Description: \S[^\n]{10,} -->\n\n")
NAME = re.compile(r"\{\{ *([a-z_]+)|\{% if ([a-z_]+)|\{% for [a-z]+ in ([a-z_]+)")
IN_SCOPE = {
    "reproduce": {"issue", "base", "project"},
    "address-review": {"issue", "base", "repro"},
    "split-spec": {"spec", "base", "width"},
    "implement-task": {"spec", "task", "tasks", "other"},
    "resolve-conflict": {"spec", "tasks", "one"},
    "pr-body": {"spec", "base", "tasks", "built", "steps"},
    "review-diff": {"base", "severity", "round"},
    "write-workflow": {"name", "purpose", "existing"},
    "fix-workflow": {"name", "purpose"},
    "review-workflow": {"name", "purpose", "round"},
    "review-changes": {"changes", "round"},
    "is-actionable": {"findings", "round"},
    "apply-findings": {"findings", "round"},
    "fix-checks": set[str](),
}
"""What each prompt may name: inputs, earlier outputs, loop names, and for shared prompts only what every user has."""
PROMPT_KEYS = {"prompt", "arbiter_prompt", "fix", "reviewer", "arbiter", "fixer"}


def _prompt_names(workflow: object) -> set[str]:
    """The prompts a workflow calls by name; a text with a space or a newline is an inline prompt."""
    texts = {node[key] for node in maps_of(workflow) for key in PROMPT_KEYS & node.keys() if isinstance(node[key], str)}
    return {text for text in texts if not re.search(r"\s", text)}


def _finds(workflow: Path, prompt: str) -> bool:
    own = workflow.parent / "prompts"
    return any(own.glob(f"[0-9]*-{prompt}.md")) or any(
        path.is_file() for path in (own / f"{prompt}.md", LIBRARY / "prompts" / f"{prompt}.md")
    )


@pytest.mark.parametrize("path", JSON_FILES, ids=name_of)
def test_every_json_file_is_an_object(path: Path) -> None:
    assert isinstance(json.loads(path.read_text(encoding="utf-8")), dict)


@pytest.mark.parametrize("path", TEXT_FILES, ids=name_of)
def test_every_text_ends_with_one_newline_and_has_no_trailing_blanks(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("path", TEXT_FILES, ids=name_of)
def test_no_text_uses_lazy_wording(path: Path) -> None:
    assert LAZY.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", TEXT_FILES, ids=name_of)
def test_no_text_speaks_in_another_systems_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert FOREIGN_WORDS.findall(text) == []
    if path.name != "README.md":
        assert "workrail" not in text.lower()


@pytest.mark.parametrize("path", TEXT_FILES, ids=name_of)
def test_no_text_leaves_work_for_later(path: Path) -> None:
    assert re.findall(r"\b(TODO|FIXME|XXX|TBD)\b", path.read_text(encoding="utf-8")) == []


# Workflows and prompts


def test_the_five_workflows_are_there() -> None:
    names = ["deps-nightly", "fix-bug", "implement-spec", "review-loop", "workflow-for-workflows"]
    assert [path.parent.name for path in WORKFLOWS] == names


@pytest.mark.parametrize("path", WORKFLOWS, ids=name_of)
def test_a_workflow_parses_and_is_named_like_its_folder(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert workflow["name"] == path.parent.name
    assert workflow["description"]
    assert all(step["name"] for step in workflow["steps"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=name_of)
def test_every_prompt_that_a_workflow_names_is_found(path: Path) -> None:
    names = _prompt_names(yaml.safe_load(path.read_text(encoding="utf-8")))

    assert [name for name in sorted(names) if not _finds(path, name)] == []


def test_every_prompt_of_a_workflow_is_named_by_it() -> None:
    for path in LIBRARY.glob("workflows/*/prompts/*.md"):
        workflow = yaml.safe_load((path.parents[1] / "workflow.yaml").read_text(encoding="utf-8"))
        assert path.stem.split("-", 1)[1] in _prompt_names(workflow), path


@pytest.mark.parametrize("path", WORKFLOWS, ids=name_of)
def test_no_comment_of_a_workflow_carries_a_rule_number(path: Path) -> None:
    assert re.findall(r"#.*\[\d+\]", path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PROMPTS, ids=name_of)
def test_a_prompt_starts_with_version_and_description(path: Path) -> None:
    assert HEADER.match(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PROMPTS, ids=name_of)
def test_a_prompt_says_what_done_means_or_holds_and_what_to_do_if_it_cannot_be_done(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert "## Done means" in text or "## What the description holds" in text
    assert "## Return" in text or "## Answer" in text
    assert re.search(r"\b(cannot|does not fit)\b", text)


@pytest.mark.parametrize("path", PROMPTS, ids=name_of)
def test_a_prompt_names_only_what_is_in_scope_where_it_is_used(path: Path) -> None:
    named = {name for names in NAME.findall(path.read_text(encoding="utf-8")) for name in names if name}

    assert named == IN_SCOPE[re.sub(r"^\d+-", "", path.stem)]


@pytest.mark.parametrize("path", PROMPTS, ids=name_of)
def test_a_prompt_closes_what_it_opens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert text.count("{{") == text.count("}}")
    assert len(re.findall(r"\{% (?:if|for) ", text)) == len(re.findall(r"\{% end(?:if|for) %\}", text))
    for tag in set(re.findall(r"^<([a-z-]+)(?: [^>]*)?>$", text, re.MULTILINE)):
        assert f"</{tag}>" in text, tag


@pytest.mark.parametrize("path", PROMPTS, ids=name_of)
def test_a_prompt_with_foreign_text_says_that_it_is_data(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert "data" in text or "not instructions to you" in text


@pytest.mark.parametrize(
    "path",
    [
        LIBRARY / "workflows/review-loop/prompts/10-review-diff.md",
        LIBRARY / "workflows/workflow-for-workflows/prompts/30-review-workflow.md",
        LIBRARY / "prompts/review-changes.md",
    ],
    ids=name_of,
)
def test_a_reviewer_is_asked_for_findings_with_an_identity(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    for field in ("file", "line", "rule", "severity", "message", "suggestion"):
        assert f"- `{field}`" in text
    for level in ("critical", "high", "medium", "low"):
        assert f"`{level}`" in text


def test_the_arbiter_returns_a_decision_for_each_finding_and_adds_none() -> None:
    text = (LIBRARY / "prompts/is-actionable.md").read_text(encoding="utf-8")

    for field in ("actionable", "decisions", "decision", "reason"):
        assert f"`{field}`" in text
    assert "Do not add findings" in text
    assert "Do not be lenient" in text


def test_the_page_lists_everything_that_is_here() -> None:
    page = (LIBRARY / "README.md").read_text(encoding="utf-8")
    names = [path.parent.name for path in WORKFLOWS] + [
        path.stem for path in (*LIBRARY.glob("prompts/*.md"), *ROUTINES)
    ]
    ids = [load(path)["id"] for path in (*FEATURES, *CONTRACTS, *LIBRARY.glob("assessments/*.json"))]

    assert [name for name in (*names, *ids) if f"`{name}`" not in page] == []
    assert [path.stem for path in LIBRARY.glob("refs/*.md") if f"`{path.stem}`" not in page] == []
