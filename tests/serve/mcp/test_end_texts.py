"""What an agent reads at the end, and at a point that is kept."""

import re
from typing import Any

from inline_snapshot import snapshot

from handrail.model.history.run_state import RunState, update_state
from handrail.operations.pull.answers import Answer
from handrail.serve.mcp.answer_text import render_answer
from support.pull.agent_reading import read
from support.pull.room import Pull, definition, step


def test_the_end_tells_the_gaps_with_the_most_severe_first(pull: Pull) -> None:
    said = pull.advance(pull.start(definition(step("one"))))
    assert read(said) == snapshot("""\
# The workflow is complete

Run sample-flow-1 succeeded. There is nothing more to call.\
""")
    assert said.data["nextCall"] is None
    result = render_answer(over(pull.state(said.run)))
    assert result.texts[0] == snapshot("""\
# The workflow is complete

Run sample-flow-1 succeeded. There is nothing more to call.

# Gaps

The run continued although this was missing. Tell your user:

- critical: no verdict (step judge)
- info: the wiki was slow\
""")
    assert [each["severity"] for each in result.data["gaps"]] == ["critical", "info"]


def over(state: RunState) -> Answer:
    gaps: tuple[Any, ...] = (
        {"category": "unexpected", "severity": "info", "message": "the wiki was slow", "address": ""},
        {"category": "contract_violation", "severity": "critical", "message": "no verdict", "address": "judge"},
        {"category": "unexpected", "severity": "critical", "message": "mended", "address": "", "resolved": True},
    )
    return Answer(run=state.run, state=update_state(state, gaps=gaps), lifecycle="advance")


def test_a_point_that_is_kept_shows_the_call_that_comes_back_to_it(pull: Pull) -> None:
    kept = pull.checkpoint(pull.start(definition(step("one"))))
    again = pull.call("continue_workflow", **kept.data["nextCall"]["params"])
    assert again.address == "one"
    assert re.sub(r"[a-z]+_[\w-]{30,}", "TOKEN", kept.text) == snapshot("""\
Saved: sample-flow-1, before step one is handed in. To return to this point later, call `continue_workflow`:

```json
{
  "continueToken": "TOKEN",
  "intent": "rehydrate"
}
```\
""")
