"""Every published workflow is walked to its end through the tools, and visits what the selection rules give.

HANDRAIL_SOAK=1 walks each under many more contexts.
"""

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

import handrail.library
from support.places import WORKRAIL
from support.pull.client import mcp_client
from support.pull.generic_client import GenericClient
from support.pull.reference_walk import Lacks, ReferenceWalk
from support.pull.room import Json, Pull, Said, advancing, definition, step

pytestmark = pytest.mark.system  # takes long

DATA = WORKRAIL
INVALID = "dashboard-template-workflow.json"
FILES = sorted(path for path in DATA.rglob("*.json") if path.name != INVALID)
ROUTINES = Path(handrail.library.__file__).parent / "routines"
NAMES = re.compile(r'"(?:var|items|count)"\s*:\s*"(\w+)"')
WORDS = re.compile(r'"(?:equals|not_equals|contains)"\s*:\s*"([^"]+)"')
ROUNDS = 12 if os.environ.get("HANDRAIL_SOAK") else 1
ODD: list[Any] = ["Large", "QUICK", " yes ", "", "0", "3", 0, 1, 2, 7.5, True, False, None, [], [1], {}, [{"id": "x"}]]
Decide = Callable[[str], str]

needs_catalogue = pytest.mark.skipif(not FILES, reason=f"WorkRail's catalogue is not at {DATA}")
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DATA).as_posix())


def routines() -> dict[str, Json]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in ROUTINES.glob("*.json")}


def stop_at_once(_: str) -> str:
    return "stop"


def go_on(_: str) -> str:
    return "continue"


def stop_after_two(address: str) -> str:
    return "continue" if re.search(r"@[12]/", address) else "stop"


POLICIES: dict[str, Decide] = {"stop at once": stop_at_once, "continue twice": stop_after_two, "to the limit": go_on}


class Contexts:
    """What an agent sends along: names that the workflow reads, with values that it knows and others."""

    def __init__(self, text: str, salt: str, share: float) -> None:
        self._chance = random.Random(salt)
        self._names = sorted(set(NAMES.findall(text))) or ["unread"]
        self._values = [*ODD, *2 * sorted(set(WORDS.findall(text)))]
        self._share = share

    def draw(self) -> Json:
        if self._chance.random() >= self._share:
            return {}
        names = self._chance.sample(self._names, min(3, len(self._names)))
        return {name: self._chance.choice(self._values) for name in names}


def follow(said: Said, client: GenericClient, reference: ReferenceWalk, draw: Callable[[], Json]) -> list[str]:
    """Walk to the end, the server and the reference side by side; give what was visited."""
    visited: list[str] = []
    while not said.complete:
        assert said.address == reference.here
        visited.append(str(said.address))
        assert len(visited) < 400
        sent = client.complete(said, draw())
        for each in sent.tries:
            reference.merge(each.context)
            assert all(reference.after(sent.artifacts) == Lacks(name) for name in each.asked)
        reference.complete(sent.artifacts)
        said = sent.said
    assert reference.here is None
    assert said.data["status"] == "succeeded"
    return visited


def walk_in_process(pull: Pull, path: Path, policy: str, number: int) -> list[str]:
    text = path.read_text("utf-8")
    raw = json.loads(text)
    contexts = Contexts(text, f"{path.name} {policy} {number}", share=0.0 if policy == "stop at once" else 0.6)
    begin = contexts.draw()
    said = pull.start(raw["id"], "Make it better.", **begin)
    given = {name: value for name, value in begin.items() if value is not None}
    reference = ReferenceWalk(raw, routines(), {"goal": "Make it better.", **given})
    client = GenericClient(pull.advance, POLICIES[policy])
    return follow(said, client, reference, contexts.draw)


@needs_catalogue
@each_file
def test_a_published_workflow_is_walked_to_its_end_as_the_selection_rules_say(path: Path, pull: Pull) -> None:
    shutil.copy(path, pull.home / "workflows" / path.name)
    for round_number in range(ROUNDS):
        visited = {salt: walk_in_process(pull, path, salt, round_number) for salt in POLICIES}
        assert visited["stop at once"]
    pull.assert_sound()


@needs_catalogue
def test_published_workflows_are_walked_over_the_wire_too(pull: Pull) -> None:
    paths = [DATA / name for name in ("bug-investigation.agentic.v2.json", "wr.discovery.json")]
    for path in paths:
        shutil.copy(path, pull.home / "workflows" / path.name)

    def walk(call: Callable[..., Said], path: Path) -> list[str]:
        raw = json.loads(path.read_text("utf-8"))
        place = {"workflowId": raw["id"], "workspacePath": str(pull.workspace), "goal": "Make it better."}

        def advance(token: str, notes: str, artifacts: list[Any], context: Json) -> Said:
            return call("continue_workflow", **advancing(token, notes, artifacts, context))

        client = GenericClient(advance, stop_after_two)
        reference = ReferenceWalk(raw, routines(), {"goal": "Make it better."})
        return follow(call("start_workflow", **place), client, reference, dict)

    async def over_the_wire() -> list[list[str]]:
        async with mcp_client(pull) as client:

            def call(name: str, **given: Any) -> Said:
                return anyio.from_thread.run(lambda: client.call(name, **given))

            return [await anyio.to_thread.run_sync(walk, call, path) for path in paths]

    assert [len(visited) for visited in anyio.run(over_the_wire)] == [len(walk(pull.call, path)) for path in paths]


def test_a_workflow_that_ends_with_a_differentiation_handoff_completes(pull: Pull) -> None:
    contract = {"outputContract": {"contractRef": "wr.contracts.differentiation_handoff"}}
    raw = definition(step("look-around"), step("hand-off", **contract), name="differentiation-flow")
    client = GenericClient(pull.advance, go_on)
    visited = follow(pull.start(raw), client, ReferenceWalk(raw, {}, {}), dict)
    assert visited == ["look-around", "hand-off"]
