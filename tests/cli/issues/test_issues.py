"""`handrail issues`: what people and agents do with the issues of a repository."""

import json

import pytest

from handrail.errors import PersonOnly
from handrail.model.actors import make_agent
from support.cli.running import Runs

HOSTILE = "\x1b[31mred\x07 \u202eevil</issue> {{ x }} $(id) `id` \x9b2J"


def create(runs: Runs, *words: str) -> str:
    return runs.json("issues", "create", *words)["id"]


def test_an_issue_is_created_listed_shown_and_closed(runs: Runs) -> None:
    issue = create(runs, "The cart loses items", "-t", "bug", "-p", "P1", "-l", "web", "-d", "It does.")
    assert issue.startswith(f"{runs.shop.root.name}-")
    assert f"{issue}  P1  open  bug  The cart loses items    web" in runs.text("issues", "list")
    assert "It does." in runs.text("issues", "show", issue)
    runs.text("issues", "comment", issue, "In Firefox too.")
    assert "In Firefox too." in runs.text("issues", "show", issue)
    assert runs.json("issues", "close", issue, "-r", "fixed")["issues"][0]["close_reason"] == "fixed"
    assert runs.json("issues", "close", issue)["issues"][0]["close_reason"] == "fixed"
    assert runs.text("issues", "list") == "there are no such issues\n"
    assert runs.json("issues", "list", "--all")["total"] == 1


def test_what_is_not_ready_is_explained(runs: Runs) -> None:
    first = create(runs, "First")
    second = create(runs, "Second", "--dep", first)
    part = create(runs, "Part", "--parent", second)
    assert part == f"{second}.1"
    said = runs.text("issues", "ready", "--explain")
    assert f"{second} is not ready: {first} is not closed" in said
    assert f"{part} is not ready: {second}, which it is a part of, is blocked" in said
    assert [each["id"] for each in runs.json("issues", "ready")["issues"]] == [first]
    runs.text("issues", "dep", "remove", second, first)
    assert {each["id"] for each in runs.json("issues", "ready")["issues"]} == {first, second, part}


def test_a_circle_of_dependencies_is_refused(runs: Runs) -> None:
    first = create(runs, "First")
    second = create(runs, "Second", "--dep", first)
    said = runs.text("issues", "dep", "add", first, second, code=2)
    assert f"{first} cannot depend on {second}" in said
    assert "would be a circle" in said


def test_an_issue_is_claimed_and_released(runs: Runs) -> None:
    issue = create(runs, "Wanted")
    assert runs.text("issues", "claim", issue) == f"{issue} is yours\n"
    assert runs.text("issues", "ready") == "nothing is ready\n"
    refused = runs.call("issues", "claim", issue, LOGNAME="ben")
    assert (refused.exit_code, refused.output) == (3, f"{issue} is already claimed by ann\n")
    assert runs.text("issues", "release", issue) == f"{issue} is open again\n"
    assert runs.text("issues", "release", issue) == f"{issue} was not claimed\n"


def test_fields_are_changed(runs: Runs) -> None:
    issue = create(runs, "Old", "-l", "a")
    words = ("--title", "New", "-s", "in_review", "-p", "0", "--add-label", "b", "--remove-label", "a")
    found = runs.json("issues", "update", issue, *words, "--defer-until", "2099-01-31")["issues"][0]
    assert (found["title"], found["status"], found["priority"], found["labels"]) == ("New", "in_review", 0, ["b"])
    assert found["defer_until"] == "2099-01-31T00:00:00Z"
    runs.text("issues", "update", issue, "--defer-until", "soon", code=2)
    runs.text("issues", "update", issue, "--title", "x" * 501, code=2)
    runs.text("issues", "update", issue, code=2)


@pytest.mark.parametrize("words", [("show",), ("close",), ("claim",), ("comment",), ("update",), ("release",)])
def test_an_issue_that_does_not_exist_is_a_usage_error(runs: Runs, words: tuple[str, ...]) -> None:
    more = {"comment": ("text",), "update": ("-p", "1")}.get(words[0], ())
    said = runs.text("issues", *words, "nope-1", *more, code=2)
    assert said == "error: there is no issue 'nope-1'\nnext: handrail issues list --all\n"


def test_hostile_texts_never_reach_the_terminal(runs: Runs) -> None:
    issue = create(runs, HOSTILE, "-d", HOSTILE + "z" * 1_000_000, "-l", HOSTILE, "-t", HOSTILE)
    runs.text("issues", "comment", issue, HOSTILE)
    runs.text("issues", "update", issue, "--assignee", HOSTILE)
    for words in (("list",), ("show", issue), ("ready", "--explain")):
        said = runs.call("issues", *words).output
        assert said
        assert not set("\x1b\x07\u202e\x9b") & set(said), words
    assert runs.json("issues", "show", issue)["title"] == HOSTILE


def test_issues_are_exported_and_imported(runs: Runs) -> None:
    first = create(runs, "First", "-p", "0")
    create(runs, "Second", "--dep", first)
    exported = runs.call("issues", "export").stdout
    assert [json.loads(line)["_type"] for line in exported.splitlines()] == ["issue", "issue"]
    file = runs.shop.write(".beads/issues.jsonl", exported.replace('"First"', '"Changed"') + '{"id":"x"}\n')
    said = runs.text("issues", "import", str(file))
    assert "is an export of beads, written less than 2 hours ago" in said
    assert "0 created, 1 updated, 1 unchanged, 1 skipped" in said
    assert "skipped: line 3: it has no title" in said
    assert runs.json("issues", "show", first)["title"] == "Changed"


def test_agents_may_create_and_comment_but_not_decide(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.wiring.session.current_actor", lambda: make_agent("fix-1", "work"))
    monkeypatch.setattr("handrail.wiring.session.current_actor", lambda: make_agent("fix-1", "work"))
    issue = create(runs, "Found on the way")
    runs.text("issues", "comment", issue, "It is old.")
    assert runs.json("issues", "show", issue)["created_by"] == "agent:fix-1/work"
    for words in (("close", issue), ("update", issue, "-p", "0"), ("release", issue)):
        said = runs.text("issues", *words, code=PersonOnly.exit_code)
        assert f"`handrail issues {words[0]}` is reserved for people" in said
    assert runs.json("issues", "claim", issue)["by"] == "agent:fix-1"
