"""When a usage limit of Claude ends, from text: an epoch after a bar, `resets 3pm (Europe/Berlin)`, `resets Oct 9`."""

import re
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LIMIT = re.compile(
    r"\b(?:usage|spend|session|weekly|monthly|daily|\d+-hour) limit\b|(?<!context )(?<!turn )\blimit reached\b"
    r"|\bhit your\b.*\blimit\b|\blimit\b.*\bresets?\b",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"\|\s*(\d{9,11})\b")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_RESET = re.compile(
    r"\bresets?\s+(?:at\s+|on\s+)?"
    rf"(?:(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:,?\s+(?P<year>\d{{4}}))?(?:,?\s+(?:at\s+)?)?)?"
    r"(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>am|pm)?)?(?:\s*\((?P<zone>[A-Za-z0-9_+/-]+)\))?",
    re.IGNORECASE,
)
_HALF_YEAR = timedelta(days=183)


def is_limit_message(text: str) -> bool:
    """Whether the text of an error names a limit of the account, which only time lifts."""
    return _LIMIT.search(text) is not None


def limit_end(text: str, said: float) -> float | None:
    """Parse the time at which a limit ends, in seconds since 1970, from a text of the time `said`; None without one."""
    epoch = _EPOCH.search(text)
    if epoch is not None:
        return float(epoch.group(1))
    found = _RESET.search(text)
    if found is None or not (found["month"] or found["hour"]):
        return None
    try:
        return _moment(found, datetime.fromtimestamp(said, _zone(found["zone"]))).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _zone(name: str | None) -> tzinfo | None:
    """Return a time zone by name; the machine's own, which Claude Code uses, for none or an unknown one."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _moment(found: re.Match[str], now: datetime) -> datetime:
    hour = int(found["hour"] or 0)
    if found["half"] and hour <= 12:
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    at = now.replace(hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0)
    if not found["month"]:
        return at if at > now else at + timedelta(days=1)
    year = int(found["year"] or now.year)
    at = at.replace(year=year, month=_MONTHS.index(found["month"].lower()) + 1, day=int(found["day"]))
    return at.replace(year=year + 1) if not found["year"] and at < now - _HALF_YEAR else at
