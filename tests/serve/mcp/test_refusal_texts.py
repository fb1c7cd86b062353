"""What an agent reads when what it gave does not complete the step."""

from inline_snapshot import snapshot

from support.pull.agent_reading import RISK, read
from support.pull.room import CONTROL, Pull, definition, loop, step


def test_a_refusal_says_what_is_missing_its_schema_an_example_what_was_sent_and_the_call_to_make(pull: Pull) -> None:
    said = pull.start(definition(step("judge", assessmentRefs=["risk"], **CONTROL), assessments=[RISK]))
    bad = {"kind": "wr.loop_control", "decision": "maybe"}
    blocked = pull.advance(said, notes=None, artifacts=[bad])
    assert read(blocked) == snapshot("""\
# Not done yet

What you submitted does not complete the step, which is still yours. Fix what is listed here and submit
everything again: notes and artifacts of a refused try are not kept.

1. the artifact wr.loop_control is not valid: decision must be one of 'continue', 'stop', got 'maybe'
(wr.contracts.loop_control)
   Do: send an artifact of kind wr.loop_control that matches the schema, as in the example

It must match this JSON Schema:

```json
{"additionalProperties": false, "properties": {"decision": {"enum": ["continue", "stop"]}, "kind": {"const":
"wr.loop_control"}, "loopId": {"maxLength": 64, "minLength": 1, "pattern": "^[a-z0-9_-]+$", "type": "string"},
"metadata": {"additionalProperties": false, "properties": {"confidence": {"maximum": 100, "minimum": 0,
"type": "number"}, "issuesFound": {"minimum": 0, "type": "integer"}, "iterationIndex": {"minimum": 0, "type":
"integer"}, "reason": {"maxLength": 1024, "minLength": 1, "type": "string"}}, "required": [], "type":
"object"}}, "required": ["kind", "decision"], "title": "wr.loop_control", "type": "object"}
```

A minimal valid example:

```json
{
  "kind": "wr.loop_control",
  "decision": "continue"
}
```

You sent:

```json
{
  "kind": "wr.loop_control",
  "decision": "maybe"
}
```

2. the assessment 'risk' is missing (risk)
   Do: give an artifact of kind wr.assessment for 'risk' (scope: low | high)

It must match this JSON Schema:

```json
{"type": "object", "required": ["kind", "dimensions"], "properties": {"kind": {"const": "wr.assessment"},
"assessmentId": {"const": "risk"}, "dimensions": {"type": "object", "required": ["scope"], "properties":
{"scope": {"type": "object", "required": ["level", "rationale"], "properties": {"level": {"enum": ["low",
"high"]}, "rationale": {"type": "string", "maxLength": 512}}, "additionalProperties": false}},
"additionalProperties": false}, "summary": {"type": "string", "maxLength": 1024}}, "additionalProperties":
false}
```

A minimal valid example:

```json
{
  "kind": "wr.assessment",
  "assessmentId": "risk",
  "dimensions": {
    "scope": {
      "level": "low",
      "rationale": "…"
    }
  }
}
```

The step is still Title of judge (judge of run sample-flow-1).

---
Hand it in again with `continue_workflow`:

```json
{
  "continueToken": "TOKEN",
  "intent": "advance",
  "output": {
    "notesMarkdown": "<what you did, decided, found and left open>",
    "artifacts": [
      {
        "kind": "wr.loop_control",
        "decision": "continue"
      },
      {
        "kind": "wr.assessment",
        "assessmentId": "risk",
        "dimensions": {
          "scope": {
            "level": "low",
            "rationale": "…"
          }
        }
      }
    ]
  }
}
```\
""")
    assert [sorted(each) for each in blocked.data["blockers"]] == [
        ["code", "example", "message", "pointer", "schema", "sent", "suggestedFix"],
        ["code", "example", "message", "pointer", "schema", "suggestedFix"],
    ]


def test_the_call_that_a_refusal_shows_completes_the_step_as_it_stands(pull: Pull) -> None:
    flow = definition(step("judge", assessmentRefs=["risk"], **CONTROL), step("two"), assessments=[RISK])
    blocked = pull.advance(pull.start(flow), notes=None)
    mended = pull.call("continue_workflow", **blocked.data["nextCall"]["params"])
    assert mended.address == "two"
    assert mended.data["stepContext"] == {
        "assessments": {"risk": {"scope": {"level": "low", "rationale": "…", "normalized": False}}}
    }


def test_several_faults_of_one_artifact_show_its_schema_once(pull: Pull) -> None:
    wide = {**RISK, "dimensions": [{"id": f"d{n}", "purpose": "P", "levels": ["low", "high"]} for n in range(12)]}
    said = pull.start(definition(step("judge", assessmentRefs=["risk"]), assessments=[wide]))
    blocked = pull.advance(said, artifacts=[{"kind": "wr.assessment", "dimensions": {}}])
    assert blocked.text.count("It must match this JSON Schema") == 1
    assert "And 2 more, which are listed once these are fixed." in blocked.text
    assert len(blocked.data["blockers"]) == 10


def test_a_variable_that_a_loop_lacks_is_in_the_call_that_mends_it(pull: Pull) -> None:
    each = loop("lap", step("dig"), type="forEach", items="files")
    blocked = pull.advance(pull.start(definition(step("one"), each)))
    params = blocked.data["nextCall"]["params"]
    assert blocked.codes == ["MISSING_CONTEXT_KEY"]
    assert isinstance(params["context"]["files"], list)
    assert pull.call("continue_workflow", **params).data["kind"] == "ok"
