"""Summaries on SQLite: a run's entry in lists, in the row of its stream, so that an append writes one row less.

A filter becomes one statement, assembled from those in `sql/summaries.sql`. Commands that only show the list load this
module without the rest of the log.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from handrail.late_import import late_import
from handrail.model.history.run_lines import Facts, Filter, Row, facts_of, read_line
from handrail.store.sqlite.connection import Session, Value, text_of
from handrail.store.sqlite.statements import statements

if TYPE_CHECKING:
    from handrail.model.issue_records import IssueLine
    from handrail.ports.log import Document, StoredEvent
    from handrail.store.sqlite import issue_lines as lines_of_issues
    from handrail.store.sqlite.database import Database
else:
    lines_of_issues = late_import("handrail.store.sqlite.issue_lines")

_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
LAST = "\U0010ffff"
"""Sorts after every other character."""
_Found: TypeAlias = tuple[int, Row]
_SORT: dict[str, Callable[[_Found], Any]] = {
    "changed": lambda found: (-found[1].position, found[1].key),
    "made": lambda found: found[0],
}


def select_rows(session: Session, wanted: Filter) -> tuple[Row, ...]:
    """Return the wanted rows; several statuses are read one by one, each with its index and up to the limit."""
    found = [
        _read(*fields) for each in _statuses_to_query(wanted) for fields in _run(session, "list_rows", wanted, each)
    ]
    if len(wanted.statuses) > 1:
        if wanted.order == "started":
            found.sort(key=lambda each: (each[1].facts.started, each[1].key), reverse=True)
        else:
            found.sort(key=_SORT[wanted.order])
    return tuple(row for _, row in found[: wanted.limit])


def select_keys(session: Session, wanted: Filter) -> tuple[str, ...]:
    """List the streams of the wanted rows."""
    if len(wanted.statuses) > 1:
        return tuple(row.key for row in select_rows(session, wanted))
    found = (fields for each in _statuses_to_query(wanted) for fields in _run(session, "list_keys", wanted, each))
    return tuple(text_of(fields[0]) for fields in found)


def count_rows(session: Session, wanted: Filter) -> int:
    """Count the wanted rows."""
    whole = wanted._replace(limit=None)
    return sum(_run(session, "count_rows", whole, each)[0][0] for each in _statuses_to_query(wanted))


def _statuses_to_query(wanted: Filter) -> tuple[str | None, ...]:
    return tuple(dict.fromkeys(wanted.statuses)) or (wanted.status,)


def _run(session: Session, select: str, wanted: Filter, status: str | None) -> list[tuple[Any, ...]]:
    words, values = [select], list[Value]()
    for condition, bound in _conditions(wanted, status):
        words.append(condition)
        values += bound
    if select != "count_rows":
        words.append(f"by_{wanted.order}")
    if wanted.limit is not None:
        words.append("at_most")
        values.append(wanted.limit)
    named = statements()
    return session.execute("\n".join(named[each].removesuffix(";") for each in words), tuple(values)).fetchall()


def _conditions(wanted: Filter, status: str | None) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Yield the names of the wanted conditions, each with its values."""
    for flag, name in ((wanted.runs_only, "of_runs"), (wanted.top, "of_top"), (wanted.inner, "of_inner")):
        if flag:
            yield name, ()
    if wanted.prefix:
        yield "of_prefix", (wanted.prefix, wanted.prefix + LAST)
    alike = {"key": wanted.key, "status": status, "workflow": wanted.workflow}
    alike |= {"parent": wanted.parent, "root": wanted.root}
    if len(wanted.repositories) == 1:
        alike["repository"] = wanted.repositories[0]
    yield from ((f"of_{name}", (value,)) for name, value in alike.items() if value is not None)
    several = {"repositories": wanted.repositories[1:] and wanted.repositories, "roots": wanted.roots}
    yield from ((f"of_{name}", (_text(values),)) for name, values in several.items() if values)
    if wanted.before is not None:
        yield "of_before", wanted.before
    if wanted.holding:
        quoted = tuple(f'"{name}":' for name in wanted.holding)
        yield "of_holding" if len(quoted) == 1 else "of_holding_either", quoted


def _read(*fields: Any) -> _Found:
    rowid, key, position, document, *facts, started = fields
    name = text_of(key)
    workflow, repository, parent, root = (None if each is None else text_of(each) for each in facts)
    facts = Facts(workflow, repository, parent, root, started)
    return rowid, Row(name, position, read_line(name, document), facts)


class SqliteSummaries:
    """The summaries that appends wrote as `Append.summary`."""

    def __init__(self, database: "Database") -> None:
        self._db = database

    def summaries(self, wanted: Filter | None = None) -> tuple[Row, ...]:
        """List the summaries by stream, newest first."""
        with self._db.reading() as session:
            return select_rows(session, wanted or Filter())

    def keys(self, wanted: Filter) -> tuple[str, ...]:
        """List the streams of the wanted summaries."""
        with self._db.reading() as session:
            return select_keys(session, wanted)

    def count(self, wanted: Filter) -> int:
        """Count the wanted summaries."""
        with self._db.reading() as session:
            return count_rows(session, wanted)

    def issue_lines(self, repository: str = "", marker: str = "") -> "tuple[IssueLine, ...]":
        """List the lines of issues of the local tracker."""
        with self._db.reading() as session:
            return lines_of_issues.select_issues(session, repository, marker)


def write_summary(session: Session, stream: str, summary: "Document", stored: "Sequence[StoredEvent]") -> None:
    """Write the summary of a stream inside the transaction of its append."""
    position = stored[-1].position if stored else session.fetch_number("latest_position")
    status, text = encode_row(summary)
    session.run("put_summary", stream, status, position, text)
    session.run("put_facts", stream, *facts_of(stream, summary))
    if "issue_line" in summary:
        session.run("put_issue", stream, facts_of(stream, summary).repository, _text(summary["issue_line"]))


def encode_row(document: "Document") -> tuple[str | None, str]:
    """Return the status of a document and its JSON text."""
    status = document.get("status")
    return (status if status is None else str(status)), _text(document)
