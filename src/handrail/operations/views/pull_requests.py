"""The pull requests of a run, as people and programs see them: their state, and what happened to them."""

from handrail.engine.fold.pull_requests import CHECK_WORDS, describe_fact
from handrail.frozen import frozen
from handrail.model.pull_request_facts import PullRequestRecord
from handrail.model.pull_requests import STREAM
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.run_document import iso
from handrail.operations.views.run_tree import root_of
from handrail.ports.log import Log
from handrail.runtime.pull_request_log import list_entries, list_records, read_facts


@frozen
class PullRequestLine:
    """One thing that happened to a pull request."""

    number: int
    at: float
    kind: str
    words: str


def find_pull_requests(log: Log, run: str) -> tuple[PullRequestRecord, ...]:
    """List the pull requests of a run and of all that come from it, in the order in which they were opened."""
    found = list_records(log, root_of(log, run))
    return tuple(sorted(found, key=lambda each: (each.opened_at, each.number)))


def describe_pull_request(record: PullRequestRecord) -> str:
    """Describe the state of a pull request in one line."""
    state = "draft" if record.draft and record.is_open else record.status
    by = f" by {record.ended_by}" if record.ended_by else ""
    closed = f", closes {', '.join(record.closes)}" if record.closes and record.status == "merged" else ""
    checks = f", checks {CHECK_WORDS[record.checks]}" if record.is_open else ""
    reviews = f", {record.review_words}" if record.reviews else ""
    return f"#{record.number} {state}{by}{closed}{checks}{reviews}: {record.url}"


def pull_request_data(record: PullRequestRecord) -> dict[str, JsonValue]:
    """Convert a pull request to JSON data."""
    return {
        "number": record.number,
        "name": record.name,
        "url": record.url,
        "status": record.status,
        "draft": record.draft,
        "title": record.title,
        "branch": record.head,
        "base": record.base,
        "commit": record.commit,
        "checks": record.checks,
        "reviews": {author: each.verdict for author, each in record.reviews.items()},
        "merge_commit": record.merge_commit,
        "ended_by": record.ended_by,
        "closes": list(record.closes),
        "run": record.run,
        "opened_at": iso(record.opened_at),
        "changed_at": iso(record.changed_at),
    }


ENTRY = ("number", "name", "url", "status", "draft", "checks", "commit", "closes", "run")
"""What a list of runs says about a pull request."""


def list_pull_request_entries(log: Log, root: str) -> list[JsonValue]:
    """List what the entries of a run's pull requests say, for lists of runs."""
    usual: dict[str, JsonValue] = {"draft": False, "closes": []}
    rows = sorted(list_entries(log, root), key=lambda row: (row.facts.started, row.key))
    return [{name: row.document.get(name, usual.get(name)) for name in ENTRY} for row in rows]


def list_pull_request_lines(log: Log, run: str) -> list[PullRequestLine]:
    """List what happened to the pull requests of a run."""
    return [
        PullRequestLine(record.number, fact.at, fact.kind, describe_fact(fact))
        for record in find_pull_requests(log, run)
        for fact in read_facts(log, f"{STREAM}{record.name}")
    ]
