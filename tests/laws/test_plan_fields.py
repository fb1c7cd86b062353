"""What a workflow may say has an effect: every field of a compiled workflow is read by what runs or shows it.

Compiling a field, storing it and listing it in `inspect` is not enough: a key that does nothing else is a defect.
"""

from support.laws.field_readers import records, unread_fields
from support.places import ROOT

LEFT_OUT = (
    "compiler/",
    "authoring/",
    "model/codec.py",
    "operations/workflows/inspect.py",
    "operations/workflows/outline.py",
)
"""What makes a plan, stores it, or lists what is in it."""
ALLOWED = {
    "EventTrigger.event": "nothing fires triggers yet: `validate` warns",
    "ScheduleTrigger.schedule": "nothing fires triggers yet: `validate` warns",
    "ScheduleTrigger.timezone": "nothing fires triggers yet: `validate` warns",
    "Plan.classifications": "nothing chooses workflows yet: `validate` warns",
    "Follow.on": "pull requests are not followed yet: `validate` warns",
    "Plan.format": "part of every hash",
    "Plan.validated_against": "the stamp is read where it is written, in the file",
    "AgentAction.requires_approval": "the compiler adds the approval as a step of its own",
    "ArtifactDecides.loop_id": "a label by which people tell loops apart",
    "GroupAction.routine": "where the steps of the group come from, which `inspect` shows: they are part of the plan",
    "Plan.concurrency": "how runs are admitted",
    "Plan.timeout": "how runs are admitted",
    "Concurrency.if_running": "how runs are admitted",
}
"""Fields that nothing else reads, and why that is no defect."""


def test_every_field_of_a_plan_is_read_where_it_has_an_effect() -> None:
    unread = unread_fields(ROOT / "src" / "handrail", LEFT_OUT)
    assert [name for name in unread if name not in ALLOWED] == []


def test_only_fields_that_there_are_may_be_without_a_reader() -> None:
    known = {f"{name}.{field}" for name, record in records().items() for field in record.__dataclass_fields__}
    assert ALLOWED.keys() - known == set()


def test_a_field_that_nothing_reads_is_found() -> None:
    unread = unread_fields(ROOT / "src" / "handrail" / "model", ("codec.py",))
    assert {"GateAction.warn_when", "ParallelAction.max_concurrent", "Step.escalate_to"} <= set(unread)
    assert "LoopAction.escalate" not in unread
