"""What went wrong according to Codex, which reports it as text only: the kind of error, and how long it lasts."""

import re
from datetime import datetime, timedelta

from handrail.agents.service_errors import status_of
from handrail.ports.agents import OutcomeStatus

_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_SPAN = re.compile(r"try again in ((?:(?:and )?[\d.]+ ?(?:days?|hours?|minutes?|seconds?|ms|[dhms])\b,? ?)+)")
_PIECE = re.compile(r"([\d.]+) ?(ms|[dhms])")
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_WHEN = re.compile(r"try again at (?:(\w{3}) (\d{1,2})\w\w, (\d{4}) )?(\d{1,2}:\d{2} [AP]M)")


def kind_of(message: str) -> OutcomeStatus:
    """Determine the kind of error from a message."""
    status = _STATUS.search(message)
    return status_of(None if status is None else int(status[1]), message)


def seconds_left(message: str, now: datetime) -> float | None:
    """Return the seconds until another try is worth it, where a message says so; `now` is the local time."""
    span = _SPAN.search(message.lower())
    if span is not None:
        return round(sum(float(many) * _UNITS[unit] for many, unit in _PIECE.findall(span[1])), 3)
    when = _moment(message, now)
    return None if when is None else max(0.0, (when - now).total_seconds())


def _moment(message: str, now: datetime) -> datetime | None:
    """Parse the time in a message, plus one minute: the limit may end at any second of the given minute."""
    found = _WHEN.search(message)
    if found is None:
        return None
    month, day, year, clock = found.groups()
    date = f"{month} {day} {year}" if month else f"{now:%b} {now.day} {now.year}"
    try:
        told = datetime.strptime(f"{date} {clock}", "%b %d %Y %I:%M %p")  # noqa: DTZ007 - it is in local time
    except ValueError:
        return None
    return told + timedelta(minutes=1)
