from inline_snapshot import snapshot

from support.pull.lists import everything
from support.pull.room import Pull


def test_the_text_reads_like_a_page(pull: Pull) -> None:
    name = pull.add(everything())
    said = pull.call("inspect_workflow", workflowId=name, workspacePath=str(pull.workspace), mode="preview")
    assert said.text.replace(str(pull.workspace), "WORKSPACE") == snapshot("""\
# Sample

sample-flow 1.0.0, user. A sample.

All there is to say.

## Good for

- Look at the login page

## Before you start

- The tests pass.

## Ask your user first

- Which page?

## Rules that hold throughout

- Be brief.

## Your role

You are a careful reader.

## Capabilities

- delegation: preferred

## Features

- wr.features.capabilities

## Extension points

- how: wr.routine-ideation

## References

- The guide: docs/guide.md [unresolved: it does not exist]
- Lost: docs/gone.md [unresolved: it does not exist]

## Assessments

- confidence: How sure you are.

## Recommended preferences

- autonomy: guided
- risk: balanced

## Steps

1. step-1: Title of step-1 (assesses confidence; sent back at low)
2. step-2: Title of step-2 (when deep == true; confirmed by your user)
3. again: Again (loop type=while maxIterations=5 decidedBy=wr.contracts.loop_control)
   1. try-it: Title of try-it
   2. decide: Title of decide (must return wr.contracts.loop_control)\
""")
