"""Every workflow of WorkRail's catalogue starts and completes, whatever the context holds."""

import random
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.decide.complete_guided import Submission
from handrail.model.history.events import Shortfall, StepBegan
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue
from support.engine.guided_walking import GuidedWalk, Json, plan_of_json, valid
from support.engine.walking import replay
from support.places import WORKRAIL

DATA = WORKRAIL
INVALID = "dashboard-template-workflow.json"
FILES = sorted(path for path in DATA.rglob("*.json") if path.name != INVALID)
NAMES = re.compile(r'"(?:var|items|count)"\s*:\s*"(\w+)"')
WORDS = re.compile(r'"(?:equals|not_equals|contains)"\s*:\s*"([^"]+)"')

needs_catalogue = pytest.mark.skipif(not FILES, reason=f"WorkRail's catalogue is not at {DATA}")
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DATA).as_posix())


@cache
def plan_at(path: Path) -> Plan:
    return plan_of_json(path.read_text(encoding="utf-8"))


@needs_catalogue
@each_file
def test_a_workflow_of_the_catalogue_starts_and_completes(path: Path) -> None:
    walk = GuidedWalk(plan_at(path)).start()
    walk.go(most=400)
    assert walk.state.status == "succeeded"
    assert walk.performed
    assert all("[unset: goal]" not in str(event.spec) for event in walk.events if isinstance(event, StepBegan))


CHOICES: list[JsonValue] = ["Large", "QUICK", "yes", "", "0", "3", 0, 1, 2, 7.5, True, False, None, [], [1], {}]
CHOICES.append([{"id": "x"}])


@needs_catalogue
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_the_context_holds_every_workflow_completes_and_replays(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(FILES))
    text = path.read_text(encoding="utf-8")
    names = sorted(set(NAMES.findall(text))) or ["unread"]
    choices: list[JsonValue] = [*CHOICES, *sorted(set(WORDS.findall(text)))]
    values = st.sampled_from(choices)
    chance = random.Random(data.draw(st.integers(0, 10_000)))
    pool = data.draw(st.lists(st.dictionaries(st.sampled_from(names), values, max_size=4), min_size=1, max_size=8))

    def perform(began: StepBegan, shortfalls: tuple[Shortfall, ...]) -> Submission:
        done = valid(began, shortfalls, {} if shortfalls else chance.choice(pool))
        stop: Json = {"kind": "wr.loop_control", "decision": chance.choice(["continue", "stop"])}
        return Submission(by="me", notes=done.notes, artifacts=(*done.artifacts, stop), context=done.context)

    walk = GuidedWalk(plan_at(path), work=perform, inputs=dict(data.draw(st.sampled_from(pool)))).start()
    walk.go(most=400)
    assert walk.state.status == "succeeded"
    assert replay(walk.events, walk.blobs) == walk.state
