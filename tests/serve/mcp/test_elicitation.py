"""What a run asks a person is asked at the client's window, where the client can; no call of its agent answers it."""

import asyncio
from typing import Any

import pytest
from mcp.types import ElicitRequestParams, ElicitResult

from handrail.model.history.events import ApprovalDecided
from support.pull.client import mcp_client
from support.pull.room import Pull, Said, definition, step

NATIVE = """\
name: NAME
steps:
  - {name: draft, prompt: Draft it., requires_approval: true}
  - {name: last, prompt: Polish it.}
"""
GUIDED = definition(step("draft", requireConfirmation={"kind": "human_approval"}), step("last"))
IDLE = "0.2"


def walk(pull: Pull, workflow: str, *replies: ElicitResult, can_ask: bool = True) -> tuple[Said, list[str]]:
    """Hand in the first step at a client whose person replies; give the answer and the questions."""
    asked: list[str] = []
    left = list(replies)

    async def reply(context: Any, params: ElicitRequestParams) -> ElicitResult:
        del context
        asked.append(params.message)
        return left.pop(0)

    async def session() -> Said:
        async with mcp_client(pull, asked=reply if can_ask else None, HANDRAIL_DRIVER_IDLE=IDLE) as client:
            first = await client.start(workflow, pull.workspace)
            said = await client.advance(first)
            return await client.advance(said) if said.codes else said

    return asyncio.run(session()), asked


def decisions(pull: Pull, run: str) -> list[tuple[str, str, str]]:
    events = [event for event in pull.events(run) if isinstance(event, ApprovalDecided)]
    return [(event.decision, event.by, event.feedback) for event in events]


@pytest.mark.parametrize("native", [True, False])
def test_a_persons_yes_in_the_clients_window_lets_the_run_go_on_and_says_how_it_was_asked(
    pull: Pull, native: bool
) -> None:
    name = pull.add(NATIVE, "native") if native else pull.add(GUIDED)
    said, asked = walk(pull, name, ElicitResult(action="accept", content={"decision": "approve"}))
    assert (said.data["kind"], said.address) == ("ok", "last")
    assert len(asked) == 1
    assert asked[0].startswith(f"{said.run} asks you: ")
    assert decisions(pull, said.run) == [("approve", "person:ann, asked through tester", "")]


@pytest.mark.parametrize("reply", [ElicitResult(action="decline"), ElicitResult(action="accept", content={})])
def test_who_answers_nothing_is_asked_once_and_the_run_waits(pull: Pull, reply: ElicitResult) -> None:
    said, asked = walk(pull, pull.add(GUIDED), reply)
    assert (said.codes, len(asked)) == (["USER_ONLY_DEPENDENCY"], 1)
    assert decisions(pull, said.run) == []


def test_a_client_without_forms_asks_nobody_and_its_agent_approves_nothing(pull: Pull) -> None:
    said, asked = walk(pull, pull.add(GUIDED), can_ask=False)
    assert (said.codes, asked) == (["USER_ONLY_DEPENDENCY"], [])
    assert decisions(pull, said.run) == []
