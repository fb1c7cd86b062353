"""Filters and sorts the summaries of streams in memory."""

from collections.abc import Iterable
from itertools import islice

from handrail.model.history.run_lines import Filter, Row, is_run, read_line


def select_rows(rows: Iterable[Row], wanted: Filter) -> tuple[Row, ...]:
    """Filter and sort rows, which are given in the order in which their streams were created."""
    found = [row for row in rows if _is_named(row.key, wanted) and _fits(row, wanted)]
    if wanted.order == "started":
        found.sort(key=lambda row: (row.facts.started, row.key), reverse=True)
    elif wanted.order == "changed":
        found.sort(key=lambda row: (-row.position, row.key))
    return tuple(row._replace(document=read_line(row.key, row.document)) for row in islice(found, wanted.limit))


def _is_named(key: str, wanted: Filter) -> bool:
    return (
        key.startswith(wanted.prefix) and wanted.key in (None, key) and (is_run(key) if wanted.runs_only else bool(key))
    )


def _fits(row: Row, wanted: Filter) -> bool:
    facts, status = row.facts, row.document.get("status")
    asked = (wanted.workflow, wanted.parent, wanted.root, wanted.status)
    held = (facts.workflow, facts.parent, facts.root, status)
    if any(each is not None and each != own for each, own in zip(asked, held, strict=True)):
        return False
    if wanted.repositories and facts.repository not in wanted.repositories:
        return False
    if wanted.roots and facts.root not in wanted.roots:
        return False
    if (wanted.top and facts.parent is not None) or (wanted.inner and facts.parent is None):
        return False
    if wanted.before is not None and (facts.started, row.key) >= wanted.before:
        return False
    listed = not wanted.statuses or status in wanted.statuses
    return listed and (not wanted.holding or any(name in row.document for name in wanted.holding))
