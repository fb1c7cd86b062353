"""Issues go out as JSON lines and come back as they were."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from handrail.model.secrets.redaction import Redactor
from handrail.operations.issues.jsonl import read_lines, write_lines
from handrail.processes.secret_forms import FORMS
from handrail.store.sqlite.log import open_log
from handrail.trackers.local.book import LocalIssues
from support.issues.exported_records import make_exported_record

COUNT = 1_000


@pytest.fixture
def books(tmp_path: Path) -> Iterator[tuple[LocalIssues, LocalIssues]]:
    """The issues of one repository in two logs."""
    with closing(open_log(tmp_path / "one")) as one, closing(open_log(tmp_path / "two")) as two:
        yield tuple(LocalIssues(log, "/home/ann/shop", lambda: 1e9, lambda: Redactor({}, FORMS)) for log in (one, two))  # type: ignore[misc]


def test_a_thousand_issues_round_trip_in_the_same_bytes(books: tuple[LocalIssues, LocalIssues]) -> None:
    one, two = books
    data = b"".join(json.dumps(make_exported_record(number)).encode() + b"\n" for number in range(COUNT))
    counts = one.put_records(read_lines(data).records, "person:ann")
    assert (counts.created, counts.skipped) == (COUNT, ())
    first = write_lines(one.export_records())
    two.put_records(read_lines(first).records, "person:ben")
    assert write_lines(two.export_records()) == first
    assert two.put_records(read_lines(first).records, "person:ben").unchanged == COUNT


def test_unknown_fields_and_external_names_are_kept(books: tuple[LocalIssues, LocalIssues]) -> None:
    one, _ = books
    one.put_records([make_exported_record(0)], "person:ann")
    (line,) = write_lines(one.export_records()).splitlines()
    found = json.loads(line)
    assert (found["mol_type"], found["waiters"], found["external_ref"]) == ("swarm", ["x", 1, True], "gh-0")
    assert found["priority"] == 0
    assert (found["_type"], found["comment_count"], found["dependency_count"]) == ("issue", 1, 0)


@pytest.mark.parametrize(
    ("line", "skipped"),
    [
        ('{"title": "no type"}', ""),
        ('{"_type": "memory", "key": "k", "value": "v"}', "its type is 'memory'"),
        ('{"id": "a"}', "it has no title"),
        ('{"id": "a", "title": " "}', "it has no title"),
        ('{"id": "a", "title": "t", "status": "tombstone"}', "the issue was deleted"),
        ('{"id": "a", "title": "t", "status": "my_status"}', ""),
        ("[1]", "it is not an object"),
        ("{broken", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("", ""),
    ],
)
def test_a_line_is_read_by_the_rules(line: str, skipped: str) -> None:
    found = read_lines(line.encode())
    assert [each for each in found.skipped if skipped not in each] == []
    assert bool(found.skipped) == bool(skipped)


def test_older_forms_are_read() -> None:
    line = {"title": "t", "wisp": True, "comments": [{"id": 7, "text": "x"}, {"id": "5e551011", "text": "y"}]}
    line["dependencies"] = [{"depends_on_id": "b"}]
    (record,) = read_lines(b"\xef\xbb\xbf" + json.dumps(line).encode() + b"\r\n").records
    assert record["ephemeral"] is True
    assert record["comments"] == [{"id": "7", "text": "x"}, {"id": "5e551011", "text": "y"}]
    assert record["dependencies"] == [{"depends_on_id": "b", "type": "blocks"}]


@pytest.mark.parametrize("issue", ["../x", "a b", "a#b", "", "x" * 200, 7])
def test_an_id_that_could_be_mistaken_is_skipped(books: tuple[LocalIssues, LocalIssues], issue: object) -> None:
    one, _ = books
    counts = one.put_records([{"id": issue, "title": "t"}], "person:ann")  # type: ignore[dict-item]
    assert (counts.created, len(counts.skipped)) == (0, 1)


def test_an_issue_without_an_id_gets_one(books: tuple[LocalIssues, LocalIssues]) -> None:
    one, _ = books
    one.put_records([{"title": "a"}, {"title": "b"}], "person:ann")
    assert len({line.id for line in one.lines()}) == 2
    assert all(line.id.startswith("shop-") for line in one.lines())


def test_an_import_replaces_what_has_the_same_id(books: tuple[LocalIssues, LocalIssues]) -> None:
    one, _ = books
    one.put_records([{"id": "shop-1", "title": "old", "notes": "n"}], "person:ann")
    counts = one.put_records([{"id": "shop-1", "title": "new"}], "person:ann")
    assert counts.updated == 1
    assert one.read("shop-1").text("title") == "new"
