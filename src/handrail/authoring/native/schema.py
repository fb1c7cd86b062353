"""The shape of a whole workflow in the native YAML format; steps and shared parts have their own modules."""

from typing import TYPE_CHECKING

from handrail.authoring.native.parts import (
    ANY_VALUE,
    BUDGET,
    CLOSED_NAME,
    DEFAULTS,
    DURATION,
    NAME_PATTERN,
    RETURNS,
    TYPE_TEXT,
)
from handrail.authoring.native.slips import INPUTS_SLIPS, STEPS_SLIPS
from handrail.authoring.native.steps import STEPS
from handrail.authoring.shapes.shapes import Choice, Either, Flag, Key, ListOf, MapOf, Number, Record, Ref, Text
from handrail.late_import import late_import

if TYPE_CHECKING:
    from handrail.authoring.native import guidance
else:
    guidance = late_import("handrail.authoring.native.guidance")

LIST_TYPE = ListOf(RETURNS, least=1, most=1)
INPUT_TYPE = Either("type", {"text": TYPE_TEXT, "list": LIST_TYPE})

INPUT_RECORD = {
    "type": Key(INPUT_TYPE, "its type: string, int, number, bool, path, json, list, issue, a | b | c, or [string]"),
    "required": Key(Flag(), "whether it is required; an input without a default is required"),
    "default": Key(ANY_VALUE, "its value when none is given"),
    "description": Key(Text(), "what it is for"),
}

INPUTS = Either(
    "input",
    {
        "map": MapOf(
            Either("an input", {"text": TYPE_TEXT, "list": LIST_TYPE, "map": Record("an input", INPUT_RECORD)}),
            key_pattern=r"[A-Za-z_][A-Za-z0-9_-]*",
            key_what="input name",
        ),
        "list": ListOf(
            Either(
                "an input",
                {
                    "text": CLOSED_NAME,
                    "map": Record("an input", {"name": Key(CLOSED_NAME, "its name", required=True), **INPUT_RECORD}),
                },
            )
        ),
    },
)

LABELS = Record("a label filter", {"labels": Key(ListOf(Text(least=1)), "any of these labels")})

TRIGGER = Either(
    "a trigger",
    {
        "text": Choice(("manual", "on_event")),
        "map": Record(
            "a trigger",
            {
                "schedule": Key(Text("cron schedule", least=1), 'five cron fields: "17 3 * * 1-5"'),
                "timezone": Key(Text("time zone", least=1), "time zone of the schedule; default UTC"),
                "issue": Key(LABELS, "an issue with one of the labels"),
                "pull_request": Key(LABELS, "a pull request with one of the labels"),
                "event": Key(Text("event", least=1), "a named event"),
            },
            one_of=(("schedule", "issue", "pull_request", "event"),),
        ),
    },
)

WORKFLOW = Record(
    "a workflow",
    {
        "name": Key(
            Text("workflow name", 1, 64, NAME_PATTERN, "fix-bug"),
            "the workflow's name, equal to its folder's",
            required=True,
        ),
        "description": Key(Text(), "what it does, in a sentence or two"),
        "trigger": Key(
            Either("trigger", {"text": Choice(("manual", "on_event")), "list": ListOf(TRIGGER), "map": TRIGGER}),
            "what starts a run: manual, a schedule, an issue, a pull request",
        ),
        "input": Key(INPUTS, "the inputs of a run", slips=INPUTS_SLIPS),
        "defaults": Key(DEFAULTS, "agent settings for every step that does not set its own"),
        "budget": Key(BUDGET, "the budget of the whole run"),
        "concurrency": Key(
            Record(
                "concurrency",
                {
                    "key": Key(Text(least=1), "runs with the same key never run at the same time", required=True),
                    "if_running": Key(
                        Choice(("skip", "queue", "stop_old")),
                        "what a new run does if another is running; default queue",
                    ),
                },
            ),
            "which runs must not run at the same time",
        ),
        "timeout": Key(DURATION, "how long the whole run may take"),
        "guidance": Key(Ref("guidance", lambda: guidance.GUIDANCE), "rules for the whole run, given to every agent"),
        "references": Key(Ref("references", lambda: guidance.REFERENCES), "documents that agents should know about"),
        "features": Key(Ref("features", lambda: guidance.FEATURES), "library texts added to every agent's prompt"),
        "capabilities": Key(
            Ref("capabilities", lambda: guidance.CAPABILITIES),
            "what an agent must (required) or should (preferred) be able to do",
        ),
        "extension_points": Key(
            Ref("extension_points", lambda: guidance.EXTENSION_POINTS),
            "slots that the project may bind, as {{ bindings.NAME }} in prompts",
        ),
        "assessments": Key(
            Ref("assessments", lambda: guidance.ASSESSMENTS), "assessments that steps refer to by name, as `assess`"
        ),
        "labels": Key(ListOf(Text(least=1), unique=True), "issue labels that choose this workflow", aliases=("tags",)),
        "classifications": Key(ListOf(Text(least=1), unique=True), "kinds of request that choose this workflow"),
        "validated_against_spec": Key(
            Number(least=1, whole=True), "the authoring spec it was last checked against; written by `handrail stamp`"
        ),
        "steps": Key(ListOf(STEPS, least=1), "the steps, in order", required=True, slips=STEPS_SLIPS),
    },
    hints={
        "inputs": "the key is 'input'",
        "triggers": "the key is 'trigger'",
        "on": "the key is 'trigger'",
        "jobs": "a workflow has 'steps'",
        "id": "native workflows have a 'name'; 'id' belongs to WorkRail-style JSON",
        "role": "put it under 'defaults', or on a step",
        "metaGuidance": "the key is 'guidance'",
        "extensionPoints": "the key is 'extension_points'",
        "agent": "put it under 'defaults', or on a step",
        "model": "put it under 'defaults', or on a step",
        "version": "versions are kept per prompt, in the folder 'versions'",
    },
)
