"""Lowers the triggers that start a workflow, and checks schedules field by field."""

import re

from handrail.compiler.native.context import Lowering, text_of, texts_of
from handrail.model.source import Mapping, Node, Sequence
from handrail.model.workflow.plan import (
    EventTrigger,
    IssueTrigger,
    ManualTrigger,
    PullRequestTrigger,
    ScheduleTrigger,
    Trigger,
)

FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7))
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
PART = re.compile(r"(\*|[a-z0-9]+(?:-[a-z0-9]+)?)(?:/(\d+))?")
ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")


def lower_triggers(work: Lowering, node: Node | None) -> tuple[Trigger, ...]:
    """Lower `trigger`; a workflow without one is started manually."""
    if node is None:
        return (ManualTrigger(),)
    items = node.items if isinstance(node, Sequence) else (node,)
    return tuple(_trigger(work, item) for item in items) or (ManualTrigger(),)


def _trigger(work: Lowering, node: Node) -> Trigger:
    if not isinstance(node, Mapping):
        return EventTrigger() if text_of(node) == "on_event" else ManualTrigger()
    if "schedule" in node:
        return _schedule(work, node)
    if "event" in node:
        return EventTrigger(text_of(node.get("event")) or "")
    for key, kind in (("issue", IssueTrigger), ("pull_request", PullRequestTrigger)):
        filter_ = node.get(key)
        if isinstance(filter_, Mapping):
            return kind(tuple(sorted(texts_of(filter_.get("labels")))))
    return ManualTrigger()


def _schedule(work: Lowering, node: Mapping) -> ScheduleTrigger:
    place, zone = node.entries["schedule"].value, node.get("timezone")
    text = text_of(place) or ""
    wrong = explain_bad_schedule(text)
    if wrong is not None:
        hint = 'write five fields: minute hour day month weekday, such as "17 3 * * 1-5"'
        work.report.error("bad-schedule", wrong, place, hint)
    if zone is not None and not ZONE.fullmatch(text_of(zone) or ""):
        message = f"'{text_of(zone)}' is not a valid time zone"
        work.report.error("bad-schedule", message, zone, "for example Europe/Berlin")
    return ScheduleTrigger(" ".join(text.split()), text_of(zone) or "UTC")


def explain_bad_schedule(text: str) -> str | None:
    """Describe what is wrong with a cron schedule, or return None."""
    parts = text.lower().split()
    if len(parts) != len(FIELDS):
        return f"a schedule has five fields, this one has {len(parts)}"
    for part, (name, least, most) in zip(parts, FIELDS, strict=True):
        for item in part.split(","):
            if not _is_valid_item(item, name, least, most):
                return f"'{item}' is not a valid {name} ({least} to {most})"
    return None


def _is_valid_item(item: str, name: str, least: int, most: int) -> bool:
    match = PART.fullmatch(item)
    if match is None or match[2] == "0":
        return False
    if match[1] == "*":
        return True
    words = {"month": MONTHS, "weekday": DAYS}.get(name, ())
    offset = 1 if name == "month" else 0
    numbers: list[int] = []
    for end in match[1].split("-"):
        if end in words:
            numbers.append(words.index(end) + offset)
        elif end.isdigit() and len(end) <= 2:
            numbers.append(int(end))
        else:
            return False
    return all(least <= number <= most for number in numbers) and numbers == sorted(numbers)
