"""Records of issues: what they may contain, and how they are cleaned."""

from typing import cast

from handrail.errors import UsageError
from handrail.model.issue_events import Record
from handrail.model.issue_records import MAX_TITLE
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.values import JsonValue


def clean_record(record: Record, redactor: Redactor) -> Record:
    """Remove the secrets from a record, and what is not valid Unicode."""
    return cast("Record", _clean(record, redactor))


def _clean(value: JsonValue, redactor: Redactor) -> JsonValue:
    match value:
        case str():
            return redactor.text(value.encode("utf-8", "replace").decode("utf-8"))
        case list():
            return [_clean(each, redactor) for each in value]
        case dict():
            return {str(_clean(name, redactor)): _clean(each, redactor) for name, each in value.items()}
        case _:
            return value


def require_valid(record: Record) -> Record:
    """Refuse a record without a title, or with values that no tracker takes."""
    title, priority, status = record.get("title"), record.get("priority", 2), record.get("status", "open")
    if not isinstance(title, str) or not title.strip():
        raise UsageError("an issue needs a title", next_step='handrail issues create "TITLE"')
    if len(title) > MAX_TITLE:
        raise UsageError(
            f"the title has {len(title)} characters; at most {MAX_TITLE} are allowed",
            next_step="shorten it, and put the rest into the description",
        )
    if not isinstance(priority, int) or isinstance(priority, bool) or not 0 <= priority <= 4:
        raise UsageError(f"{priority} is not a priority", next_step="use a number from 0, the most urgent, to 4")
    if not isinstance(status, str) or not status or any(each.isspace() for each in status):
        raise UsageError(f"'{status}' is not a status", next_step="use one word, such as open or blocked")
    return record
