"""The issues of beads: what `bd` is asked to do, and how its answers are read."""

import json
import time
from pathlib import Path

import pytest

from handrail.errors import NotFound, TrackerFault, UsageError
from handrail.model.issues import Claim
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import JsonValue
from handrail.processes.secret_forms import FORMS
from handrail.store.memory.log import MemoryWorld
from handrail.trackers.beads.book import BeadsIssues
from handrail.trackers.beads.program import Bd
from support.beads.install import add_beads, ask_double


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BeadsIssues:
    monkeypatch.delenv("BD_JSON_ENVELOPE", raising=False)
    bd = Bd(ask_double, str(add_beads(tmp_path)), "1.3.0")
    return BeadsIssues(bd, MemoryWorld().open(), time.time, Redactor({"TOKEN": "hunter2hunter2"}, FORMS))


def create(book: BeadsIssues, title: str = "An issue", **fields: JsonValue) -> str:
    return book.create({"title": title, **fields}, "person:ann")


def calls(book: BeadsIssues) -> list[list[str]]:
    path = Path(book.repository) / ".beads" / "calls.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_field_reaches_beads_and_comes_back(book: BeadsIssues) -> None:
    issue = create(
        book, "--title", description="-d", design="D", acceptance_criteria="A", labels=["a,b", "c"], priority=0
    )
    book.edit(
        issue, {"notes": "N", "status": "blocked", "assignee": "person:ben", "external_ref": "gh-9"}, "person:ann"
    )
    found = book.read(issue)
    texts = ("title", "description", "design", "acceptance_criteria", "notes", "status", "assignee", "external_ref")
    assert [found.text(each) for each in texts] == ["--title", "-d", "D", "A", "N", "blocked", "person:ben", "gh-9"]
    assert (found.priority, found.texts("labels"), found.text("created_by")) == (0, ("a,b", "c"), "person:ann")
    book.edit(issue, {"labels": ["c", "d"], "description": None, "assignee": None}, "person:ann")
    found = book.read(issue)
    assert (found.texts("labels"), found.text("description"), found.text("assignee")) == (("c", "d"), "", "")


def test_what_is_already_so_is_not_written_again(book: BeadsIssues) -> None:
    issue = create(book)
    before = len(calls(book))
    book.edit(issue, {"title": "An issue", "assignee": None}, "person:ann")
    assert {each[0] for each in calls(book)[before:]} <= {"show", "comments"}


def test_a_field_that_bd_cannot_set_is_refused_with_its_version(book: BeadsIssues) -> None:
    with pytest.raises(UsageError, match=r"bd 1\.3\.0 cannot set 'pinned'"):
        book.edit(create(book), {"pinned": True}, "person:ann")


def test_secrets_never_reach_beads(book: BeadsIssues) -> None:
    issue = create(book, "hunter2hunter2", description="hunter2hunter2")
    book.comment(issue, "hunter2hunter2", "person:ann")
    book.comment(issue, "hunter2hunter2", "", "progress:demo-1")
    assert "hunter2" not in (Path(book.repository) / ".beads" / "fake.json").read_text()


def test_the_rules_of_bd_about_closing_and_cycles_count(book: BeadsIssues) -> None:
    first, second = create(book, "First"), create(book, "Second")
    book.link(second, first, "blocks", "person:ann")
    with pytest.raises(TrackerFault, match="cycle"):
        book.link(first, second, "blocks", "person:ann")
    with pytest.raises(TrackerFault, match="blocked by open issues"):
        book.edit(second, {"status": "closed"}, "person:ann")
    found = book.find_ready(explain=True)
    assert ([line.id for line in found.ready], found.reasons) == ([first], {second: f"it is blocked by {first}"})
    assert book.unlink(second, first, "", "person:ann")
    assert not book.unlink(second, first, "", "person:ann")
    assert book.edit(second, {"status": "closed", "close_reason": "done"}, "person:ann").text("close_reason") == "done"


def test_a_child_knows_its_parent(book: BeadsIssues) -> None:
    parent = create(book, "Parent")
    child = book.create({"title": "Child"}, "person:ann", parent)
    assert (child, book.read(child).parent) == (f"{parent}.1", parent)
    with pytest.raises(NotFound):
        book.create({"title": "Lost"}, "person:ann", "shop-none")


def test_a_person_has_the_same_name_in_beads(book: BeadsIssues) -> None:
    issue = create(book)
    assert book.claim(issue, Claim(by="person:ann")).is_mine
    assert ["update", issue, "--claim", "--json", "--actor=ann"] in calls(book)
    held = book.claim(issue, Claim(by="person:ben"))
    assert (held.is_mine, held.claim.by) == (False, "person:ann")
    assert not book.release(issue, "person:ben", "person:ben", "")
    assert book.release(issue, "", "person:ben", "")
    assert not book.release(issue, "", "person:ben", "")


def test_an_issue_with_another_status_cannot_be_claimed(book: BeadsIssues) -> None:
    issue = create(book)
    book.edit(issue, {"status": "deferred"}, "person:ann")
    with pytest.raises(TrackerFault, match="not claimable: status deferred"):
        book.claim(issue, Claim(by="person:ann"))


def test_the_claim_of_a_run_that_does_not_exist_is_released(book: BeadsIssues) -> None:
    issue = create(book)
    assert book.claim(issue, Claim(by="agent:demo-1", run="demo-1")).is_mine
    assert not book.find_ready().ready
    later = BeadsIssues(book.bd, book.log, lambda: time.time() + 3600, book.redactor)
    found = later.find_ready()
    assert found.released == ((issue, "its run demo-1 does not exist"),)
    assert [line.id for line in found.ready] == [issue]


def test_a_message_is_written_once_and_progress_is_rewritten(book: BeadsIssues) -> None:
    issue = create(book)
    first = book.comment(issue, "It was refused.", "handrail", "message:reply-1")
    assert book.comment(issue, "It was refused.", "handrail", "message:reply-1") == first
    key = book.comment(issue, "Step 1", "handrail", "progress:demo-1")
    assert book.comment(issue, "Step 2", "handrail", "progress:demo-1") == key
    texts = [str(each["text"]) for each in book.read(issue).records("comments")]
    assert texts == ["It was refused.\n\n<!-- handrail:message:reply-1 -->", "Step 2"]
    before = len(calls(book))
    book.comment(issue, "Step 2", "handrail", "progress:demo-1")
    assert all(each[0] != "update" for each in calls(book)[before:])


def test_exports_and_imports_go_through_bd(book: BeadsIssues) -> None:
    first, second = create(book, "First"), create(book, "Second", labels=["x"])
    book.comment(first, "Hm.", "person:ann")
    records = book.export_records()
    assert [each["id"] for each in records] == sorted([first, second])
    done = book.put_records([{**records[0], "title": "Changed"}, {"title": "New"}], "person:ann")
    assert (done.created, done.updated, len(book.lines())) == (1, 1, 3)
    assert book.read(str(records[0]["id"])).text("title") == "Changed"
